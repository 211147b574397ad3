#include "core/partition/nets/net_state.h"

#include <string.h>

#define NOWHERE UINT32_MAX

void cm_net_state_free(cm_net_state *s)
{
  if (s == NULL)
    return;
  CM_FREE(s->load, s->place, s->hold_first, s->lambda, s->hold, s->tie_first, s->tie_count, s->tie, s->alone, s->degree,
          s->touched, s->is_touched, s);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
  return value < most ? value : most;
}

/* Rows as long as they can ever get. */
static void lay_out(cm_net_state *s)
{
  const cm_net_graph *g = s->graph;
  for (uint32_t e = 0; e < g->net_count; e++)
    s->hold_first[e + 1] = s->hold_first[e] + at_most(g->net_first[e + 1] - g->net_first[e], s->parts);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    uint64_t reach = 2; /* while v moves, its nets touch where it was and where it goes */
    for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1] && reach < s->parts; j++)
      reach += g->net_first[g->net[j] + 1] - g->net_first[g->net[j]] - 1;
    s->tie_first[v + 1] = s->tie_first[v] + at_most(reach, s->parts);
  }
}

static void touch(cm_net_state *s, uint32_t v, uint8_t how)
{
  if (s->is_touched[v] == 0)
    s->touched[s->touched_count++] = v;
  s->is_touched[v] |= how;
}

void cm_net_forget_touched(cm_net_state *s)
{
  for (uint32_t i = 0; i < s->touched_count; i++)
    s->is_touched[s->touched[i]] = 0;
  s->touched_count = 0;
}

static void strengthen(cm_net_state *s, uint32_t v, uint32_t part, int64_t weight)
{
  cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t count = s->tie_count[v], i = 0;
  while (i < count && row[i].part != part)
    i++;
  if (i == count) {
    row[i] = (cm_net_tie){0, part};
    s->tie_count[v]++;
  }
  row[i].weight += weight;
}

static void weaken(cm_net_state *s, uint32_t v, uint32_t part, int64_t weight)
{
  cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t i = 0;
  while (row[i].part != part)
    i++;
  row[i].weight -= weight;
  if (row[i].weight == 0)
    row[i] = row[--s->tie_count[v]];
}

/* The place of a part in a net's row; a new one where it is not there. */
static cm_net_hold *hold_of(cm_net_state *s, uint32_t e, uint32_t part)
{
  cm_net_hold *row = s->hold + s->hold_first[e];
  uint32_t count = s->lambda[e], i = 0;
  while (i < count && row[i].part != part)
    i++;
  if (i == count) {
    row[i] = (cm_net_hold){.part = part};
    s->lambda[e]++;
  }
  return &row[i];
}

/* The row of v, by where in it each part is so far. */
static void fill_ties(cm_net_state *s, uint32_t v)
{
  const cm_net_graph *g = s->graph;
  cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t count = 0;
  s->degree[v] = 0;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    uint32_t e = g->net[j];
    const cm_net_hold *hold = s->hold + s->hold_first[e];
    s->degree[v] += g->net_weight[e];
    for (uint32_t i = 0; i < s->lambda[e]; i++) {
      uint32_t p = hold[i].part;
      if (s->place[p] == NOWHERE) {
        s->place[p] = count;
        row[count++] = (cm_net_tie){0, p};
      }
      row[s->place[p]].weight += g->net_weight[e];
    }
  }
  s->tie_count[v] = count;
  for (uint32_t i = 0; i < count; i++)
    s->place[row[i].part] = NOWHERE;
}

static void fill(cm_net_state *s)
{
  const cm_net_graph *g = s->graph;
  memset(s->load, 0, s->parts * sizeof *s->load);
  memset(s->lambda, 0, g->net_count * sizeof *s->lambda);
  cm_net_forget_touched(s);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    s->load[s->part[v]] += g->size[v];
    s->alone[v] = 0;
  }
  for (uint32_t e = 0; e < g->net_count; e++) {
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      cm_net_hold *h = hold_of(s, e, s->part[g->pin[i]]);
      h->count++;
      h->sole = h->count == 1 ? g->pin[i] : h->sole ^ g->pin[i];
    }
    const cm_net_hold *row = s->hold + s->hold_first[e];
    for (uint32_t j = 0; j < s->lambda[e]; j++)
      if (row[j].count == 1)
        s->alone[row[j].sole] += g->net_weight[e];
  }
  memset(s->place, 0xff, s->parts * sizeof *s->place);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    fill_ties(s, v);
}

