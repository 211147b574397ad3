#include "core/partition/axon/axon_search.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/dense.h"
#include "core/partition/axon/grow.h"
#include "core/partition/options.h"

/* Growths where sources have copies: each but the first knows how many the one before needed. What still exceeds limits is to be mended
 * by sweeps. */
enum { COPIES_GROWTHS = 2 };

static void take_over(const cm_axon_search *w, const cm_axon_solution *candidate, cm_axon_solution *best)
{
  memcpy(best->part, candidate->part, w->levels.graph[0]->vertex_count * sizeof *best->part);
  best->parts = candidate->parts;
  best->cost = candidate->cost;
}

void cm_axon_keep_better(const cm_axon_search *w, const cm_axon_solution *candidate, cm_axon_solution *best)
{
  if (candidate->cost < best->cost)
    take_over(w, candidate, best);
}

/* The state of a solution of the network itself. */
static cm_status state_of(const cm_axon_search *w, const cm_axon_solution *s, cm_axon_state **state, cm_error *error)
{
  cm_axon_state_options options = {.limits = &w->options->limits, .part = s->part, .parts = s->parts};
  return cm_axon_state_new(w->levels.graph[0], &options, w->run, state, error);
}

/* What partitions of the network itself cost, refined there by moves that pay and keep the limits; INFINITY where they
 * break one. */
static cm_status polish(cm_axon_search *w, uint32_t sweeps, cm_axon_solution *polished, cm_error *error)
{
  cm_axon_state *s;
  cm_random random;
  cm_anneal_options cold = {.sweeps = sweeps, .hard = true};
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, 1 << 20);
  CM_TRY(state_of(w, polished, &s, error));
  cm_status status = sweeps > 0 ? cm_anneal(s, &cold, &random, error) : CM_OK;
  polished->cost = polished->parts <= w->options->parts_max && cm_count_overfull(s) == 0 ? cm_axon_cost(s) : INFINITY;
  cm_axon_state_free(s);
  return status;
}

cm_status cm_axon_sweep_flat(cm_axon_search *w, uint32_t number, const cm_anneal_options *sweeps, cm_axon_solution *s,
                             cm_error *error)
{
  cm_axon_descent d = {.number = number};
  cm_random random;
  cm_error none = {0};
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, number);
  cm_status status = cm_axon_refine_level(w, &d, sweeps, &random, s, &none);
  if (status == CM_OK)
    return CM_OK;
  s->cost = INFINITY;
  if (status == CM_NO_ROOM)
    return CM_OK;
  *error = none;
  return status;
}

/* Grown parts after annealed sweeps, in which full ones exchange vertices beyond their limits for a while. They stay where they cost
 * less. */
static cm_status exchange(cm_axon_search *w, cm_axon_solution *grown, cm_axon_solution *best, cm_error *error)
{
  cm_anneal_options sweeps = {.sweeps = w->options->sweeps, .hot = CM_AXON_COLD, .cold = CM_AXON_COLD};
  cm_status status = cm_axon_sweep_flat(w, CM_AXON_GROWN, &sweeps, grown, error);
  if (status == CM_OK)
    cm_axon_keep_better(w, grown, best);
  return status;
}

cm_status cm_axon_grow_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  cm_hypergraph *g = w->levels.graph[0];
  cm_grow_options options = {.limits = w->options->limits, .apart = true};
  cm_random random;
  cm_growth growth = {.part = w->trial, .from = g->number[0]};
  w->grown = true;
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, 1 << 20);
  cm_run_phase(w->run, "initial");
  CM_TRY(cm_hypergraph_list_inbound(g, w->run, error));
  CM_TRY(cm_grow_parts(g, &options, &random, w->run, &growth, error));
  cm_axon_solution grown = {.part = w->trial, .parts = growth.parts};
  CM_TRY(polish(w, cm_axon_last_sweeps(w), &grown, error));
  cm_axon_keep_better(w, &grown, best);
  return CM_OK;
}

/* A network is dense where neurons reach so much of all, and large from so many pins on. */
enum { DENSE_SHARE = 12, DENSE_PINS = 1200000 };

bool cm_axon_is_for_growing(const cm_axon_search *w)
{
  const cm_hypergraph *g = w->levels.graph[0];
  const cm_limits *l = &w->options->limits;
  uint64_t n = g->vertex_count;
  bool neurons_alone = l->synapses == 0 && l->memory_bits == 0 && (l->inbound_axons == 0 || g->net_count <= l->inbound_axons);
  return neurons_alone && g->pin_count >= DENSE_PINS && g->pin_count >= n * n / DENSE_SHARE;
}

double cm_axon_reached_parts(const cm_axon_search *w, double cost)
{
  const cm_hypergraph *g = w->levels.graph[0];
  double all = 0;
  for (uint32_t e = 0; e < g->net_count; e++)
    all += (double)g->net_weight[e];
  return cost / all;
}

/* What a growth costs, by how much of the limits its parts exceed them, and what each vertex takes of its part with its copies. */
typedef struct growth_use {
  double cost, excess;
  uint32_t *size; /* [vertices] */
} growth_use;

static cm_status count_use(cm_axon_search *w, const cm_axon_solution *grown, growth_use *use, cm_error *error)
{
  const cm_hypergraph *g = w->levels.graph[0];
  cm_axon_state *s;
  CM_TRY(state_of(w, grown, &s, error));
  use->cost = cm_axon_cost(s);
  use->excess = cm_total_excess(s);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    use->size[v] = (uint32_t)cm_axon_size(s, v);
  cm_axon_state_free(s);
  return CM_OK;
}

cm_status cm_axon_grow_with_copies(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  cm_hypergraph *g = w->levels.graph[0];
  growth_use use = {0};
  cm_grow_options options = {.limits = w->options->limits, .apart = true};
  cm_random random;
  cm_axon_solution grown = {.part = w->trial};
  w->grown = true;
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, CM_AXON_GROWN);
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, use.size, g->vertex_count, error);
  CM_THEN(status, cm_hypergraph_list_inbound(g, w->run, error));
  for (uint32_t i = 0; status == CM_OK && i < COPIES_GROWTHS && use.cost < best->cost; i++) {
    cm_growth growth = {.part = grown.part, .from = g->number[0]};
    options.size = i > 0 ? use.size : NULL;
    status = cm_grow_parts(g, &options, &random, w->run, &growth, error);
    grown.parts = growth.parts;
    CM_THEN(status, count_use(w, &grown, &use, error));
  }
  bool pays = status == CM_OK && use.cost < best->cost;
  if (pays && use.excess <= 0) {
    status = polish(w, 1, &grown, error);
    if (status == CM_OK)
      cm_axon_keep_better(w, &grown, best);
  }
  CM_THEN_IF(status, pays, exchange(w, &grown, best, error));
  cm_free(use.size);
  return status;
}

cm_status cm_axon_fill_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  const cm_topology *t = w->levels.demand->network;
  cm_status status = cm_partition_dense(w->levels.demand, o, w->run, w->scratch, &best->parts, error);
  for (uint32_t v = 0; v < t->vertex_count && status == CM_OK; v++)
    best->part[w->levels.graph[0]->number[v]] = w->scratch[v];
  CM_THEN(status, polish(w, 0, best, error));
  return status;
}
