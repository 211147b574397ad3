#include "core/partition/axon/axon.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_search.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/fill.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

/* The slack a level while a dissolved part's members find their place among the others. */
static const double slack_of_dissolving = 0.01;

/* A part is dissolved where the neurons of all fill those that are left to so much at most: parts that are exactly full
 * have nothing to exchange. */
static const double full_most = 0.96;

/* However large the network is, so many sweeps are made on the finest level, and so many on the others: they are cheaper
 * by far. */
enum { SWEEPS_LEAST = 4, COARSE_LEAST = 32 };

/* With places: few sweeps end warmer than many. */
static const double cold_of_few = 0.01, cold_of_many = 0.005;

/* Name the mending of a start and the cycles of starts by their random streams, beside those that are counted. */
enum { START_MENDED = 1 << 16, OTHER_CYCLE, START_CYCLE };

/* With places, the search ends after so many cycles without gain. */
enum { VAIN_MOST = 3 };

/* Whether the neurons leave room in one part fewer: other limits ask for more parts then, and each costs axons. */
static bool spare_part(const cm_axon_search *w, const uint32_t *part, uint32_t parts)
{
  const cm_hypergraph *g = w->levels.graph[0];
  uint64_t size = 0, used = 0;
  memset(w->scratch, 0, parts * sizeof *w->scratch);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    size += g->size[v];
    used += w->scratch[part[v]]++ == 0;
  }
  uint64_t limit = w->options->limits.neurons;
  return used > 1 && (limit == 0 || (double)size <= full_most * (double)(used - 1) * (double)limit);
}

/* Improves a legal partition: coarser levels whose vertices keep to their parts, and down again, every other time with
 * one part fewer: the first time, where there is room for what it holds. Keeps the better one. `trial` [vertices] is overwritten. */
static cm_status cycle(cm_axon_search *w, uint32_t number, uint32_t *part, uint32_t *parts, double *objective,
                       uint32_t *trial, cm_error *error)
{
  uint32_t n = w->levels.graph[0]->vertex_count, count = *parts;
  cm_axon_descent d = {.number = number, .hot = w->options->cycle_hot, .cold = 0.01};
  if (w->prices != NULL) {
    d.hot = 0.03;
    d.cold = w->options->cycle_sweeps > 0 ? cold_of_many : cold_of_few;
    d.bias = 0.3;
  } else if (number % 2 == spare_part(w, part, *parts)) {
    d.dissolve = true;
    d.slack = slack_of_dissolving;
  }
  double reached;
  memcpy(trial, part, n * sizeof *part);
  if (!w->flat && cm_axon_levels_build(&w->levels, w->options, w->seed + number, trial, w->run, error) != CM_OK)
    return error->status;
  cm_status status = cm_axon_descend(w, &d, trial, &count, &reached, error);
  if (status == CM_OK && w->prices != NULL && reached < *objective)
    status = cm_axon_take_places(w, trial, &count, &reached, error);
  if (status == CM_NO_ROOM && w->prices != NULL) /* no core is left for a part that must be split: the cycle was in vain */
    return CM_OK;
  if (status == CM_OK)
    cm_axon_keep_better(w, trial, count, reached, part, parts, objective);
  return status;
}

/* How many of `most` the network's size allows when all together may take so many pins; 0 pins: any. */
static uint32_t affordable(const cm_axon_search *w, uint32_t most, uint64_t pins)
{
  uint64_t each = w->levels.graph[0]->pin_count + 1;
  return pins != 0 && pins / each < most ? (uint32_t)(pins / each) : most;
}

/* Parts that exceed limits by so much of them on average are mended at little cost. */
static const double mended_most = 0.02;

/* Where copies ask for too much, so many limits a part on average are. */
static const double copies_most = 1, mending_heat = 0.01;

/* Parts that leave too little room for copies, brought within the limits by sweeps of the finest level, at the temperature at which these
 * end. No parts where that cannot be. */
