/* The integrated mapper for objective axon: the search under all core limits (core/partition/axon/axon.h), told what the way to
 * every core costs. Here parts get their cores: a region a little larger than they need, and the placement engine. */
#include <math.h>
#include <string.h>

#include "core/partition/axon/dense.h"
#include "core/partition/flows.h"
#include "core/placement/placement.h"
#include "core/placement/qap/qap.h"
#include "core/placement/swaps.h"
#include "core/solver/mappers/kept.h"
#include "core/solver/presets.h"

enum { REGIONS_MAX = 64, SWAP_ROUNDS = 20 };

/* Work of placing parts again that have moved a little, in looks at pairs of cores. */
static const double work_again = 3e8;

/* Prices have so many units a hop, and at most so many in all. */
static const double units_per_hop = 64, price_most = 1 << 16, sum_most = 0x1p61;

typedef struct ground {
  const cm_engine_task *task;
  const cm_mesh_axons_effort *effort;
  cm_run *run;
  cm_region *region;
  cm_axes *axes;
  cm_prices prices;
  uint32_t regions, chosen; /* compared, and the one taken */
  uint32_t asked;           /* cores of a region */
  cm_kept first, on;        /* what the cache has of the task: how many cores it asks for, and its parts on such regions */
} ground;

static uint32_t most_of(const uint32_t *value, size_t count)
{
  uint32_t most = 0;
  for (size_t i = 0; i < count; i++)
    most = value[i] > most ? value[i] : most;
  return most;
}

/* What all axons carry, in the 32 bits that the search gives each. */
static double weight_of(const cm_demand *demand)
{
  const cm_topology *t = demand->network;
  double sum = 0, most = 0;
  for (uint32_t e = 0; demand->net_weight != NULL && e < t->net_count; e++) {
    sum += (double)demand->net_weight[e];
    most = fmax(most, (double)demand->net_weight[e]);
  }
  return demand->net_weight == NULL ? t->net_count : most > UINT32_MAX ? sum * (UINT32_MAX / most) : sum;
}

