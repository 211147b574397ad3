#include "core/partition/axon/axon.h"

#include <math.h>

#include "core/partition/axon/axon_search.h"
#include "core/partition/axon/closure.h"
#include "core/partition/partition.h"

/* Growing costs no more than a sweep or two, however many pins there are, where axons reach so few parts, and finds what levels miss:
 * layers that fill parts to the brim. Else on networks that a pass may look at. */
static const double grow_reach = 4;

/* The ways to parts. */
typedef enum way { FILLED, GIVEN, GROWN, OTHER, LEVELS, COPIES, PLACES, CYCLES, WAYS } way;

/* How far a search is. */
typedef struct progress {
  cm_axon_search *search;
  cm_axon_solution *best;
  uint32_t made[WAYS]; /* how often each way was tried */
  double spent[2];     /* pins looked at, by starts and by refinement */
  uint32_t vain;       /* cycles in a row that did not help */
  bool full;           /* an attempt found no room */
} progress;

static const cm_axon_options *options_of(const progress *p)
{
  return p->search->options;
}

static double pins_of(const progress *p)
{
  return (double)p->search->levels.demand->network->pin_count;
}

static bool is_known(const progress *p)
{
  return !isinf(p->best->cost);
}

static bool has_copies(const progress *p)
{
  return p->search->levels.graph[0]->reach_max != 0;
}

/* Parts that an axon reaches, its own aside. */
static double reach_of(const progress *p)
{
  return cm_axon_reached_parts(p->search, p->best->cost);
}

static double no_work(CM_UNUSED const progress *p)
{
  return 0;
}

static double pass(const progress *p)
{
  return pins_of(p);
}

/* ---- nothing to coarsen by: parts are filled ---- */

static bool suits_filling(const progress *p)
{
  return p->search->flat && p->made[FILLED] == 0;
}

/* ---- the caller's parts ---- */

static bool suits_given(const progress *p)
{
  return options_of(p)->start != NULL && (options_of(p)->places != NULL || !p->search->flat) && p->made[GIVEN] == 0;
}

static cm_status take_given(progress *p, cm_error *error)
{
  return cm_axon_measure_start(p->search, options_of(p)->start, p->best, error);
}

/* The other ones, refined before the better ones stay. */
static bool suits_other(const progress *p)
{
  const cm_axon_options *o = options_of(p);
  return o->other_start != NULL && o->cycles > 0 && !p->search->flat && p->made[OTHER] == 0;
}

static cm_status take_other(progress *p, cm_error *error)
{
  cm_axon_search *w = p->search;
  cm_axon_solution other;
  CM_TRY(CM_NEW(w->run->memory, other.part, w->levels.graph[0]->vertex_count, error));
  cm_status status = cm_axon_measure_start(w, w->options->other_start, &other, error);
  CM_THEN_IF(status, !isinf(other.cost), cm_axon_cycle(w, CM_AXON_OTHER_CYCLE, &other, error));
  if (status == CM_OK)
    cm_axon_keep_better(w, &other, p->best);
  cm_free(other.part);
  return status;
}

/* ---- growing on the network itself ---- */

static bool suits_growing(const progress *p)
{
  const cm_axon_options *o = options_of(p);
  if (p->search->grown || p->search->flat || has_copies(p))
    return false;
  return cm_axon_is_for_growing(p->search) ||
         (o->work > 0 && (pins_of(p) <= (double)o->work || (is_known(p) && reach_of(p) <= grow_reach)));
}

static bool suits_growing_with_copies(const progress *p)
{
  return has_copies(p) && !p->search->grown && !p->search->flat && (options_of(p)->searched || p->made[LEVELS] > 0);
}

/* ---- attempts through levels ---- */

/* The first one is made whatever it costs, unless something else stands in its place. */
static bool needs_levels(const progress *p)
{
  bool grown = p->search->grown && is_known(p) && cm_axon_is_for_growing(p->search);
  return p->made[LEVELS] == 0 && !(is_known(p) && (options_of(p)->searched || grown));
}

static bool suits_levels(const progress *p)
{
  uint32_t most = options_of(p)->attempts > 1 ? options_of(p)->attempts : 1;
  return !p->search->flat && !p->full && p->made[LEVELS] < most;
}

/* An attempt looks at half of the parts that the axons of all pins reach. */
static double work_of_levels(const progress *p)
{
  return needs_levels(p) ? 0 : pins_of(p) * (1 + reach_of(p)) / 2;
}

static cm_status attempt(progress *p, cm_error *error)
{
  bool found = false;
  cm_status status = cm_axon_attempt(p->search, p->made[LEVELS], p->best, &found, error);
  p->full = !found;
  return status;
}

/* ---- refinement ---- */

static bool suits_places(const progress *p)
{
  return options_of(p)->places != NULL && is_known(p) && p->made[PLACES] == 0;
}

static bool suits_cycles(const progress *p)
{
  const cm_axon_options *o = options_of(p);
  const bool pays = (o->vain == 0 || p->vain < o->vain) && (o->cycle_pins == 0 || p->made[CYCLES] * pins_of(p) < (double)o->cycle_pins);
  return (o->places != NULL ? is_known(p) : !p->search->flat) && pays && p->made[CYCLES] < o->cycles;
}

static cm_status cycle(progress *p, cm_error *error)
{
  double before = p->best->cost;
  cm_status status = cm_axon_cycle(p->search, p->made[CYCLES] + 1, p->best, error);
  p->vain = p->best->cost < before ? 0 : p->vain + 1;
  return status;
}

/* ---- the search ---- */

/* Each way says whether it suits now, how many pins it will look at, and how it is gone: by itself, or by a step of the search. Those that
 * refine come when no start is left. */