static cm_status mend_copies(cm_axon_search *w, uint32_t *part, uint32_t *parts, double *objective, cm_error *error)
{
  cm_anneal_options sweeps = {.sweeps = w->options->fine_sweeps, .hot = mending_heat, .cold = mending_heat};
  cm_status status = cm_axon_sweep_flat(w, START_MENDED, &sweeps, part, parts, objective, error);
  if (status != CM_OK || isinf(*objective))
    *parts = 0;
  return status;
}

/* Parts that the caller knows; where they break a limit by more than is soon mended *objective is INFINITY, and there are none. */
static cm_status measure_start(cm_axon_search *w, const uint32_t *start, uint32_t *part, uint32_t *parts,
                               double *objective, cm_error *error)
{
  cm_hypergraph *g = w->levels.graph[0];
  cm_axon_state *s;
  uint32_t most = w->options->parts_max < g->vertex_count ? w->options->parts_max : g->vertex_count;
  *parts = 0;
  *objective = INFINITY;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    part[g->number[v]] = start[v];
    *parts = start[v] >= *parts ? start[v] + 1 : *parts;
  }
  if (cm_hypergraph_list_inbound(g, w->run, error) != CM_OK ||
      cm_axon_state_new(g, &w->options->limits, NULL, part, *parts, *parts > most ? *parts : most, w->run->threads, w->run, &s, error) != CM_OK)
    return error->status;
  cm_error none = {0};
  cm_status status = CM_OK;
  bool legal = cm_count_overfull(s) == 0, copies = s->copies != NULL;
  s->parts_max = w->options->parts_max;
  if (!legal && !copies && cm_total_excess(s) <= mended_most * *parts) {
    status = cm_repair(s, &none);
    legal = status == CM_OK;
  }
  *parts = s->part_count;
  if (legal && *parts <= w->options->parts_max)
    *objective = cm_axon_cost(s);
  else if (!copies || cm_total_excess(s) > copies_most * *parts)
    *parts = 0;
  cm_axon_state_free(s);
  if (status == CM_OK && *parts > 0 && isinf(*objective))
    return mend_copies(w, part, parts, objective, error);
  if (status != CM_OK && status != CM_NO_ROOM)
    *error = none;
  return status == CM_NO_ROOM ? CM_OK : status;
}

/* The caller's other parts, refined as those that are there have been before the better ones stay. */
static cm_status refine_other_start(cm_axon_search *w, uint32_t *part, uint32_t *parts, double *objective,
                                    uint32_t *trial, cm_error *error)
{
  uint32_t *other, count, n = w->levels.graph[0]->vertex_count;
  double reached;
  if (CM_NEW(w->run->memory, other, n, error) != CM_OK)
    return error->status;
  cm_status status = measure_start(w, w->options->other_start, other, &count, &reached, error);
  if (status == CM_OK && !isinf(reached))
    status = cycle(w, OTHER_CYCLE, other, &count, &reached, trial, error);
  if (status == CM_OK)
    cm_axon_keep_better(w, other, count, reached, part, parts, objective);
  cm_free(other);
  return status;
}

static uint32_t scaled(uint32_t count, double share, uint32_t least)
{
  uint32_t fewer = (uint32_t)lround(count * share);
  return count <= least ? count : fewer > least ? fewer : least;
}

/* So many sweeps, or as many as `most` visits of pins allow; 0: any number. */
static uint32_t sweeps_within(uint32_t sweeps, uint64_t pins, uint64_t most)
{
  double all = (double)pins * sweeps;
  return most != 0 && all > (double)most ? scaled(sweeps, (double)most / all, SWEEPS_LEAST) : sweeps;
}

/* Fewer sweeps and starts for a large network, and less shaping. */
static void spare_sweeps(cm_axon_options *o, uint64_t pins)
{
  double all = (double)pins * o->fine_sweeps;
  o->coarse_sweeps = sweeps_within(o->coarse_sweeps, pins, o->coarse_pins);
  o->deep_sweeps = sweeps_within(o->deep_sweeps, pins, o->deep_pins);
  if (o->shaping_work != 0 && pins != 0)
    o->shaping = fmin(o->shaping, (double)o->shaping_work / (double)pins);
  if (o->sweep_pins == 0 || all <= (double)o->sweep_pins)
    return;
  double share = (double)o->sweep_pins / all;
  o->fine_sweeps = scaled(o->fine_sweeps, share, SWEEPS_LEAST);
  o->coarse_sweeps = scaled(o->coarse_sweeps, share, COARSE_LEAST);
  o->cycle_sweeps = scaled(o->cycle_sweeps, share, SWEEPS_LEAST);
  o->starts = scaled(o->starts, share, 1);
}