/* Distances in units of prices: so fine that the first router counts too, so coarse that sums stay within 64 bits. */
static cm_status set_prices(ground *g, cm_error *error)
{
  cm_axes *a = g->axes;
  cm_prices *p = &g->prices;
  cm_memory *memory = g->run->memory;
  size_t dx = (size_t)a->columns * a->columns, dy = (size_t)a->rows * a->rows;
  double farthest = a->base + most_of(a->dx, dx) + most_of(a->dy, dy);
  double scale = fmin(units_per_hop / a->units_per_hop, price_most / farthest);
  scale = fmin(scale, sum_most / farthest / fmax(weight_of(g->task->input->demand), 1));
  *p = (cm_prices){.parts = a->count, .columns = a->columns, .rows = a->rows, .column = a->column, .row = a->row};
  p->base = (uint32_t)fmax(round(a->base * scale), 1);
  if (CM_NEW(memory, p->dx, dx, error) != CM_OK || CM_NEW(memory, p->dy, dy, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < dx; i++)
    p->dx[i] = (uint32_t)lround(a->dx[i] * scale);
  for (size_t i = 0; i < dy; i++)
    p->dy[i] = (uint32_t)lround(a->dy[i] * scale);
  return CM_OK;
}

static void leave_ground(ground *g)
{
  cm_region_free(g->region);
  cm_axes_free(g->axes);
  cm_free(g->prices.dx);
  cm_free(g->prices.dy);
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

/* The placement engine on a region; at [parts] gets numbers of cores in it. */
static cm_status arrange(ground *g, const cm_region *region, const cm_graph *parts, const cm_arrange_budget *budget, uint32_t *at,
                         double *energy, cm_error *error)
{
  const cm_chip *chip = g->task->input->chip;
  cm_place_task task = {.chip = chip, .region = region, .seed = g->task->input->options->placement_seed, .run = g->run};
  cm_arrange_result made;
  cm_arrange_options options = {.budget = budget};
  cm_status status = cm_arrange(parts, &task, &options, at, &made, error);
  if (status == CM_OK)
    *energy = cm_placement_energy(parts, chip, at);
  for (uint32_t p = 0; p < parts->vertex_count && status == CM_OK; p++)
    at[p] = number_of(region, at[p]);
  return status;
}

/* Candidates of g->asked cores; the key of what is kept of them. */
static cm_status find_regions(ground *g, cm_region *candidate[REGIONS_MAX], cm_error *error)
{
  const cm_map_input *input = g->task->input;
  uint32_t most = input->options->regions > 0 ? (uint32_t)input->options->regions : 1;
  if (cm_region_candidates(input->chip, input->occupancy, g->asked, most, g->run, candidate, &g->regions, error) != CM_OK)
    return error->status;
  g->on = g->first;
  cm_status status = cm_kept_on(&g->on, candidate, g->regions, g->run, error);
  if (status != CM_OK)
    for (uint32_t i = 0; i < g->regions; i++)
      cm_region_free(candidate[i]);
  return status;
}

static void take_region(ground *g, cm_region *candidate[REGIONS_MAX], bool any)
{
  for (uint32_t i = 0; i < g->regions; i++)
    if (any && i == g->chosen)
      g->region = candidate[i];
    else
      cm_region_free(candidate[i]);
}

/* The parts on the candidate regions, which have some cores more for parts that will be split; the region where they
 * cost least energy is taken, the earlier of equals. */
static cm_status compare_regions(ground *g, const cm_graph *parts, uint32_t *at, cm_error *error)
{
  cm_region *candidate[REGIONS_MAX] = {NULL};
  uint32_t *tried, count = parts->vertex_count, cores = count + count / 16;
  double least = INFINITY, energy;
  cores = cores < g->task->parts_max ? cores : g->task->parts_max;
  g->asked = cores > count ? cores : count;
  cm_run_phase(g->run, "region");
  if (find_regions(g, candidate, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(g->run->memory, tried, count, error);
  for (uint32_t i = 0; i < g->regions && status == CM_OK; i++) {
    status = arrange(g, candidate[i], parts, g->effort->compared, tried, &energy, error);
    if (status != CM_OK || energy >= least)
      continue;
    least = energy;
    g->chosen = i;
    memcpy(at, tried, count * sizeof *at);
  }
  take_region(g, candidate, status == CM_OK);
  cm_free(tried);
  return status;
}

static cm_status place(void *context, const uint32_t *part, uint32_t parts, uint32_t *at, const cm_prices **prices,
                       cm_error *error)
{
  ground *g = context;
  const cm_map_input *input = g->task->input;
  cm_graph *graph;
  if (cm_graph_of_axons(input->demand, part, parts, g->run, &graph, error) != CM_OK)
    return error->status;
  cm_status status = compare_regions(g, graph, at, error);
  if (status == CM_OK)
    status = cm_axes_new(input->chip, g->region->cores, g->region->core_count, g->run, &g->axes, error);
  if (status == CM_OK)
    status = set_prices(g, error);
  if (status == CM_OK)
    *prices = &g->prices;
  cm_graph_free(graph);
  return status;
}

/* Improves where parts are, who are named by their cores in `at` [cores] at first: annealed from a low temperature, or
 * by swaps where there are many. */
static cm_status improve(ground *g, const cm_graph *graph, uint32_t *at, cm_error *error)
{
  const cm_map_input *input = g->task->input;
  uint32_t cores = g->axes->count;
  uint64_t cost;
  cm_place_task task = {.chip = input->chip, .region = g->region, .axes = g->axes, .run = g->run};
  cm_swaps_result swapped;
  if (cores > CM_QAP_CORES_MAX)
    return cm_place_by_swaps(graph, &task, SWAP_ROUNDS, at, &swapped, error);
  double sweeps = work_again / fmax(cm_qap_sweep_work(g->axes), 1);
  cm_qap_options options = {.population = 1,
                            .sweeps = (uint32_t)fmin(fmax(sweeps, 4), 400),
                            .start = at,
                            .seed = input->options->placement_seed};
  return cm_place_by_annealing(graph, g->axes, &options, g->run, at, &cost, error);
}

/* at [cores] gets a core for each, which costs no more in all than where they are: from scratch within a budget, NULL: from there. */
static cm_status arrange_again(ground *g, const uint32_t *part, const cm_arrange_budget *budget, uint32_t *at, cm_error *error)
{
  cm_graph *graph;
  double energy;
  uint32_t *stay, cores = g->region->core_count;
  if (CM_NEW(g->run->memory, stay, cores, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < cores; c++)
    at[c] = stay[c] = c;
  cm_status status = cm_graph_of_axons(g->task->input->demand, part, cores, g->run, &graph, error);
  if (status == CM_OK) {
    status = budget != NULL ? arrange(g, g->region, graph, budget, at, &energy, error) : improve(g, graph, at, error);
    if (status == CM_OK && cm_axes_cost(graph, g->axes, at) >= cm_axes_cost(graph, g->axes, stay))
      memcpy(at, stay, cores * sizeof *at);
    cm_graph_free(graph);
  }
  cm_free(stay);
  return status;
}

static cm_status rearrange(void *context, const uint32_t *part, uint32_t *at, cm_error *error)
{
  return arrange_again(context, part, NULL, at, error);
}

/* Once more, for the parts that stay. */
static cm_status arrange_at_last(ground *g, uint32_t *part, uint32_t vertices, cm_error *error)
{
  uint32_t *at;
  if (CM_NEW(g->run->memory, at, g->region->core_count, error) != CM_OK)
    return error->status;
  cm_status status = arrange_again(g, part, g->effort->last, at, error);
  for (uint32_t v = 0; v < vertices && status == CM_OK; v++)
    part[v] = at[part[v]];
  cm_free(at);
  return status;
}

static cm_status partition(ground *g, cm_attempt *attempt, cm_partition *made, cm_error *error)
{
  const cm_engine_task *task = g->task;
  cm_axon_options options = cm_engine_axon_options(task);
  cm_axon_places places = {g, place, rearrange};
  cm_partition *start;
  options.places = &places;
  options.cycles = g->effort->cycles;
  options.work = g->effort->cycle_pins;
  if (cm_engine_axon_start(task, g->run, &start, error) != CM_OK)
    return error->status;
  options.start = start != NULL ? start->part : NULL;
  cm_status status = cm_partition_axons(task->input->demand, &options, g->run, made->part, &made->part_count, error);
  attempt->parts = made->part_count;
  cm_partition_free(start);
  if (status == CM_OK && made->vertex_count > 0 && g->effort->last != NULL)
    status = arrange_at_last(g, made->part, made->vertex_count, error);
  return status;
}

/* ---- what is kept ---- */

/* The region that was taken, and the core of each vertex in it; whether no number is beyond. */
static bool take_kept(ground *g, const uint32_t *number, cm_region *const *candidate, cm_partition *made)
{
  bool sound = number[0] < g->regions;
  for (uint32_t v = 0; sound && v < made->vertex_count; v++)
    sound = number[v + 1] < candidate[number[0]]->core_count;
  if (sound) {
    g->chosen = number[0];
    memcpy(made->part, number + 1, made->vertex_count * sizeof *made->part);
  }
  return sound;
}

/* A task asks for as many cores on every part of the chip, and on regions of one shape it comes to one result. *found: it is kept. */
static cm_status look_up(ground *g, uint32_t *number, cm_attempt *attempt, cm_partition *made, bool *found, cm_error *error)
{
  cm_region *candidate[REGIONS_MAX] = {NULL};
  if (!cm_kept_find(&g->first, &g->asked, 1, attempt))
    return CM_OK;
  cm_status status = find_regions(g, candidate, error);
  if (status != CM_OK)
    return status;
  *found = cm_kept_find(&g->on, number, (uint64_t)made->vertex_count + 1, attempt) && take_kept(g, number, candidate, made);
  take_region(g, candidate, *found);
  return CM_OK;
}

static cm_status look_up_or_partition(ground *g, cm_attempt *attempt, cm_partition *made, cm_error *error)
{
  const cm_attempt fresh = *attempt;
  uint32_t *number;
  bool found = false;
  if (cm_kept_begin(&cm_engine_mesh_axons, g->task, &g->first, error) != CM_OK)
    return error->status;
  if (g->first.key[0] == '\0')
    return partition(g, attempt, made, error);
  if (CM_NEW(g->run->memory, number, (size_t)made->vertex_count + 1, error) != CM_OK)
    return error->status;
  cm_status status = look_up(g, number, attempt, made, &found, error);
  if (status == CM_OK && !found) {
    *attempt = fresh;
    status = partition(g, attempt, made, error);
    if (status == CM_OK && g->region != NULL) {
      number[0] = g->chosen;
      memcpy(number + 1, made->part, made->vertex_count * sizeof *number);
      cm_kept_keep(&g->first, &g->asked, 1, attempt);
      cm_kept_keep(&g->on, number, (uint64_t)made->vertex_count + 1, attempt);
    }
  }
  cm_free(number);
  return status;
}

static cm_status by_axons_on_mesh(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **result,
                                  cm_error *error)
{
  /* As if there were cores without end, there is no place for them; networks without levels are refined nowhere, and
   * their parts are placed when they are made. */
  if (task->parts_max == UINT32_MAX || cm_dense_suits(task->input->demand))
    return cm_partition_or_kept(&cm_engine_axons, task, run, attempt, result, error);
  ground g = {.task = task, .effort = &cm_effort_of(task->input->options)->axons_on_mesh, .run = run};
  cm_partition *made;
  if (cm_partition_new(task->input->demand->network->vertex_count, run, &made, error) != CM_OK)
    return error->status;
  cm_status status = look_up_or_partition(&g, attempt, made, error);
  if (status == CM_OK && made->vertex_count > 0)
    status = cm_name_cores(g.region, run, made, error);
  made->regions = g.regions;
  made->region_chosen = g.chosen;
  leave_ground(&g);
  if (status != CM_OK) {
    cm_partition_free(made);
    return status;
  }
  *result = made;
  return CM_OK;
}

static uint64_t axon_bytes(const cm_engine_task *task)
{
  return cm_engine_axons.least_bytes(task);
}

static uint64_t axon_hot_bytes(const cm_engine_task *task)
{
  return cm_engine_axons.hot_bytes(task);
}

const cm_engine cm_engine_mesh_axons = {"axons on the mesh", by_axons_on_mesh,     cm_graph_of_axons, axon_bytes,
                                        axon_hot_bytes,      .keeps_limits = true, .places = true,    .mends = true};
