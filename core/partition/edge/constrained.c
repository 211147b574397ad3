/* Happy path: the graph and the usage -> every vertex in turn: its ties, the cheapest part, the move, the look at the usage
 * -> until a round moves nothing. A move that breaks a limit is made back. What can fail: memory, a stop. */
#include "core/partition/edge/constrained.h"

#include "core/partition/part_usage.h"
#include "core/partition/edge/ties.h"

enum { CHECK_EVERY = 256, CHOICES = 2 /* parts that a vertex tries */ };

typedef struct within {
  cm_part_usage usage;
  cm_csr_graph *graph;
  cm_ties ties;
  const cm_ways *ways;
  int64_t *price; /* [parts] what the vertex under way would pay in those that it touches */
  cm_run *run;
} within;

/* Whether v has gone to `to`. */
static cm_status try_part(within *w, uint32_t v, uint32_t to, bool *gone, cm_error *error)
{
  cm_part_usage *b = &w->usage;
  uint32_t from = b->part[v];
  CM_TRY(cm_part_usage_move(b, v, to, error));
  *gone = cm_part_usage_settle(b, false) <= 0; /* no part was over a limit, and none is now */
  cm_status status = *gone ? CM_OK : cm_part_usage_move(b, v, from, error);
  (void)cm_part_usage_settle(b, true);
  return status;
}

/* What v would pay in `p`, if its neighbours stayed. */
static int64_t price(const within *w, uint32_t own, uint32_t p)
{
  const cm_ties *t = &w->ties;
  if (w->ways == NULL)
    return p == own ? -t->inner : -t->weight[p];
  int64_t sum = (int64_t)w->ways->way(w->ways->context, p, own) * t->inner;
  for (uint32_t i = 0; i < t->count; i++)
    sum += (int64_t)w->ways->way(w->ways->context, p, t->touched[i]) * t->weight[t->touched[i]];
  return sum;
}

static cm_status visit(within *w, uint32_t v, bool *gone, cm_error *error)
{
  cm_ties *t = &w->ties;
  uint32_t own = w->usage.part[v];
  *gone = false;
  if (w->usage.members[own].count == 1)
    return CM_OK;
  cm_ties_gather(t, w->graph, w->usage.part, v);
  int64_t stay = price(w, own, own);
  for (uint32_t i = 0; i < t->count; i++)
    w->price[t->touched[i]] = price(w, own, t->touched[i]);
  for (uint32_t choice = 0; choice < CHOICES && !*gone; choice++) {
    uint32_t best = CM_NO_PART;
    for (uint32_t i = 0; i < t->count; i++) {
      uint32_t p = t->touched[i];
      int64_t most = best == CM_NO_PART ? stay : w->price[best];
      if (w->price[p] < most || (best != CM_NO_PART && p < best && w->price[p] == most))
        best = p;
    }
    if (best == CM_NO_PART)
      return CM_OK;
    CM_TRY(try_part(w, v, best, gone, error));
    w->price[best] = INT64_MAX; /* not this one again */
  }
  return CM_OK;
}

static cm_status run_rounds(within *w, uint32_t rounds, cm_error *error)
{
  bool moved = true;
  for (uint32_t round = 0; round < rounds && moved; round++) {
    moved = false;
    for (uint32_t v = 0; v < w->graph->vertex_count; v++) {
      bool gone;
      if (visit(w, v, &gone, error) != CM_OK || (v % CHECK_EVERY == 0 && cm_run_check(w->run, error) != CM_OK))
        return error->status;
      moved |= gone;
    }
  }
  return CM_OK;
}

cm_status cm_refine_constrained(const cm_demand *demand, const cm_limits *limits, const cm_ways *ways, uint32_t rounds,
                           cm_run *run, uint32_t *part, uint32_t parts, cm_error *error)
{
  within w = {.run = run, .ways = ways};
  cm_status status = cm_csr_graph_from_topology(demand, run, &w.graph, error);
  CM_THEN(status, cm_ties_new(run->memory, parts, &w.ties, error));
  CM_THEN(status, CM_NEW(run->memory, w.price, parts, error));
  CM_THEN(status, cm_part_usage_open(&w.usage, demand, limits, part, parts, run, error));
  CM_THEN(status, run_rounds(&w, rounds, error));
  cm_part_usage_free(&w.usage);
  cm_ties_free(&w.ties);
  cm_free(w.price);
  cm_csr_graph_free(w.graph);
  return status;
}