static const struct {
  bool refines;
  bool (*suits)(const progress *p);
  double (*work)(const progress *p);
  cm_status (*go)(progress *p, cm_error *error);
  cm_status (*step)(cm_axon_search *search, cm_axon_solution *best, cm_error *error);
} ways[WAYS] = {
  [FILLED] = {false, suits_filling, no_work, NULL, cm_axon_fill_flat},
  [GIVEN] = {false, suits_given, no_work, take_given, NULL},
  [GROWN] = {false, suits_growing, no_work, NULL, cm_axon_grow_flat},
  [OTHER] = {false, suits_other, pass, take_other, NULL},
  [LEVELS] = {false, suits_levels, work_of_levels, attempt, NULL},
  [COPIES] = {false, suits_growing_with_copies, no_work, NULL, cm_axon_grow_with_copies},
  [PLACES] = {true, suits_places, no_work, NULL, cm_axon_take_places},
  [CYCLES] = {true, suits_cycles, pass, cycle, NULL},
};

/* The cheapest way that suits and is left work for, of equals the first; WAYS: none. With places it goes on from the caller's parts alone. */
static way next_way(const progress *p, bool refining, double *work)
{
  way best = WAYS;
  for (way i = 0; i < WAYS; i++) {
    if ((options_of(p)->places != NULL && !refining && i != GIVEN) || ways[i].refines != refining || !ways[i].suits(p))
      continue;
    double pins = ways[i].work(p);
    if ((pins > 0 && p->spent[refining] + pins > (double)options_of(p)->work) || (best != WAYS && pins >= *work))
      continue;
    best = i;
    *work = pins;
  }
  return best;
}

/* What refining takes, in attempts through levels; a search ends after some more cycles than are in vain. */
static const double cycle_takes = 0.4;

/* What is left to be done, in attempts, beside the next one. */
static double left(const progress *p)
{
  const cm_axon_options *o = options_of(p);
  const double work = (double)o->work, pins = pins_of(p) + 1, most = o->vain != 0 ? 2 * o->vain : o->cycles;
  const double cycles = fmin(most, fmax(o->cycles, p->made[CYCLES]) - p->made[CYCLES]);
  const double attempts = o->places == NULL && suits_levels(p) ? fmin(fmax(o->attempts, 1) - p->made[LEVELS], fmax(work - p->spent[0], 0) / fmax(work_of_levels(p), pins)) : 0;
  return fmax(attempts, o->places == NULL && p->made[LEVELS] == 0) + cycle_takes * floor(fmin(cycles, fmax(work - p->spent[1], 0) / pins));
}

static cm_status search(cm_axon_search *w, const cm_axon_options *options, cm_axon_solution *best, cm_error *error)
{
  cm_axon_options effort = *options;
  progress p = {.search = w, .best = best};
  cm_status status = CM_OK;
  w->options = &effort; // cppcheck-suppress autoVariables; whoever calls sets its own again
  w->seed = effort.seed;
  cm_axon_spare_sweeps(&effort, w->levels.demand->network->pin_count);
  while (status == CM_OK) {
    double work = 0;
    bool refining = false;
    way next = next_way(&p, false, &work);
    if (next == WAYS) {
      refining = true;
      next = next_way(&p, true, &work);
    }
    if (next == WAYS)
      break;
    p.spent[refining] += work;
    const double takes = next == LEVELS ? 1 : cycle_takes;
    const size_t mark = cm_run_enter(w->run, takes / fmax(takes, left(&p) + (next != LEVELS && next != CYCLES ? takes : 0)));
    status = ways[next].go != NULL ? ways[next].go(&p, error) : ways[next].step(w, best, error);
    p.made[next]++;
    cm_run_leave(w->run, mark);
  }
  return status;
}

/* Packed targets take half of the memory, and reading them more time: they are worth it from so many on, or where a limit leaves
 * less than so many bytes for each. */
enum { PACKED_LEAST = 1 << 22, PLAIN_BYTES = 32 };

static bool worth_packing(const cm_topology *topology, const cm_memory *memory)
{
  uint64_t limit = memory != NULL ? memory->limit_bytes : 0;
  return topology->pin_count >= PACKED_LEAST || (limit != 0 && limit / PLAIN_BYTES < topology->pin_count);
}

cm_status cm_partition_axons(const cm_demand *demand, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error)
{
  cm_axon_search w = {.options = options, .run = run};
  cm_axon_solution best = {.cost = INFINITY};
  uint32_t n = demand->network->vertex_count;
  bool fill = n > 0 && cm_may_lack_clusters(demand);
  /* Prices and growing on the network look up single targets. */
  bool pack = options->sole_reader && options->places == NULL && !fill && worth_packing(demand->network, run->memory);
  cm_status status = cm_axon_levels_begin(demand, pack, run, &w.levels, error);
  CM_THEN(status, CM_NEW(run->memory, best.part, n, error));
  CM_THEN(status, CM_NEW(run->memory, w.scratch, n, error));
  CM_THEN_IF(status, fill, cm_lacks_clusters(demand, w.levels.graph[0], run, &w.flat, error));
  CM_THEN(status, CM_NEW(run->memory, w.trial, n, error));
  CM_THEN_IF(status, n > 0, search(&w, options, &best, error));
  if (status == CM_OK && options->places != NULL && isinf(best.cost))
    status = cm_fail(error, CM_NO_ROOM, "the parts to go on from break a limit");
  CM_THEN_IF(status, options->places == NULL, cm_close_gaps(best.part, n, &best.parts, run, error));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      part[v] = best.part[w.levels.graph[0]->number[v]];
    *parts = best.parts;
  } else
    *parts = w.needed;
  CM_FREE(best.part, w.trial, w.scratch);
  cm_axon_levels_drop(&w.levels, 0);
  return status;
}
