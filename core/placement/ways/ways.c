/* Happy path: orders of parts and of cores -> graphs of blocks -> the largest blocks annealed on cells -> taken apart, annealed, down
 * to parts on cores. What can fail: memory, a stop. */
#include "core/placement/ways/ways.h"

#include <math.h>
#include <string.h>

#include "base/members.h"
#include "core/chip/turns.h"
#include "core/partition/edge/clustering.h"
#include "core/placement/blocks.h"
#include "core/placement/ways/level.h"
#include "core/placement/ways/mode_layout.h"

enum { COARSEST = 48, TURNS = 4 };

/* Temperatures at first: of the coarsest level, of finer ones, of a layout. */
static const double hot = 0.6, warm = 0.2, tepid = 0.1;

/* From the cells of blocks to those of their members. */
static void take_apart(cm_ways *w, uint32_t level)
{
  for (uint32_t b = w->hierarchy.vertices[level]; b-- > 0;)
    w->at[b] = w->at[b >> CM_BLOCK_BITS] << CM_BLOCK_BITS | (b & ((1u << CM_BLOCK_BITS) - 1));
}

/* Of at [parts]. */
static uint64_t cost_at(const void *on, const uint32_t *at)
{
  const cm_ways *w = on;
  const cm_csr_graph *g = w->hierarchy.level[0];
  uint64_t sum = 0;
  for (uint32_t b = 0; b < g->vertex_count; b++)
    for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++)
      sum += cm_csr_graph_weight(g, i) * cm_ways_distance(w, w->slot_router[at[b]], w->slot_router[at[g->neighbour[i]]]);
  return sum / 4;
}

static uint64_t cost_of(const cm_ways *w)
{
  return cost_at(w, w->at);
}

/* The finest level gets half of the effort, and all coarser ones share the rest. */
static cm_status descend(cm_ways *w, double entries, cm_error *error)
{
  const cm_hierarchy *h = &w->hierarchy;
  for (uint32_t b = 0; b < h->vertices[h->levels - 1]; b++)
    w->at[b] = b;
  for (uint32_t level = h->levels; level-- > 0;) {
    double share = h->levels == 1 ? 1 : level == 0 ? 0.5 : 0.5 / (h->levels - 1);
    if (level + 1 < h->levels)
      take_apart(w, level);
    CM_TRY(cm_ways_place_level(w, level, level + 1 == h->levels ? hot : warm, entries * share, error));
  }
  return CM_OK;
}

/* Anneals from where parts stand, cold. */
static cm_status cool(cm_ways *w, double entries, cm_error *error)
{
  return cm_ways_place_level(w, 0, tepid, entries, error);
}

static cm_status lay_out(cm_ways *w, double entries, cm_error *error)
{
  cm_layout layout;
  uint32_t *router;
  CM_TRY(CM_NEW(w->run->memory, router, w->slots, error));
  for (uint32_t i = 0; i < w->slots; i++)
    router[i] = w->router[w->slot_router[i]];
  cm_status status = cm_layout_new(&w->hierarchy, &(cm_layout_slots){w->net, router, w->slots}, w->task, &layout, error);
  cm_free(router);
  CM_TRY(status);
  cm_layout_choose(&layout, TURNS, cost_at, w, w->at);
  cm_layout_free(&layout);
  return cool(w, entries, error);
}

/* What modes and poses look at, in entries and parts. */
static double price_of_layout(const cm_ways *w)
{
  const cm_csr_graph *g = w->hierarchy.level[0];
  double poses = 2 * TURNS + CM_POSE_SHAPES;
  return (CM_LAYOUT_LOOKS + poses) * (double)g->entry_count + poses * w->slots * log2((double)w->slots + 1);
}

/* From a layout, or from where parts stand; where that costs less than what stands it stays. */
static cm_status try_from(cm_status (*place)(cm_ways *w, double entries, cm_error *error), cm_ways *w, double entries,
                          cm_way_result *result, cm_error *error)
{
  uint32_t *kept;
  CM_TRY(CM_NEW(w->run->memory, kept, w->parts, error));
  memcpy(kept, w->at, w->parts * sizeof *kept);
  cm_status status = place(w, entries, error);
  uint64_t cost = status == CM_OK ? cost_of(w) : UINT64_MAX;
  if (cost < result->after)
    result->after = cost;
  else
    memcpy(w->at, kept, w->parts * sizeof *kept);
  cm_free(kept);
  return status;
}

static cm_status place(cm_ways *w, const cm_way_options *options, cm_way_result *result, cm_error *error)
{
  double share = options->entries * options->layout, laid = share - price_of_layout(w);
  bool both = cm_has_layout(w->net) && w->parts >= CM_LAYOUT_LEAST && laid > 0;
  for (uint32_t b = 0; b < w->parts; b++)
    w->at[b] = b;
  result->before = cost_of(w);
  CM_TRY(descend(w, both ? options->entries - share : options->entries, error));
  result->after = cost_of(w);
  CM_TRY_IF(both, try_from(lay_out, w, laid, result, error));
  result->moves = w->moves;
  return CM_OK;
}

