/* Where a graph of operators can be cut, and how many orders a piece of it has. */
#include <string.h>

#include "core/schedule/orders.h"
#include "core/schedule/order_piece.h"

void cm_subgraphs_free(cm_subgraphs *subgraphs)
{
  CM_FREE(subgraphs->first, subgraphs->node, subgraphs->key);
  *subgraphs = (cm_subgraphs){0};
}

/* Key nodes along an order: no arc passes over one, nor does a way that begins behind it or ends before it. For a node
 * on every way is before or behind each other node, in every order alike. place[v] is where v is in the order. */
static void find_keys(const cm_dag *dag, const uint32_t *place, cm_subgraphs *s)
{
  uint32_t n = dag->node_count, farthest = 0, last_source = 0;
  for (uint32_t k = 0; k < n; k++)
    if (dag->in_first[s->node[k] + 1] == dag->in_first[s->node[k]])
      last_source = k;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t v = s->node[k];
    if (farthest <= k && last_source <= k)
      s->key[s->key_count++] = v;
    if (dag->out_first[v + 1] == dag->out_first[v])
      farthest = n;
    for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++)
      farthest = place[dag->out[i]] > farthest ? place[dag->out[i]] : farthest;
  }
}

/* Cuts before each key node where what is before it since the last cut is large enough and can be ordered in two ways:
 * two neighbours without an arc can change places. */
static void cut(const cm_dag *dag, const uint32_t *place, uint32_t nodes_min, cm_subgraphs *s)
{
  uint32_t n = dag->node_count, begin = 0;
  bool free = false;
  s->count = 0;
  for (uint32_t k = 0, next = 0; k < n; k++) {
    if (next < s->key_count && place[s->key[next]] == k) {
      next++;
      if (k > 0 && free && k - begin >= nodes_min) {
        s->first[++s->count] = begin = k;
        free = false;
      }
    }
    free = free || (k > begin && !cm_dag_has_arc(dag, s->node[k - 1], s->node[k]));
  }
  /* The rest stands alone only where a cut would have been allowed behind it. */
  if (n > 0 && (s->count == 0 || (free && n - begin >= nodes_min)))
    s->count++;
  s->first[s->count] = n;
}

cm_status cm_subgraphs_find(const cm_dag *dag, const uint32_t *order, uint32_t nodes_min, cm_memory *memory,
                            cm_subgraphs *subgraphs, cm_error *error)
{
  cm_subgraphs s = {0};
  uint32_t n = dag->node_count, *place = NULL;
  bool is = true;
  CM_TRY_IF(order != NULL, cm_dag_is_order(dag, order, memory, &is, error));
  if (!is)
    return cm_fail(error, CM_BAD_OPTION,
                   "the order that is given does not hold every node once, each after what it waits for");
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(s.first, (size_t)n + 2), CM_ARRAY(s.node, n), CM_ARRAY(s.key, n),
                                CM_ARRAY(place, n));
  if (status == CM_OK) {
    memcpy(s.node, order != NULL ? order : dag->order, n * sizeof *s.node);
    for (uint32_t k = 0; k < n; k++)
      place[s.node[k]] = k;
    find_keys(dag, place, &s);
    cut(dag, place, nodes_min, &s);
    *subgraphs = s;
  }
  cm_free(place);
  if (status != CM_OK)
    cm_subgraphs_free(&s);
  return status;
}

/* ---- all orders of a piece ---- */

cm_status cm_piece_new(const cm_dag *dag, const uint32_t *node, uint32_t count, const uint32_t *local,
                       cm_memory *memory, cm_piece *made, cm_error *error)
{
  cm_piece p = {.count = count, .node = node};
  uint64_t arcs = 0;
  for (uint32_t k = 0; k < count; k++)
    for (uint64_t i = dag->out_first[node[k]]; i < dag->out_first[node[k] + 1]; i++) {
      uint32_t to = local[dag->out[i]];
      arcs += to < count && node[to] == dag->out[i];
    }
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(p.first, (size_t)count + 1), CM_ARRAY(p.out, arcs), CM_ARRAY(p.before, count),
                       CM_ARRAY(p.waiting, count), CM_ARRAY(p.ready, count), CM_ARRAY(p.choice, count),
                       CM_ARRAY(p.ready_at, count), CM_ARRAY(p.order, count)), cm_piece_free(&p));
  for (uint32_t k = 0; k < count; k++) {
    p.first[k + 1] = p.first[k];
    for (uint64_t i = dag->out_first[node[k]]; i < dag->out_first[node[k] + 1]; i++) {
      uint32_t to = local[dag->out[i]];
      if (to < count && node[to] == dag->out[i]) {
        p.out[p.first[k + 1]++] = to;
        p.before[to]++;
      }
    }
  }
  *made = p;
  return CM_OK;
}

void cm_piece_free(cm_piece *p)
{
  CM_FREE(p->first, p->out, p->before, p->waiting, p->ready, p->choice, p->ready_at, p->order);
  *p = (cm_piece){0};
}

void cm_piece_begin(cm_piece *p)
{
  p->placed = p->ready_count = 0;
  memcpy(p->waiting, p->before, p->count * sizeof *p->waiting);
  for (uint32_t k = 0; k < p->count; k++)
    if (p->waiting[k] == 0)
      p->ready[p->ready_count++] = k;
}

void cm_piece_place(cm_piece *p, uint32_t choice)
{
  uint32_t v = p->ready[choice];
  p->choice[p->placed] = choice;
  p->ready_at[p->placed] = p->ready_count;
  p->order[p->placed++] = v;
  p->ready[choice] = p->ready[--p->ready_count];
  for (uint64_t i = p->first[v]; i < p->first[v + 1]; i++)
    if (--p->waiting[p->out[i]] == 0)
      p->ready[p->ready_count++] = p->out[i];
}

/* Takes the last placed one back; returns which choice it was. */
static uint32_t take_back(cm_piece *p)
{
  uint32_t v = p->order[--p->placed], choice = p->choice[p->placed];
  for (uint64_t i = p->first[v]; i < p->first[v + 1]; i++)
    p->waiting[p->out[i]]++;
  p->ready_count = p->ready_at[p->placed];
  p->ready[p->ready_count - 1] = p->ready[choice];
  p->ready[choice] = v;
  return choice;
}

bool cm_piece_next(cm_piece *p, bool from_the_start)
{
  if (from_the_start)
    cm_piece_begin(p);
  else
    for (uint32_t choice;;) {
      if (p->placed == 0)
        return false;
      choice = take_back(p) + 1;
      if (choice < p->ready_count) {
        cm_piece_place(p, choice);
        break;
      }
    }
  while (p->placed < p->count)
    cm_piece_place(p, 0);
  return true;
}

cm_status cm_orders_count(const cm_dag *dag, const uint32_t *node, uint32_t count, uint64_t limit, cm_memory *memory,
                          uint64_t *orders, cm_error *error)
{
  cm_piece piece;
  uint32_t *local;
  uint64_t found = 0;
  CM_TRY(CM_NEW(memory, local, dag->node_count, error));
  for (uint32_t k = 0; k < count; k++)
    local[node[k]] = k;
  cm_status status = cm_piece_new(dag, node, count, local, memory, &piece, error);
  if (status == CM_OK) {
    while (found <= limit && cm_piece_next(&piece, found == 0))
      found++;
    *orders = found;
    cm_piece_free(&piece);
  }
  cm_free(local);
  return status;
}
