/* Too many communities become fewer. */
#include "core/learning/communities/fit.h"
#include "core/learning/communities/groups.h"

enum { JOIN_SHARE = 8 /* of the communities join in a round, one in so many */ };

cm_status cm_fit_sort(const cm_fit *fit, bool largest_first, uint32_t *order, cm_error *error)
{
  uint64_t *key; /* nodes above the number of a community, complemented: falling with rising numbers */
  CM_TRY(CM_NEW(fit->run->memory, key, fit->count, error));
  for (uint32_t c = 0; c < fit->count; c++)
    key[c] = (uint64_t)(largest_first ? ~fit->nodes[c] : fit->nodes[c]) << 32 | c;
  qsort(key, fit->count, sizeof *key, cm_ascending_long);
  for (uint32_t c = 0; c < fit->count; c++)
    order[c] = (uint32_t)key[c];
  cm_free(key);
  return CM_OK;
}

void cm_fit_count(cm_fit *fit)
{
  memset(fit->nodes, 0, fit->count * sizeof *fit->nodes);
  for (uint32_t v = 0; v < fit->graph->vertex_count; v++)
    fit->nodes[fit->community[v]]++;
}

typedef struct joiner {
  cm_fit *f;
  cm_graph *between; /* the communities */
  uint64_t *degree;  /* [count] of their vertices */
  uint32_t *order;   /* [count] by rising number of nodes */
  uint32_t *into;    /* [count] the community that it is in now */
  uint8_t *grown;    /* [count] */
} joiner;

/* The neighbour with which c loses least modularity, among those that stay within the largest capacity (or all);
 * UINT32_MAX: none. */
static uint32_t best_neighbour(const joiner *j, uint32_t c, bool within)
{
  const cm_fit *f = j->f;
  uint32_t best = UINT32_MAX;
  __int128 best_value = 0;
  for (uint64_t i = j->between->first[c]; i < j->between->first[c + 1]; i++) {
    uint32_t d = j->between->neighbour[i];
    if (j->into[d] != d || (within && (uint64_t)f->nodes[c] + f->nodes[d] > f->capacity[0]))
      continue;
    __int128 value = (__int128)(2 * f->graph->weight_total) * (__int128)j->between->weight[i] -
                     (__int128)j->degree[c] * (__int128)j->degree[d];
    if (best == UINT32_MAX || value > best_value) {
      best = d;
      best_value = value;
    }
  }
  return best;
}

/* Where the community at `place` of the order goes: to a neighbour, else to the next one, however large that gets. */
static uint32_t choose_partner(const joiner *j, uint32_t place)
{
  uint32_t c = j->order[place], next = UINT32_MAX;
  uint32_t best = best_neighbour(j, c, true);
  for (uint32_t k = place + 1; k < j->f->count && next == UINT32_MAX; k++)
    next = j->into[j->order[k]] == j->order[k] ? j->order[k] : UINT32_MAX;
  if (best == UINT32_MAX && next != UINT32_MAX && j->f->nodes[c] + j->f->nodes[next] <= j->f->capacity[0])
    best = next;
  if (best == UINT32_MAX)
    best = best_neighbour(j, c, false);
  return best != UINT32_MAX ? best : next;
}

/* Joins some of the smallest communities to others. */
static void join_smallest(joiner *j)
{
  cm_fit *f = j->f;
  uint32_t wanted = f->count / JOIN_SHARE + 1, joined = 0;
  if (wanted > f->count - f->processors)
    wanted = f->count - f->processors;
  for (uint32_t k = 0; k < f->count && joined < wanted; k++) {
    uint32_t c = j->order[k], d;
    if (j->into[c] != c || j->grown[c] || (d = choose_partner(j, k)) == UINT32_MAX)
      continue;
    j->into[c] = d;
    j->grown[d] = 1;
    f->nodes[d] += f->nodes[c];
    j->degree[d] += j->degree[c];
    joined++;
  }
}

cm_status cm_fit_join(cm_fit *fit, cm_error *error)
{
  cm_fit *f = fit;
  joiner j = {.f = f};
  cm_status status = cm_graph_contract(f->graph, f->community, f->count, f->run, &j.between, error);
  CM_THEN(status, CM_NEW_ALL(f->run->memory, error, CM_ARRAY(j.degree, f->count), CM_ARRAY(j.order, f->count),
                             CM_ARRAY(j.into, f->count), CM_ARRAY(j.grown, f->count)));
  CM_THEN(status, cm_fit_sort(f, false, j.order, error));
  if (status == CM_OK) {
    for (uint32_t c = 0; c < f->count; c++)
      j.into[c] = c;
    for (uint32_t v = 0; v < f->graph->vertex_count; v++)
      for (uint64_t i = f->graph->first[v]; i < f->graph->first[v + 1]; i++)
        j.degree[f->community[v]] += f->graph->weight[i];
    join_smallest(&j);
    for (uint32_t v = 0; v < f->graph->vertex_count; v++) {
      uint32_t c = f->community[v];
      while (j.into[c] != c)
        c = j.into[c];
      f->community[v] = c;
    }
    status = cm_number_groups(f->community, f->graph->vertex_count, f->count, f->run->memory, &f->count, error);
    cm_fit_count(f);
  }
  cm_graph_free(j.between);
  CM_FREE(j.degree, j.order, j.into, j.grown);
  return status;
}