/* From at [parts], numbers of cores in the region. */
static cm_status refine(cm_ways *w, const cm_way_options *options, const uint32_t *at, cm_way_result *result, cm_error *error)
{
  uint32_t *slot;
  CM_TRY(CM_NEW(w->run->memory, slot, w->slots, error));
  for (uint32_t i = 0; i < w->slots; i++)
    slot[w->order[i]] = i;
  for (uint32_t b = 0; b < w->parts; b++)
    w->at[b] = slot[at[w->part_order[b]]];
  cm_free(slot);
  result->before = result->after = cost_of(w);
  cm_status status = try_from(cool, w, options->entries, result, error);
  result->moves = w->moves;
  return status;
}

/* ---- the region ---- */

static cm_status survey(cm_ways *w, cm_error *error)
{
  const cm_chip *chip = w->task->chip;
  const cm_region *region = w->task->region;
  const cm_interconnect *net = w->net;
  cm_memory *memory = w->run->memory;
  uint32_t grid = net->columns * net->rows;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(w->order, w->slots), CM_ARRAY(w->slot_router, w->slots), CM_ARRAY(w->local, grid),
                 CM_ARRAY(w->router_slot, w->slots), CM_ARRAY(w->at, w->slots),
                 CM_ARRAY(w->occupant, (size_t)w->slots + 1)) != CM_OK ||
      cm_order_by_ways(chip, region, w->run, w->order, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < w->slots; i++)
    w->local[cm_router_of(chip, region->cores[i])] = 1;
  for (uint32_t r = 0; r < grid; r++)
    w->routers += w->local[r];
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->router, w->routers), CM_ARRAY(w->first_slot, (size_t)w->routers + 2)));
  for (uint32_t r = 0, next = 0; r < grid; r++) {
    uint32_t has = w->local[r];
    w->local[r] = has ? next : CM_NOBODY;
    if (has)
      w->router[next++] = r;
  }
  for (uint32_t i = 0; i < w->slots; i++)
    w->slot_router[i] = w->local[cm_router_of(chip, region->cores[w->order[i]])];
  cm_sort_members(w->slot_router, w->slots, w->routers, w->first_slot, w->router_slot);
  if (w->routers > CM_TABLE_ROUTERS_MAX)
    return CM_OK;
  CM_TRY(CM_NEW(memory, w->far, (size_t)w->routers * w->routers, error));
  for (uint32_t a = 0; a < w->routers; a++)
    for (uint32_t b = 0; b < w->routers; b++) {
      uint64_t both = (uint64_t)cm_interconnect_units(net, w->router[a], w->router[b]) +
                      cm_interconnect_units(net, w->router[b], w->router[a]);
      w->far[(size_t)a * w->routers + b] = both < INT32_MAX ? (uint32_t)both : INT32_MAX;
    }
  return CM_OK;
}

/* The parts along an order by clusters, and blocks of them. */
static cm_status order_parts(cm_ways *w, const cm_graph *parts, cm_error *error)
{
  cm_csr_graph *plain, *ordered;
  CM_TRY(CM_NEW(w->run->memory, w->part_order, w->parts, error));
  CM_TRY(cm_graph_renumbered(parts, NULL, w->run, &plain, error));
  cm_status status = cm_order_by_clusters(plain, w->task->seed, w->run, w->part_order, error);
  cm_csr_graph_free(plain);
  CM_THEN(status, cm_graph_renumbered(parts, w->part_order, w->run, &ordered, error));
  CM_TRY(status);
  status = cm_csr_coarsen_in_order(ordered, CM_BLOCK_BITS, COARSEST, w->run, &w->hierarchy, error);
  if (status != CM_OK)
    cm_csr_graph_free(ordered);
  return status;
}

cm_status cm_place_by_ways(const cm_graph *parts, const cm_place_task *task, const cm_way_options *options, uint32_t *at,
                           cm_way_result *result, cm_error *error)
{
  cm_ways w = {.task = task,
               .net = task->chip->interconnect,
               .run = task->run,
               .parts = parts->vertex_count,
               .slots = task->region->core_count};
  cm_way_result made = {0};
  cm_run_phase(task->run, "order");
  cm_status status = cm_interconnect_prepare(w.net, error);
  CM_THEN_IF(status, w.parts > 0, survey(&w, error));
  CM_THEN_IF(status, w.parts > 0, order_parts(&w, parts, error));
  cm_run_phase(task->run, "place");
  if (status == CM_OK && w.parts > 0)
    status = options->refines ? refine(&w, options, at, &made, error) : place(&w, options, &made, error);
  for (uint32_t b = 0; status == CM_OK && b < w.parts; b++)
    at[w.part_order[b]] = w.order[w.at[b]];
  CM_FREE(w.order, w.part_order, w.slot_router, w.router, w.local, w.first_slot, w.router_slot, w.far, w.at, w.occupant);
  cm_csr_graph_free(w.hierarchy.level[0]);
  cm_hierarchy_free(&w.hierarchy);
  CM_END(status, *result = made, );
}
