#include "core/partition/axon/axon_search.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/grow.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* Where sources have copies parts look no fuller on coarse levels than they are, and a split costs much: less is filled, of the network's
 * own limits. */
static const double full_of_copies = 0.91;

/* What a start may fill. */
static cm_limits limits_of_start(const cm_axon_search *w)
{
  cm_limits limits = cm_axon_level_limits(w, w->levels.count - 1, CM_AXON_SLACK);
  bool copies = w->levels.graph[0]->reach_max != 0;
  if (copies)
    limits.inbound_axons = (uint64_t)ceil((double)w->options->limits.inbound_axons * full_of_copies);
  limits.neurons = (uint64_t)lround(copies ? (double)w->options->limits.neurons * full_of_copies : (double)limits.neurons * cm_axon_full);
  return limits;
}

/* Where growing makes so many times as many parts as there are cores, refinement does not make them few enough: it ends with three
 * quarters of them where it gains most. */
static const double too_many_by_far = 2;

/* An initial partition: grown, then annealed. */
typedef struct start {
  cm_random random;
  cm_axon_solution made;
} start;

typedef struct starts {
  cm_axon_search *work;
  start *start; /* [count] */
  uint32_t count;
  bool together; /* annealed side by side, a thread each */
} starts;

static cm_status grow_start(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  cm_axon_search *w = all->work;
  start *it = &all->start[t];
  uint32_t l = w->levels.count - 1;
  cm_random_init(&it->random, w->seed, CM_STREAM_BISECTION, t);
  CM_TRY(CM_NEW(w->run->memory, it->made.part, w->levels.graph[l]->vertex_count, error));
  cm_growth growth = {.part = it->made.part, .from = CM_GROW_ANYWHERE};
  cm_grow_options options = {.limits = limits_of_start(w)};
  cm_status status = cm_grow_parts(w->levels.graph[l], &options, &it->random, w->run, &growth, error);
  it->made.parts = growth.parts;
  return status;
}

static cm_status anneal_start(void *context, size_t t, cm_error *error)
{
  starts *all = context;
  start *it = &all->start[t];
  cm_anneal_options options = {.sweeps = all->work->options->start_sweeps,
                               .hot = 0.3,
                               .cold = 0.02,
                               .silent = all->together,
                               .share = 1.0 / all->count,
                               .level = all->work->levels.count - 1};
  cm_axon_descent d = {.slack = CM_AXON_SLACK};
  return cm_axon_refine_level(all->work, &d, &options, &it->random, &it->made, error);
}

/* Side by side when that keeps all threads busy, else one after another, on all threads each. */
static cm_status anneal_starts(starts *all, cm_error *error)
{
  cm_run *run = all->work->run;
  cm_status status = CM_OK;
  all->together = all->count % run->threads == 0;
  if (all->together)
    return cm_parallel(run, all->count, anneal_start, all, error);
  for (uint32_t t = 0; t < all->count && status == CM_OK; t++) {
    const size_t mark = cm_run_within(run, 1.0 / (all->count - t));
    status = anneal_start(all, t, error);
    cm_run_leave(run, mark);
  }
  return status;
}

/* Says which limit makes the parts so many. */
static cm_status refuse_start(cm_axon_search *w, const cm_axon_solution *made, cm_error *error)
{
  cm_axon_state *s;
  cm_axon_state_options options = {.limits = &w->options->limits, .part = made->part, .parts = made->parts};
  CM_TRY(cm_axon_state_new(w->levels.graph[w->levels.count - 1], &options, w->run, &s, error));
  cm_resource scarcest = cm_scarcest(s);
  cm_axon_state_free(s);
  w->needed = made->parts;
  cm_refuse_parts(made->parts, w->options->parts_max, error);
  cm_fail_more(error, ": a first partition has %u parts, filled by %s%s, far too many for refinement to help", made->parts,
               cm_resource_name(scarcest),
               scarcest == CM_NEURONS && w->levels.graph[0]->reach_max != 0 ? " and their copies" : "");
  return error->status;
}

/* CM_NO_ROOM where even the fewest parts are far too many. */
static cm_status check_parts(cm_axon_search *w, const starts *all, cm_error *error)
{
  const cm_axon_solution *fewest = &all->start->made;
  for (uint32_t t = 1; t < all->count; t++)
    fewest = all->start[t].made.parts < fewest->parts ? &all->start[t].made : fewest;
  return fewest->parts <= too_many_by_far * w->options->parts_max ? CM_OK : refuse_start(w, fewest, error);
}

static cm_status best_start(cm_axon_search *w, cm_axon_solution *s, cm_error *error)
{
  uint32_t n = w->levels.graph[w->levels.count - 1]->vertex_count, count = w->options->starts > 0 ? w->options->starts : 1, best = 0;
  starts all = {.work = w, .count = count};
  cm_run_phase(w->run, "initial");
  cm_status status = CM_NEW(w->run->memory, all.start, count, error);
  CM_THEN(status, cm_hypergraph_list_inbound(w->levels.graph[w->levels.count - 1], w->run, error));
  CM_THEN(status, cm_parallel(w->run, count, grow_start, &all, error));
  CM_THEN(status, check_parts(w, &all, error));
  CM_THEN(status, anneal_starts(&all, error));
  for (uint32_t t = 1; t < count && status == CM_OK; t++)
    if (all.start[t].made.cost < all.start[best].made.cost)
      best = t;
  if (status == CM_OK) {
    memcpy(s->part, all.start[best].made.part, n * sizeof *s->part);
    s->parts = all.start[best].made.parts;
  }
  for (uint32_t t = 0; all.start != NULL && t < count; t++)
    cm_free(all.start[t].made.part);
  cm_free(all.start);
  return status;
}

static cm_status attempt(cm_axon_search *w, cm_axon_solution *s, cm_error *error)
{
  cm_axon_descent d = {.slack = CM_AXON_SLACK, .hot = 0.1, .cold = CM_AXON_COLD};
  CM_TRY(cm_axon_levels_build(&w->levels, w->options, w->seed, NULL, w->run, error));
  CM_TRY(best_start(w, s, error));
  if (w->levels.count > 1)
    cm_axon_step_down(w, s->part);
  return cm_axon_descend(w, &d, s, error);
}

cm_status cm_axon_attempt(cm_axon_search *w, uint32_t number, cm_axon_solution *best, bool *found, cm_error *error)
{
  bool first = isinf(best->cost);
  cm_axon_solution made = {.part = first ? best->part : w->trial};
  w->seed = w->options->seed + number * (uint64_t)0x9e3779b9;
  cm_status status = attempt(w, &made, error);
  *found = status == CM_OK;
  if (status == CM_OK && first)
    *best = made;
  else if (status == CM_OK)
    cm_axon_keep_better(w, &made, best);
  return status == CM_NO_ROOM && !first ? CM_OK : status;
}
