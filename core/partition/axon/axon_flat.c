#include "core/partition/axon/axon_search.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/fill.h"
#include "core/partition/axon/grow.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* Where filling makes so many times as many parts as there are cores, other proportions do not make them few enough. */
static const double too_many_by_far = 1.1;

/* Moves that pay look at all parts that a vertex's nets reach: they may take so many times the looks of filling. Of three tenths
 * of the microcircuit, whose axons reach 2300 of 5800 parts, they gain a fiftieth of a percent in five times the time. */
static const double polish_looks = 10;

void cm_axon_keep_better(cm_axon_search *w, const uint32_t *trial, uint32_t count, double reached, uint32_t *part,
                         uint32_t *parts, double *objective)
{
  if (reached >= *objective)
    return;
  memcpy(part, trial, w->levels.graph[0]->vertex_count * sizeof *part);
  *parts = count;
  *objective = reached;
}

/* What partitions of the network itself cost, refined there by moves that pay and keep the limits; INFINITY where they
 * break one. */
static cm_status polish(cm_axon_search *w, uint32_t *part, uint32_t parts, uint32_t sweeps, double *objective,
                        cm_error *error)
{
  cm_axon_state *s;
  cm_random random;
  cm_anneal_options cold = {.sweeps = sweeps, .hard = true};
  cm_random_init(&random, w->seed, CM_STREAM_REFINEMENT, 1 << 20);
  if (cm_axon_state_new(w->levels.graph[0], &w->options->limits, NULL, part, parts, parts, w->run->threads, w->run, &s,
                        error) != CM_OK)
    return error->status;
  cm_status status = sweeps > 0 ? cm_anneal(s, &cold, &random, error) : CM_OK;
  *objective = parts <= w->options->parts_max && cm_count_overfull(s) == 0 ? cm_axon_cost(s) : INFINITY;
  cm_axon_state_free(s);
  return status;
}

cm_status cm_axon_grow_flat(cm_axon_search *w, uint32_t growths, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                            cm_error *error)
{
  cm_random random;
  uint32_t from = CM_GROW_ANYWHERE;
  w->grown = true;
  cm_random_init(&random, w->options->seed, CM_STREAM_BISECTION, 1 << 20);
  cm_run_phase(w->run, "initial");
  cm_status status = cm_hypergraph_list_inbound(w->levels.graph[0], w->run, error);
  for (uint32_t i = 0; status == CM_OK && i < growths; i++) {
    uint32_t count = 0;
    double reached = INFINITY;
    status = cm_grow_parts(w->levels.graph[0], &w->options->limits, &random, w->run, &from, trial, &count, error);
    if (status == CM_OK)
      status = polish(w, trial, count, w->options->last_sweeps, &reached, error);
    if (status == CM_OK)
      cm_axon_keep_better(w, trial, count, reached, part, parts, objective);
  }
  return status;
}

/* The better ones, and where those so far are too many for the cores the fewer ones. */
static void keep_filled(cm_axon_search *w, const uint32_t *trial, uint32_t count, double reached, uint32_t *part,
                        uint32_t *parts, double *objective)
{
  if (isinf(*objective) && (*parts == 0 || count < *parts)) {
    memcpy(part, trial, w->levels.graph[0]->vertex_count * sizeof *part);
    *parts = count;
  }
  cm_axon_keep_better(w, trial, count, reached, part, parts, objective);
}

cm_status cm_axon_fill_flat(cm_axon_search *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                            cm_error *error)
{
  static const double weights[] = {0.5, 0, 1, 0.25, 2};
  const cm_axon_options *o = w->options;
  cm_run_phase(w->run, "initial");
  cm_status status = cm_hypergraph_list_inbound(w->levels.graph[0], w->run, error);
  for (uint32_t i = 0; i < o->fills && i < sizeof weights / sizeof *weights && status == CM_OK; i++) {
    cm_fill_options options = {
        .limits = o->limits, .weight = weights[i], .work = o->fill_work, .seed = o->seed};
    uint32_t count = 0;
    double reached = INFINITY;
    status = cm_fill_parts(w->levels.topology, w->levels.graph[0], &options, w->run, trial, &count, error);
    if (status == CM_OK)
      status = polish(w, trial, count, 0, &reached, error);
    if (status == CM_OK)
      keep_filled(w, trial, count, reached, part, parts, objective);
    if (isinf(*objective) && count > o->parts_max * too_many_by_far)
      break;
  }
  if (status == CM_OK && isinf(*objective) && o->places != NULL)
    return cm_refuse_parts(*parts, o->parts_max, error);
  cm_run_phase(w->run, "refine");
  bool pays = !isinf(*objective) && (double)w->levels.topology->pin_count * *parts <= polish_looks * o->fill_work;
  return status == CM_OK && o->last_sweeps > 0 && pays ? polish(w, part, *parts, o->last_sweeps, objective, error) : status;
}