cm_status cm_net_state_new(const cm_net_graph *graph, uint32_t *part, uint32_t parts, cm_run *run, cm_net_state **state,
                           cm_error *error)
{
  cm_net_state *s;
  uint32_t n = graph->vertex_count, m = graph->net_count;
  cm_memory *memory = run->memory;
  CM_TRY(CM_NEW(memory, s, 1, error));
  s->graph = graph;
  s->part = part;
  s->parts = parts;
  cm_status status = CM_NEW(memory, s->hold_first, (size_t)m + 1, error);
  CM_THEN(status, CM_NEW(memory, s->tie_first, (size_t)n + 1, error));
  if (status == CM_OK)
    lay_out(s);
  if (status != CM_OK || CM_NEW(memory, s->load, parts, error) != CM_OK ||
      CM_NEW(memory, s->place, parts, error) != CM_OK ||
      CM_NEW(memory, s->lambda, m, error) != CM_OK || CM_NEW(memory, s->hold, s->hold_first[m], error) != CM_OK ||
      CM_NEW(memory, s->tie_count, n, error) != CM_OK || CM_NEW(memory, s->tie, s->tie_first[n], error) != CM_OK ||
      CM_NEW(memory, s->alone, n, error) != CM_OK || CM_NEW(memory, s->degree, n, error) != CM_OK ||
      CM_NEW(memory, s->touched, n, error) != CM_OK || CM_NEW(memory, s->is_touched, n, error) != CM_OK) {
    cm_net_state_free(s);
    return error->status;
  }
  fill(s);
  *state = s;
  return CM_OK;
}

/* Takes v out of a net's part. */
static void leave(cm_net_state *s, uint32_t e, uint32_t v, uint32_t from)
{
  const cm_net_graph *g = s->graph;
  cm_net_hold *h = hold_of(s, e, from);
  int64_t weight = g->net_weight[e];
  h->sole ^= v;
  if (--h->count == 1) {
    s->alone[h->sole] += weight;
    touch(s, h->sole, CM_NET_RISEN);
  } else if (h->count == 0) {
    *h = s->hold[s->hold_first[e] + --s->lambda[e]];
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      weaken(s, g->pin[i], from, weight);
      touch(s, g->pin[i], CM_NET_FALLEN);
    }
  }
}

static void arrive(cm_net_state *s, uint32_t e, uint32_t v, uint32_t to)
{
  const cm_net_graph *g = s->graph;
  cm_net_hold *h = hold_of(s, e, to);
  int64_t weight = g->net_weight[e];
  if (++h->count == 1) {
    s->alone[v] += weight;
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      strengthen(s, g->pin[i], to, weight);
      touch(s, g->pin[i], CM_NET_RISEN);
    }
  } else if (h->count == 2) {
    s->alone[h->sole] -= weight;
    touch(s, h->sole, CM_NET_FALLEN);
  }
  h->sole ^= v;
}

void cm_net_move(cm_net_state *s, uint32_t v, uint32_t to)
{
  const cm_net_graph *g = s->graph;
  uint32_t from = s->part[v];
  s->part[v] = to;
  s->load[from] -= g->size[v];
  s->load[to] += g->size[v];
  s->alone[v] = 0;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    leave(s, g->net[j], v, from); /* first: a net's row has room for no part more than it touches */
    arrive(s, g->net[j], v, to);
  }
}

int64_t cm_net_gain(const cm_net_state *s, uint32_t v, uint32_t to)
{
  const cm_net_tie *row = s->tie + s->tie_first[v];
  int64_t tied = 0;
  for (uint32_t i = 0; i < s->tie_count[v]; i++)
    if (row[i].part == to)
      tied = row[i].weight;
  return s->alone[v] - s->degree[v] + tied;
}

int64_t cm_net_connectivity(const cm_net_state *s)
{
  int64_t sum = 0;
  for (uint32_t e = 0; e < s->graph->net_count; e++)
    sum += s->graph->net_weight[e] * ((int64_t)s->lambda[e] - 1);
  return sum;
}
