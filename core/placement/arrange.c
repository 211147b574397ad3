#include "core/placement/arrange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/placement/blocks.h"
#include "core/placement/qap/qap.h"
#include "core/placement/relief/relief.h"
#include "core/placement/ways/mode_layout.h"
#include "core/placement/ways/ways.h"

/* Placements to choose from by their loads. */
enum { POOL = 64 };

/* Bookings a flow and member of the population beyond which few parts are not relieved further. */
static const double relief_enough = 2000;

/* Of more parts, as a core a neuron makes them, what a descent looks at is bounded in any case, not only the sweeps of its finest
 * level. */
enum { MANY = 1 << 15 };

/* The least sweeps for each of a population; with fewer it is a smaller one. */
enum { SWEEPS_MIN = 30, SWEEPS_EACH = 80, SWEEPS_ALONE = 120 };

static cm_qap_options divide(const cm_arrange_budget *b, const cm_axes *axes, uint64_t seed)
{
  uint32_t population = b->population;
  double sweeps = fmin(b->looks / fmax(cm_qap_sweep_work(axes), 1), b->sweeps_max);
  while (population > 1 && sweeps / population < SWEEPS_EACH)
    population /= 2;
  if (b->alone && sweeps < cm_qap_sweeps_max(axes->count)) {
    population = 1;
    sweeps = fmax(sweeps, SWEEPS_ALONE);
  }
  return cm_qap_divide(fmax(sweeps, SWEEPS_MIN), population, axes->count, seed);
}

/* What one run holds. */
typedef struct work {
  const cm_graph *parts;
  cm_place_task task;
  const cm_arrange_options *options;
  const cm_arrange_budget *budget;
  uint32_t *at, *annealed; /* [parts] */
  cm_qap_pool pool;
  cm_arrange_result result;
} work;

/* Few parts, which are annealed as well, with as little effort as begins with a layout. */
static cm_status arrange_by_blocks(work *w, bool few, cm_error *error)
{
  const cm_arrange_budget *b = w->budget;
  double paid = b->block_entries / ((double)w->parts->entry_count + 1);
  cm_blocks_options options = {.sweeps = few ? CM_LAYOUT_LOOKS : fmin(fmax(paid, b->block_sweeps_min), b->block_sweeps_max),
                               .cycles = few ? 0 : b->block_cycles,
                               .entries = w->parts->vertex_count > MANY ? b->many_entries : b->descent_entries};
  cm_blocks_result made;
  CM_TRY(cm_place_by_blocks(w->parts, &w->task, &options, w->at, &made, error));
  w->result = (cm_arrange_result){.method = "blocks and exchanges", .curve = made.curve, .refined = made.cost};
  return CM_OK;
}

/* Among all that was annealed, and what is near the best of it. */
static cm_status relieve(work *w, cm_error *error)
{
  cm_loads *loads;
  const cm_flows *flows = w->options->flows;
  double enough = relief_enough * w->budget->population * (double)(flows->first[flows->parts] + flows->parts);
  cm_relief_result made;
  CM_TRY(cm_loads_new(flows, &w->task, &loads, error));
  if (loads == NULL)
    return CM_OK;
  cm_relief_options options = {.loads = loads, .others = &w->pool, .work = fmin(w->budget->relief, enough)};
  cm_status status = cm_relieve(w->parts, &w->task, &options, w->at, &made, error);
  cm_loads_free(loads);
  CM_TRY(status);
  w->result.refined = made.cost;
  w->result.least = made.least;
  w->result.relieved = true;
  w->result.busiest_before = made.before;
  w->result.busiest = made.highest;
  return CM_OK;
}

static cm_status anneal(work *w, cm_error *error)
{
  uint32_t n = w->parts->vertex_count;
  cm_qap_options options = divide(w->budget, w->task.axes, w->task.seed);
  if (w->options->flows != NULL) {
    w->pool.most = POOL;
    options.pool = &w->pool;
    CM_TRY(CM_NEW_ALL(w->task.run->memory, error, CM_ARRAY(w->pool.at, (size_t)POOL * n), CM_ARRAY(w->pool.cost, POOL)));
  }
  cm_run_phase(w->task.run, "anneal");
  CM_TRY(cm_place_by_annealing(w->parts, w->task.axes, &options, w->task.run, w->annealed, error));
  const uint64_t cost = cm_axes_cost(w->parts, w->task.axes, w->annealed);
  if (cost < w->result.refined) {
    memcpy(w->at, w->annealed, n * sizeof *w->at);
    w->result.method = "annealing";
    w->result.refined = cost;
  }
  return w->options->flows != NULL ? relieve(w, error) : CM_OK;
}

