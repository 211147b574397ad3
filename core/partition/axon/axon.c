#include "core/partition/axon/axon.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_search.h"
#include "core/partition/axon/closure.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* With places, the search ends after so many cycles without gain. */
enum { VAIN_MOST = 3 };

/* The caller's other parts, refined as those that are there have been before the better ones stay. */
static cm_status refine_other_start(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  cm_axon_solution other;
  if (CM_NEW(w->run->memory, other.part, w->levels.graph[0]->vertex_count, error) != CM_OK)
    return error->status;
  cm_status status = cm_axon_measure_start(w, w->options->other_start, &other, error);
  if (status == CM_OK && !isinf(other.cost))
    status = cm_axon_cycle(w, CM_AXON_OTHER_CYCLE, &other, error);
  if (status == CM_OK)
    cm_axon_keep_better(w, &other, best);
  cm_free(other.part);
  return status;
}

static cm_status search(cm_axon_search *w, const cm_axon_options *options, cm_axon_solution *best, cm_error *error);

/* What the effort below finds: its own way is not left out for what costs more. */
static cm_status search_below(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  cm_axon_options below = *o->below;
  below.limits = o->limits;
  below.dense_pins = 0; /* grown parts are full, and cycles find little in them: those go on from levels */
  below.parts_max = o->parts_max;
  below.seed = o->seed;
  below.start = o->start;
  below.other_start = o->other_start;
  cm_status status = search(w, &below, best, error);
  w->options = o;
  if (status != CM_NO_ROOM)
    return status;
  best->cost = INFINITY;
  return CM_OK;
}

/* Whether what the effort below has found is to be refined in place of attempts. */
static bool attempts_cost_too_much(const cm_axon_search *w, double cost)
{
  const cm_axon_options *o = w->options;
  return o->below != NULL && !cm_axon_few_pins(w, o->own_pins) && cm_axon_looks(w, cost) > o->own_looks;
}

/* The caller's starts, refined as attempts are before one is chosen. `below`: the effort below is made, with the first of them;
 * `known`: there is a legal partition of the caller's or of that effort. */
static cm_status refine_starts(cm_axon_search *w, bool below, bool known, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  cm_status status = CM_OK;
  if (!below && known && o->places == NULL && cm_axon_looks(w, best->cost) <= o->cycle_looks)
    status = cm_axon_cycle(w, CM_AXON_START_CYCLE, best, error);
  bool other = o->other_start != NULL && o->places == NULL && o->cycles > 0 && !(below && o->below->cycles > 0);
  return status == CM_OK && other ? refine_other_start(w, best, error) : status;
}

/* What is known before anything is tried: the parts of the effort below, or else the caller's. */
static cm_status take_known(cm_axon_search *w, bool below, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  best->cost = INFINITY;
  if (below)
    return search_below(w, best, error);
  return o->start != NULL ? cm_axon_measure_start(w, o->start, best, error) : CM_OK;
}

/* Growing, which may be told now how cheap it is: parts were not known before the attempts, or have copies. */
static cm_status grow_at_last(cm_axon_search *w, bool known, cm_axon_solution *best, cm_error *error)
{
  bool copies = w->levels.graph[0]->reach_max != 0 && w->options->places == NULL;
  if (!known && !w->grown && cm_axon_grow_where_cheap(w, best->cost, best, error) != CM_OK)
    return error->status;
  return copies && !w->grown ? cm_axon_grow_with_copies(w, best, error) : CM_OK;
}

