#include "core/placement/arrange.h"

#include <math.h>
#include <string.h>

#include "core/placement/blocks.h"
#include "core/placement/qap/qap.h"

/* Looks at pairs of cores that an effort may cost, and how they are spent. */
typedef struct budget {
  uint32_t few; /* so many cores at most are annealed with tables; more are placed by blocks */
  double looks;
  uint32_t population, sweeps_max, rounds;
  /* By blocks: entries of the graph that are looked at on a level, within these numbers of sweeps. */
  double entries, sweeps_least, sweeps_most;
  uint32_t cycles;
} budget;

static const budget budgets[] = {
  [CM_ARRANGE_FAST] = {0, 0, 0, 0, 20, 4e7, 4, 60, 0},
  [CM_ARRANGE_BALANCED] = {512, 2e8, 8, 400, 20, 2e8, 20, 1000, 1},
  [CM_ARRANGE_BEST] = {512, 4e9, 16, 4000, 60, 2e9, 60, 4000, 4},
};

static cm_qap_options divide(const budget *b, uint32_t cores, uint64_t seed)
{
  uint32_t population = b->population;
  double pairs = (double)cores * (cores > 1 ? cores - 1 : 1) / 2;
  double sweeps = fmin(b->looks / pairs, (double)b->sweeps_max * population * 2);
  while (population > 1 && sweeps / population < 300)
    population /= 2;
  return cm_qap_divide(fmax(sweeps, 30), population, cores, seed);
}

static cm_status along_curve(const cm_graph *parts, const cm_chip *chip, const cm_region *region, cm_run *run,
                             uint32_t *at, cm_error *error)
{
  uint32_t *order, *curve = NULL;
  cm_status status = CM_NEW(run->memory, order, parts->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, curve, region->core_count, error);
  if (status == CM_OK)
    status = cm_order_parts(parts, run, order, error);
  if (status == CM_OK)
    status = cm_order_cores(chip, region, run, curve, error);
  for (uint32_t i = 0; status == CM_OK && i < parts->vertex_count; i++)
    at[order[i]] = curve[i];
  cm_free(order);
  cm_free(curve);
  return status;
}

/* Many parts, or little time. */
static cm_status arrange_by_blocks(const cm_graph *parts, const cm_chip *chip, const cm_region *region,
                                   const cm_axes *axes, const budget *b, uint64_t seed, cm_run *run, uint32_t *at,
                                   cm_arrange_result *result, cm_error *error)
{
  double paid = b->entries / ((double)parts->entry_count + 1);
  cm_blocks_options options = {.sweeps = fmin(fmax(paid, b->sweeps_least), b->sweeps_most), .cycles = b->cycles,
                               .seed = seed};
  cm_blocks_result made;
  if (cm_place_by_blocks(parts, axes, chip, region, &options, run, at, &made, error) != CM_OK)
    return error->status;
  *result = (cm_arrange_result){.method = "blocks and exchanges", .curve = made.curve, .refined = made.cost};
  return CM_OK;
}

static cm_status arrange(const cm_graph *parts, const cm_chip *chip, const cm_region *region, const cm_axes *axes,
                         const budget *b, uint64_t seed, cm_run *run, uint32_t *at, uint32_t *annealed,
                         cm_arrange_result *result, cm_error *error)
{
  if (b->few == 0 || axes->count > b->few)
    return arrange_by_blocks(parts, chip, region, axes, b, seed, run, at, result, error);
  cm_run_phase(run, "place");
  if (along_curve(parts, chip, region, run, at, error) != CM_OK)
    return error->status;
  result->method = "curve and swaps";
  result->curve = cm_axes_cost(parts, axes, at);
  if (cm_place_by_swaps(parts, axes, chip, region, b->rounds, run, at, &result->rounds, &result->swaps, error) != CM_OK)
    return error->status;
  result->refined = cm_axes_cost(parts, axes, at);
  uint64_t cost;
  cm_qap_options options = divide(b, axes->count, seed);
  cm_run_phase(run, "anneal");
  if (cm_place_by_annealing(parts, axes, &options, run, annealed, &cost, error) != CM_OK)
    return error->status;
  if (cost < result->refined) {
    memcpy(at, annealed, parts->vertex_count * sizeof *at);
    result->method = "annealing";
    result->refined = cost;
  }
  return CM_OK;
}

cm_status cm_arrange(const cm_graph *parts, const cm_chip *chip, const cm_region *region, cm_arrange_effort effort,
                     uint64_t seed, cm_run *run, uint32_t *core, cm_arrange_result *result, cm_error *error)
{
  cm_axes *axes;
  uint32_t *at = NULL, *annealed = NULL;
  cm_arrange_result found = {0};
  if (region->core_count < parts->vertex_count)
    return cm_fail(error, CM_INTERNAL, "a region of %u cores for %u parts", region->core_count, parts->vertex_count);
  cm_status status = cm_axes_new(chip, region->cores, region->core_count, run, &axes, error);
  if (status != CM_OK)
    return status;
  status = CM_NEW(run->memory, at, parts->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, annealed, parts->vertex_count, error);
  if (status == CM_OK)
    status = arrange(parts, chip, region, axes, &budgets[effort], seed, run, at, annealed, &found, error);
  if (status == CM_OK) {
    for (uint32_t p = 0; p < parts->vertex_count; p++)
      core[p] = region->cores[at[p]];
    *result = found;
  }
  cm_axes_free(axes);
  cm_free(at);
  cm_free(annealed);
  return status;
}