static cm_way_options way_options(const cm_graph *parts, const cm_arrange_budget *b)
{
  double sweep = 2 * (double)parts->entry_count + 4.0 * parts->vertex_count;
  return (cm_way_options){.entries = fmin(b->way_entries, b->way_sweeps * sweep), .layout = 0.25};
}

/* On any other interconnect than a plain mesh or torus. */
static cm_status arrange_by_ways(work *w, cm_error *error)
{
  cm_way_options options = way_options(w->parts, w->budget);
  cm_way_result made;
  CM_TRY(cm_place_by_ways(w->parts, &w->task, &options, w->at, &made, error));
  w->result = (cm_arrange_result){.method = "blocks by ways", .curve = made.before, .refined = made.after, .swaps = made.moves};
  return CM_OK;
}

static cm_status arrange_on_axes(work *w, cm_error *error)
{
  const cm_arrange_budget *b = w->budget;
  const bool few = b->few != 0 && w->task.axes->count <= b->few;
  CM_TRY(arrange_by_blocks(w, few, error));
  return few ? anneal(w, error) : CM_OK;
}

static cm_status arrange_by_axes(work *w, cm_error *error)
{
  const cm_region *region = w->task.region;
  cm_axes *axes;
  CM_TRY(cm_axes_new(w->task.chip, region->cores, region->core_count, w->task.run, &axes, error));
  w->task.axes = axes;
  cm_status status = arrange_on_axes(w, error);
  cm_axes_free(axes);
  return status;
}

cm_status cm_arrange(const cm_graph *parts, const cm_place_task *task, const cm_arrange_options *options, uint32_t *core,
                     cm_arrange_result *result, cm_error *error)
{
  work w = {.parts = parts, .task = *task, .options = options, .budget = options->budget};
  const cm_region *region = task->region;
  cm_memory *memory = task->run->memory;
  static cm_status (*const arrange[CM_GEOMETRIES])(work *w, cm_error *error) = {arrange_by_axes, arrange_by_ways};
  if (region->core_count < parts->vertex_count)
    return cm_fail(error, CM_INTERNAL, "a region of %u cores for %u parts", region->core_count, parts->vertex_count);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(w.at, parts->vertex_count), CM_ARRAY(w.annealed, parts->vertex_count));
  if (status == CM_OK)
    status = arrange[cm_geometry_of(task->chip)](&w, error);
  if (status == CM_OK) {
    for (uint32_t p = 0; p < parts->vertex_count; p++)
      core[p] = region->cores[w.at[p]];
    *result = w.result;
  }
  CM_FREE(w.at, w.annealed, w.pool.at, w.pool.cost);
  return status;
}

cm_status cm_arrange_again(const cm_graph *parts, const cm_place_task *task, const cm_arrange_budget *budget, uint32_t *core,
                           cm_error *error)
{
  const cm_region *r = task->region;
  cm_way_options options = way_options(parts, budget);
  cm_way_result made;
  uint32_t *at;
  if (cm_geometry_of(task->chip) == CM_BY_AXES)
    return CM_OK;
  CM_TRY(CM_NEW(task->run->memory, at, parts->vertex_count, error));
  for (uint32_t p = 0; p < parts->vertex_count; p++)
    at[p] = (uint32_t)((const uint32_t *)bsearch(&core[p], r->cores, r->core_count, sizeof *r->cores, cm_ascending) - r->cores);
  options.refines = true;
  cm_status status = cm_place_by_ways(parts, task, &options, at, &made, error);
  for (uint32_t p = 0; p < parts->vertex_count && status == CM_OK; p++)
    core[p] = r->cores[at[p]];
  cm_free(at);
  return status;
}