/* The caller's parts, those of the effort below, grown ones and those of several attempts: the best. */
static cm_status begin(cm_axon_search *w, cm_axon_solution *best, cm_error *error)
{
  const cm_axon_options *o = w->options;
  bool below = o->below != NULL && o->places == NULL && !w->flat && cm_axon_few_pins(w, o->below_pins);
  if (take_known(w, below, best, error) != CM_OK)
    return error->status;
  if (w->flat)
    return cm_axon_fill_flat(w, best, error);
  bool known = !isinf(best->cost), grow = cm_axon_is_for_growing(w, o->dense_pins);
  if (grow && cm_axon_grow_flat(w, 1, 0, best, error) != CM_OK)
    return error->status;
  if (cm_axon_grow_where_cheap(w, 0, best, error) != CM_OK)
    return error->status;
  w->seed = o->seed;
  if (refine_starts(w, below, known, best, error) != CM_OK)
    return error->status;
  bool found = !isinf(best->cost);
  w->refined = found && below && attempts_cost_too_much(w, best->cost);
  if (!w->refined && !(grow && found) && cm_axon_attempts(w, cm_axon_attempts_to_make(w), best, error) != CM_OK)
    return error->status;
  return grow_at_last(w, known, best, error);
}

/* First partitions, then cycles. */
static cm_status search(cm_axon_search *w, const cm_axon_options *options, cm_axon_solution *best, cm_error *error)
{
  cm_axon_options effort = *options;
  const cm_axon_options *o = &effort;
  w->options = o;
  cm_axon_spare_sweeps(&effort, w->levels.topology->pin_count);
  cm_status status = begin(w, best, error);
  if (o->places != NULL && status == CM_OK)
    status = cm_axon_take_places(w, best, error);
  uint32_t vain = 0; /* cycles in a row that did not help */
  bool another = status == CM_OK && w->refined && cm_axon_looks(w, best->cost) <= o->cycle_looks;
  uint32_t cycles = w->flat && o->places == NULL ? 0 : cm_axon_affordable(w, o->cycles + another, o->cycle_pins);
  for (uint32_t i = 1; i <= cycles && status == CM_OK && (w->prices == NULL || vain < VAIN_MOST); i++) {
    double before = best->cost;
    status = cm_axon_cycle(w, i, best, error);
    vain = best->cost < before ? 0 : vain + 1;
  }
  /* As the effort below does alone. */
  bool grow = status == CM_OK && !w->grown && o->below != NULL && cm_axon_is_for_growing(w, o->below->dense_pins);
  return grow ? cm_axon_grow_flat(w, 1, 0, best, error) : status;
}

/* Packed targets take half of the memory, and reading them more time: they are worth it from so many on, or where a limit leaves
 * less than so many bytes for each. */
enum { PACKED_LEAST = 1 << 25, PLAIN_BYTES = 32 };

static bool worth_packing(const cm_topology *topology, const cm_memory *memory)
{
  uint64_t limit = memory != NULL ? memory->limit_bytes : 0;
  return topology->pin_count >= PACKED_LEAST || (limit != 0 && limit / PLAIN_BYTES < topology->pin_count);
}

cm_status cm_partition_axons(const cm_topology *topology, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error)
{
  cm_axon_search w = {.options = options, .run = run};
  cm_axon_solution best = {0};
  uint32_t n = topology->vertex_count;
  bool fill = n > 0 && cm_may_lack_clusters(topology);
  /* Prices and growing on the network look up single targets. */
  bool pack = options->sole_reader && options->places == NULL && !fill && worth_packing(topology, run->memory);
  cm_status status = cm_axon_levels_begin(topology, pack, run, &w.levels, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, best.part, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.scratch, n, error);
  if (status == CM_OK && fill)
    status = cm_lacks_clusters(w.levels.graph[0], run, &w.flat, error);
  if (status == CM_OK && (options->attempts > 1 || options->cycles > 0 || options->start != NULL || options->below != NULL ||
                          options->grow_pins != 0 || options->dense_pins != 0 || w.levels.graph[0]->reach_max != 0 || w.flat))
    status = CM_NEW(run->memory, w.trial, n, error);
  if (status == CM_OK && n > 0)
    status = search(&w, options, &best, error);
  if (status == CM_OK && options->places == NULL)
    status = cm_close_gaps(best.part, n, &best.parts, run, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      part[v] = best.part[w.levels.graph[0]->number[v]];
    *parts = best.parts;
  } else
    *parts = w.needed;
  cm_free(best.part);
  cm_free(w.trial);
  cm_free(w.scratch);
  cm_axon_levels_free(&w.levels);
  return status;
}
