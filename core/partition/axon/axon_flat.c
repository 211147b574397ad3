#include "core/partition/axon/axon_search.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/dense.h"
#include "core/partition/axon/grow.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* Moves that pay look at all parts that a vertex's nets reach: so many looks at most. Of three tenths of the microcircuit, whose axons
 * reach 2300 of 5800 parts, they gain a fiftieth of a percent in five times the time. */
static const double polish_looks = 1e10;

void cm_axon_keep_better(const cm_axon_search *w, const cm_axon_solution *candidate, cm_axon_solution *best)
{
  if (candidate->cost >= best->cost)
    return;
  memcpy(best->part, candidate->part, w->levels.graph[0]->vertex_count * sizeof *best->part);
  best->parts = candidate->parts;
  best->cost = candidate->cost;
}

/* What partitions of the network itself cost, refined there by moves that pay and keep the limits; INFINITY where they
 * break one. */
static cm_status polish(cm_axon_search *w, uint32_t sweeps, cm_axon_solution *polished, cm_error *error)
{
  cm_axon_state *s;
  cm_axon_state_options options = {.limits = &w->options->limits, .part = polished->part, .parts = polished->parts};
  cm_random random;
  cm_anneal_options cold = {.sweeps = sweeps, .hard = true};
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, 1 << 20);
  if (cm_axon_state_new(w->levels.graph[0], &options, w->run, &s, error) != CM_OK)
    return error->status;
  cm_status status = sweeps > 0 ? cm_anneal(s, &cold, &random, error) : CM_OK;
  polished->cost = polished->parts <= w->options->parts_max && cm_count_overfull(s) == 0 ? cm_axon_cost(s) : INFINITY;
  cm_axon_state_free(s);
  return status;
}

/* A network is dense where neurons reach so much of all, and large from so many pins on. */
enum { DENSE_SHARE = 12, DENSE_PINS = 1200000 };

bool cm_axon_is_for_growing(const cm_axon_search *w)
{
  const cm_hypergraph *g = w->levels.graph[0];
  const cm_limits *l = &w->options->limits;
  uint64_t n = g->vertex_count;
  bool neurons_alone = l->synapses == 0 && l->memory_bits == 0 && (l->inbound_axons == 0 || g->net_count <= l->inbound_axons);
  return g->reach_max == 0 && neurons_alone && g->pin_count >= DENSE_PINS && g->pin_count >= n * n / DENSE_SHARE;
}

cm_status cm_axon_grow_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  cm_hypergraph *g = w->levels.graph[0];
  cm_growth growth = {.part = w->trial, .from = g->number[0]};
  cm_random random;
  w->grown = true;
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, 1 << 20);
  cm_run_phase(w->run, "initial");
  if (cm_hypergraph_list_inbound(g, w->run, error) != CM_OK ||
      cm_grow_parts(g, &w->options->limits, &random, w->run, &growth, error) != CM_OK)
    return error->status;
  cm_axon_solution grown = {.part = growth.part, .parts = growth.parts};
  cm_status status = polish(w, cm_axon_last_sweeps(w), &grown, error);
  if (status == CM_OK)
    cm_axon_keep_better(w, &grown, best);
  return status;
}

cm_status cm_axon_fill_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  const cm_topology *t = w->levels.demand->network;
  cm_status status = cm_partition_dense(w->levels.demand, o, w->run, w->scratch, &best->parts, error);
  for (uint32_t v = 0; v < t->vertex_count && status == CM_OK; v++)
    best->part[w->levels.graph[0]->number[v]] = w->scratch[v];
  if (status == CM_OK && o->places != NULL && best->parts > o->parts_max)
    return cm_refuse_parts(best->parts, o->parts_max, error);
  cm_run_phase(w->run, "refine");
  bool pays = (double)t->pin_count * best->parts <= polish_looks;
  return status == CM_OK ? polish(w, pays ? cm_axon_last_sweeps(w) : 0, best, error) : status;
}
