/* The integrated mapper for objective axon: parts on their cores are coarsened and refined again under all core limits
 * (core/partition/axon/axon.h), told what the way to every core costs. Here parts get better cores in between: the placement engine. */
#include "core/solver/mappers/mesh_axons.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/dense.h"
#include "core/partition/flows.h"
#include "core/placement/axis_prices.h"
#include "core/placement/placement.h"
#include "core/placement/qap/qap.h"
#include "core/placement/swaps.h"
#include "core/solver/mappers/kept.h"
#include "core/solver/presets.h"

enum { SWAP_ROUNDS = 20 };

/* Work of placing parts again that have moved a little, in looks at pairs of cores. */
static const double work_again = 3e8;

typedef struct ground {
  const cm_candidate *from;
  const cm_mesh_axons_effort *effort;
  const cm_region *region;
  cm_run *run;
  cm_axes *axes;
  cm_prices prices;
} ground;

static void leave_ground(ground *g)
{
  cm_axes_free(g->axes);
  CM_FREE(g->prices.dx, g->prices.dy);
}

/* The number of a core among the region's, which are ascending. */
static uint32_t number_of(const cm_region *region, uint32_t core)
{
  uint32_t low = 0, high = region->core_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (region->cores[middle] < core)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The placement engine, from scratch; at [cores] gets numbers of cores in the region. */
static cm_status arrange(ground *g, const cm_graph *graph, uint32_t *at, cm_error *error)
{
  const cm_map_input *input = g->from->input;
  cm_place_task task = {.chip = input->chip, .region = g->region, .seed = input->options->placement_seed, .run = g->run};
  cm_arrange_result made;
  cm_arrange_options options = {.budget = g->effort->last};
  cm_status status = cm_arrange(graph, &task, &options, at, &made, error);
  for (uint32_t p = 0; p < graph->vertex_count && status == CM_OK; p++)
    at[p] = number_of(g->region, at[p]);
  return status;
}

/* Where the parts are, and what the ways between the cores cost. */
static cm_status place(void *context, CM_UNUSED const uint32_t *part, uint32_t parts, uint32_t *at, const cm_prices **prices,
                       cm_error *error)
{
  ground *g = context;
  if (parts != g->from->partition->part_count)
    return cm_fail(error, CM_NO_ROOM, "%u parts were to go on, of %u", parts, g->from->partition->part_count);
  CM_TRY(cm_axes_new(g->from->input->chip, g->region->cores, g->region->core_count, g->run, &g->axes, error));
  CM_TRY(cm_axes_prices(g->axes, g->from->input->demand, g->run->memory, &g->prices, error));
  for (uint32_t p = 0; p < parts; p++)
    at[p] = number_of(g->region, g->from->places.core[p]);
  *prices = &g->prices;
  return CM_OK;
}

/* Improves where parts are, who are named by their cores in `at` [cores] at first: annealed from a low temperature, or
 * by swaps where there are many. */
static cm_status improve(ground *g, const cm_graph *graph, uint32_t *at, cm_error *error)
{
  const cm_map_input *input = g->from->input;
  uint32_t cores = g->axes->count;
  cm_place_task task = {.chip = input->chip, .region = g->region, .axes = g->axes, .run = g->run};
  cm_swaps_result swapped;
  if (cores > CM_QAP_CORES_MAX)
    return cm_place_by_swaps(graph, &task, SWAP_ROUNDS, at, &swapped, error);
  double sweeps = work_again / fmax(cm_qap_sweep_work(g->axes), 1);
  cm_qap_options options = {.population = 1,
                            .sweeps = (uint32_t)fmin(fmax(sweeps, 4), 400),
                            .start = at,
                            .seed = input->options->placement_seed};
  return cm_place_by_annealing(graph, g->axes, &options, g->run, at, error);
}

/* at [cores] gets a core for each, which costs no more in all than where they are: from scratch, or from there. */
static cm_status arrange_again(ground *g, const uint32_t *part, bool afresh, uint32_t *at, cm_error *error)
{
  cm_graph *graph;
  uint32_t *stay, cores = g->region->core_count;
  CM_TRY(CM_NEW(g->run->memory, stay, cores, error));
  for (uint32_t c = 0; c < cores; c++)
    at[c] = stay[c] = c;
  cm_status status = cm_graph_of_axons(g->from->input->demand, part, cores, g->run, &graph, error);
  if (status == CM_OK) {
    status = afresh ? arrange(g, graph, at, error) : improve(g, graph, at, error);
    if (status == CM_OK && cm_axes_cost(graph, g->axes, at) >= cm_axes_cost(graph, g->axes, stay))
      memcpy(at, stay, cores * sizeof *at);
    cm_graph_free(graph);
  }
  cm_free(stay);
  return status;
}

static cm_status rearrange(void *context, const uint32_t *part, uint32_t *at, cm_error *error)
{
  return arrange_again(context, part, false, at, error);
}

/* Once more, for the parts that stay. */
static cm_status arrange_at_last(ground *g, uint32_t *part, uint32_t vertices, cm_error *error)
{
  uint32_t *at;
  CM_TRY(CM_NEW(g->run->memory, at, g->region->core_count, error));
  cm_status status = arrange_again(g, part, true, at, error);
  for (uint32_t v = 0; v < vertices && status == CM_OK; v++)
    part[v] = at[part[v]];
  cm_free(at);
  return status;
}

static cm_status refine(ground *g, const cm_engine_task *task, uint32_t *part, cm_error *error)
{
  cm_axon_options options = cm_engine_axon_options(task);
  cm_axon_places places = {g, place, rearrange};
  uint32_t parts;
  options.places = &places;
  options.cycles = g->effort->cycles;
  options.vain = g->effort->vain;
  options.work = options.cycle_pins = g->effort->cycle_pins;
  options.start = g->from->partition->part;
  CM_TRY(cm_partition_axons(task->input->demand, &options, g->run, part, &parts, error));
  return g->effort->last != NULL ? arrange_at_last(g, part, g->from->partition->vertex_count, error) : CM_OK;
}

/* The same parts on the same cores come to one result on regions of one shape, wherever these lie. */
static cm_status look_up_or_refine(ground *g, const cm_engine_task *task, uint32_t *part, double *saved, cm_error *error)
{
  static const cm_engine method = {.name = "axons on the mesh", .places = true};
  const cm_partition *start = g->from->partition;
  cm_region *region = (cm_region *)g->region;
  cm_attempt attempt = {0};
  cm_kept kept;
  uint32_t *at;
  CM_TRY(CM_NEW(g->run->memory, at, start->part_count, error));
  for (uint32_t p = 0; p < start->part_count; p++)
    at[p] = number_of(region, g->from->places.core[p]);
  cm_status status = cm_kept_begin(&method, task, &kept, error);
  CM_THEN(status, cm_kept_on(&kept, &region, 1, g->run, error));
  if (status == CM_OK) {
    cm_kept_from(&kept, start->part, start->vertex_count);
    cm_kept_from(&kept, at, start->part_count);
  }
  cm_free(at);
  bool sound = status == CM_OK && cm_kept_find(&kept, part, start->vertex_count, &attempt);
  for (uint32_t v = 0; sound && v < start->vertex_count; v++)
    sound = part[v] < region->core_count;
  *saved = sound ? attempt.saved_seconds : 0;
  if (status != CM_OK || sound)
    return status;
  status = refine(g, task, part, error);
  if (status == CM_OK)
    cm_kept_keep(&kept, part, start->vertex_count, &attempt);
  return status;
}

bool cm_refines_axons_on_mesh(const cm_candidate *from)
{
  const cm_mesh_axons_effort *effort = &cm_effort_of(from->input->options)->axons_on_mesh;
  const cm_demand *demand = from->input->demand;
  return from->partition->part_count > 1 && demand->network->pin_count <= effort->cycle_pins && !cm_dense_suits(demand);
}

cm_status cm_refine_axons_on_mesh(const cm_candidate *from, const cm_limits *limits, const cm_region *region, cm_run *run,
                                  cm_partition **partition, double *saved, cm_error *error)
{
  ground g = {.from = from, .effort = &cm_effort_of(from->input->options)->axons_on_mesh, .region = region, .run = run};
  cm_engine_task task = {.input = from->input, .limits = *limits, .parts_max = region->core_count};
  cm_partition *made;
  if (task.limits.neurons == 0)
    task.limits.neurons = from->input->demand->size_total;
  CM_TRY(cm_partition_new(from->partition->vertex_count, run, &made, error));
  cm_status status = look_up_or_refine(&g, &task, made->part, saved, error);
  CM_THEN(status, cm_name_cores(region, run, made, error));
  leave_ground(&g);
  CM_END(status, *partition = made, cm_partition_free(made));
}