static cm_status search(cm_axon_search *w, const cm_axon_options *options, uint32_t *part, uint32_t *parts,
                        double *objective, uint32_t *trial, cm_error *error);

/* What the effort below finds: its own way is not left out for what costs more. */
static cm_status search_below(cm_axon_search *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                              cm_error *error)
{
  const cm_axon_options *o = w->options;
  cm_axon_options below = *o->below;
  below.limits = o->limits;
  below.dense_pins = 0; /* grown parts are full, and cycles find little in them: those go on from levels */
  below.parts_max = o->parts_max;
  below.seed = o->seed;
  below.start = o->start;
  below.other_start = o->other_start;
  cm_status status = search(w, &below, part, parts, objective, trial, error);
  w->options = o;
  if (status != CM_NO_ROOM)
    return status;
  *objective = INFINITY;
  return CM_OK;
}

/* Visits of all vertices look at so many pins, each in as many parts as its axon reaches. */
static double looks(const cm_axon_search *w, double objective)
{
  return (double)w->levels.graph[0]->pin_count * (1 + cm_axon_reached_parts(w, objective));
}

/* Whether what the effort below has found is to be refined in place of attempts. */
static bool attempts_cost_too_much(const cm_axon_search *w, double objective)
{
  const cm_axon_options *o = w->options;
  return o->below != NULL && !cm_axon_few_pins(w, o->own_pins) && looks(w, objective) > o->own_looks;
}

/* Where sources have copies, the least effort tries how much room parts need: on networks of up to so many pins, an attempt each. */
enum { FILLS_PINS = 1 << 20 };

static uint32_t attempts_to_make(const cm_axon_search *w)
{
  const cm_axon_options *o = w->options;
  uint32_t attempts = affordable(w, o->attempts, o->attempt_pins), fills = affordable(w, CM_AXON_FILLS, FILLS_PINS);
  if (w->levels.graph[0]->reach_most != 0 && o->below == NULL && fills > attempts)
    attempts = fills;
  return attempts > 1 ? attempts : 1;
}

/* The caller's starts, refined as attempts are before one is chosen. `below`: the effort below is made, with the first of them;
 * `known`: there is a legal partition of the caller's or of that effort. */
static cm_status refine_starts(cm_axon_search *w, bool below, bool known, uint32_t *part, uint32_t *parts, double *objective,
                               uint32_t *trial, cm_error *error)
{
  const cm_axon_options *o = w->options;
  cm_status status = CM_OK;
  if (!below && known && o->places == NULL && looks(w, *objective) <= o->cycle_looks)
    status = cycle(w, START_CYCLE, part, parts, objective, trial, error);
  bool other = o->other_start != NULL && o->places == NULL && o->cycles > 0 && !(below && o->below->cycles > 0);
  return status == CM_OK && other ? refine_other_start(w, part, parts, objective, trial, error) : status;
}

/* The caller's parts, those of the effort below and of several attempts: the best. */
static cm_status begin(cm_axon_search *w, uint32_t *part, uint32_t *parts, double *objective, uint32_t *trial,
                       cm_error *error)
{
  const cm_axon_options *o = w->options;
  bool below = o->below != NULL && o->places == NULL && !w->flat && cm_axon_few_pins(w, o->below_pins);
  *objective = INFINITY;
  cm_status status = below              ? search_below(w, part, parts, objective, trial, error)
                     : o->start != NULL ? measure_start(w, o->start, part, parts, objective, error)
                                        : CM_OK;
  if (status == CM_OK && w->flat)
    return cm_axon_fill_flat(w, part, parts, objective, trial, error);
  bool known = !isinf(*objective), grown = status == CM_OK && cm_axon_is_for_growing(w, o->dense_pins);
  if (grown)
    status = cm_axon_grow_flat(w, 1, 0, part, parts, objective, trial, error);
  if (status == CM_OK)
    status = cm_axon_grow_where_cheap(w, 0, part, parts, objective, trial, error);
  w->seed = o->seed;
  if (status == CM_OK)
    status = refine_starts(w, below, known, part, parts, objective, trial, error);
  bool found = !isinf(*objective);
  w->refined = found && below && attempts_cost_too_much(w, *objective);
  if (status == CM_OK && !w->refined && !(grown && found))
    status = cm_axon_attempts(w, attempts_to_make(w), part, parts, objective, trial, error);
  if (status == CM_OK && !known && !w->grown) /* now it is known how cheap growing is */
    status = cm_axon_grow_where_cheap(w, *objective, part, parts, objective, trial, error);
  bool copies = w->levels.graph[0]->reach_most != 0 && o->places == NULL;
  if (status == CM_OK && copies && !w->grown)
    return cm_axon_grow_with_copies(w, part, parts, objective, trial, error);
  return status;
}

/* First partitions, then cycles. */
static cm_status search(cm_axon_search *w, const cm_axon_options *options, uint32_t *part, uint32_t *parts,
                        double *objective, uint32_t *trial, cm_error *error)
{
  cm_axon_options effort = *options;
  const cm_axon_options *o = &effort;
  double reached;
  w->options = o;
  spare_sweeps(&effort, w->levels.topology->pin_count);
  cm_status status = begin(w, part, parts, objective, trial, error);
  if (o->places != NULL && status == CM_OK)
    status = cm_axon_take_places(w, part, parts, objective, error);
  uint32_t vain = 0; /* cycles in a row that did not help */
  bool another = status == CM_OK && w->refined && looks(w, *objective) <= o->cycle_looks;
  uint32_t cycles = w->flat && o->places == NULL ? 0 : affordable(w, o->cycles + another, o->cycle_pins);
  for (uint32_t i = 1; i <= cycles && status == CM_OK && (w->prices == NULL || vain < VAIN_MOST); i++) {
    reached = *objective;
    status = cycle(w, i, part, parts, objective, trial, error);
    vain = *objective < reached ? 0 : vain + 1;
  }
  /* As the effort below does alone. */
  bool grow = status == CM_OK && !w->grown && o->below != NULL && cm_axon_is_for_growing(w, o->below->dense_pins);
  return grow ? cm_axon_grow_flat(w, 1, 0, part, parts, objective, trial, error) : status;
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
  uint32_t *held = NULL, *trial = NULL, count = 0, n = topology->vertex_count;
  double objective;
  bool fill = options->fills > 0 && n > 0 && cm_fill_possible(topology);
  /* Prices and growing on the network look up single targets. */
  bool pack = options->sole_reader && options->places == NULL && !fill && worth_packing(topology, run->memory);
  cm_status status = cm_axon_levels_begin(topology, pack, run, &w.levels, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, held, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.scratch, n, error);
  if (status == CM_OK && fill)
    status = cm_fill_suits(w.levels.graph[0], run, &w.flat, error);
  if (status == CM_OK && (options->attempts > 1 || options->cycles > 0 || options->start != NULL || options->below != NULL || options->grow_pins != 0 ||
                         options->dense_pins != 0 || w.levels.graph[0]->reach_most != 0 || w.flat))
    status = CM_NEW(run->memory, trial, n, error);
  if (status == CM_OK && n > 0)
    status = search(&w, options, held, &count, &objective, trial, error);
  if (status == CM_OK && options->places == NULL)
    status = cm_close_gaps(held, n, &count, run, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      part[v] = held[w.levels.graph[0]->number[v]];
    *parts = count;
  } else
    *parts = w.needed;
  cm_free(held);
  cm_free(trial);
  cm_free(w.scratch);
  cm_axon_levels_free(&w.levels);
  return status;
}
