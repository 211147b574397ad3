/* Happy path: orders of parts and of cores -> graphs of blocks -> the largest blocks annealed on cells -> taken apart, annealed, down
 * to parts on cores. What can fail: memory, a stop. */
#include "core/placement/ways/ways.h"

#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"
#include "core/partition/edge/clustering.h"
#include "core/partition/options.h"
#include "core/placement/blocks.h"
#include "core/placement/ways/layout.h"

#define NOBODY UINT32_MAX
enum { BLOCK_BITS = 2, COARSEST = 48, WALK_MAX = 6, SAMPLE = 400, CHECK_EVERY = 1024, LAYOUT_MIN = 16 };

/* Temperatures, in mean changes of a proposal: of the coarsest level at first, of finer ones, of a layout, and what is left at the end. */
static const double hot = 0.6, warm = 0.2, tepid = 0.1, cold = 0.015;

typedef struct work {
  const cm_interconnect *net;
  cm_run *run;
  uint32_t parts, slots, routers;
  uint32_t *order;      /* [slots] numbers of cores in the region */
  uint32_t *part_order; /* [parts] */
  uint32_t *slot_router; /* [slots] local number of the router of a slot of the order */
  uint32_t *router;     /* [routers] of the local ones */
  uint32_t *local;      /* [grid] local number, NOBODY: has no core of the region */
  uint32_t *first_slot; /* [routers + 1] slots by router, in router_slot */
  uint32_t *router_slot;
  uint32_t *far;        /* [routers * routers] both ways together; NULL: asked of the interconnect */
  cm_hierarchy hierarchy; /* of blocks of 4^l parts */
  uint32_t *at, *occupant; /* of the level under way: cell of each block, block on each cell */
  uint64_t moves;
} work;

static uint64_t distance(const work *w, uint32_t a, uint32_t b)
{
  if (w->far != NULL)
    return w->far[(size_t)a * w->routers + b];
  return 2 * (uint64_t)cm_interconnect_units(w->net, w->router[a], w->router[b]);
}

/* ---- one level ---- */

typedef struct stage {
  work *w;
  const cm_csr_graph *graph;
  unsigned shift;      /* 4^l slots a cell */
  uint32_t blocks, movable, cells; /* the last block is fixed where it is no whole one; whole cells */
  uint32_t *middle;    /* [cells + 1] local router amid a cell */
  cm_random random;
} stage;

static uint32_t router_at(const stage *s, uint32_t block)
{
  return s->middle[s->w->at[block]];
}

/* What block b pays more on the cell of router `there` than of `here`, but for what it says to `other`. */
static int64_t change(const stage *s, uint32_t b, uint32_t here, uint32_t there, uint32_t other)
{
  const cm_csr_graph *g = s->graph;
  const work *w = s->w;
  int64_t sum = 0;
  if (w->far != NULL) {
    const uint32_t *from = w->far + (size_t)here * w->routers, *to = w->far + (size_t)there * w->routers;
    for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++) {
      uint32_t v = g->neighbour[i], r = router_at(s, v);
      if (v != other)
        sum += (int64_t)cm_csr_graph_weight(g, i) * ((int64_t)to[r] - from[r]);
    }
    return sum;
  }
  for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++) {
    uint32_t v = g->neighbour[i], r = router_at(s, v);
    if (v != other)
      sum += (int64_t)cm_csr_graph_weight(g, i) * ((int64_t)distance(w, there, r) - (int64_t)distance(w, here, r));
  }
  return sum;
}

/* A router with cores of the region a few random links from one. */
static uint32_t wander(stage *s, uint32_t local, uint64_t bits)
{
  const work *w = s->w;
  const cm_interconnect *net = w->net;
  uint32_t router = w->router[local];
  unsigned steps = bits & 3 ? (unsigned)(bits & 1) : 2 + s->shift;
  uint32_t found = local;
  for (unsigned i = 0; i < steps + WALK_MAX; i++) {
    if (i >= steps && router < net->columns * net->rows && w->local[router] != NOBODY)
      return w->local[router];
    uint32_t degree = net->first[router + 1] - net->first[router];
    if (degree == 0)
      break;
    const cm_link *link = &net->link[net->first[router] + (uint32_t)cm_random_below(&s->random, degree)];
    router = link->dead ? router : link->to;
    if (router < net->columns * net->rows && w->local[router] != NOBODY)
      found = w->local[router];
  }
  return found;
}

typedef struct proposal {
  uint32_t block, cell, other;
  int64_t delta;
} proposal;

/* Draws an exchange; false: nothing to exchange. */
static bool propose(stage *s, proposal *p, double *looked)
{
  work *w = s->w;
  const cm_csr_graph *g = s->graph;
  uint64_t bits = cm_random_next(&s->random);
  p->block = (uint32_t)cm_random_below(&s->random, s->movable);
  uint64_t degree = cm_csr_graph_degree(g, p->block);
  *looked += 4;
  if (degree == 0)
    return false;
  uint32_t friend = g->neighbour[g->first[p->block] + cm_random_below(&s->random, degree)];
  uint32_t near = bits >> 8 & 3 ? router_at(s, friend) : router_at(s, p->block), router = wander(s, near, bits >> 16);
  uint32_t slots = w->first_slot[router + 1] - w->first_slot[router];
  p->cell = w->router_slot[w->first_slot[router] + (uint32_t)cm_random_below(&s->random, slots)] >> s->shift;
  if (p->cell >= s->cells || p->cell == w->at[p->block])
    return false;
  p->other = w->occupant[p->cell];
  if (p->other != NOBODY && p->other >= s->movable)
    return false;
  uint32_t here = router_at(s, p->block), there = s->middle[p->cell];
  if (here == there)
    return false;
  p->delta = change(s, p->block, here, there, p->other);
  *looked += (double)degree;
  if (p->other != NOBODY) {
    p->delta += change(s, p->other, there, here, p->block);
    *looked += (double)cm_csr_graph_degree(g, p->other);
  }
  return true;
}

static void take(stage *s, const proposal *p)
{
  work *w = s->w;
  uint32_t old = w->at[p->block];
  w->occupant[old] = p->other;
  if (p->other != NOBODY)
    w->at[p->other] = old;
  w->at[p->block] = p->cell;
  w->occupant[p->cell] = p->block;
  w->moves++;
}

static double mean_change(stage *s)
{
  double sum = 0, looked = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < SAMPLE; i++) {
    proposal p;
    if (!propose(s, &p, &looked))
      continue;
    sum += fabs((double)p.delta);
    counted++;
  }
  return counted > 0 ? sum / counted : 0;
}

static cm_status anneal(stage *s, double entries, double start, cm_error *error)
{
  double mean = mean_change(s), looked = 0, temperature = 0;
  for (uint64_t i = 0; looked < entries && mean > 0; i++) {
    proposal p;
    if (i % CHECK_EVERY == 0) {
      double done = looked / entries;
      temperature = done > 0.95 ? 0 : cm_cooled(mean * start, cold / start, done / 0.95);
      if (cm_run_progress(s->w->run, done, (int)(s->shift / BLOCK_BITS), s->blocks, NAN, error) != CM_OK)
        return error->status;
    }
    if (!propose(s, &p, &looked))
      continue;
    if (cm_metropolis(&s->random, (double)p.delta, temperature, CM_HOPELESS))
      take(s, &p);
  }
  return CM_OK;
}

static cm_status place_level(work *w, uint32_t level, double start, double entries, uint64_t seed, cm_error *error)
{
  unsigned shift = BLOCK_BITS * level;
  uint32_t cells = (w->slots + (1u << shift) - 1) >> shift;
  stage s = {.w = w, .graph = w->hierarchy.level[level], .shift = shift, .blocks = w->hierarchy.vertices[level],
             .cells = w->slots >> shift};
  s.movable = w->parts >> shift;
  if (CM_NEW(w->run->memory, s.middle, (size_t)cells + 1, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < cells; c++) {
    uint32_t from = c << shift, to = from + (1u << shift) < w->slots ? from + (1u << shift) : w->slots;
    s.middle[c] = w->slot_router[from + (to - from) / 2];
  }
  memset(w->occupant, 0xff, cells * sizeof *w->occupant);
  for (uint32_t b = 0; b < s.blocks; b++)
    w->occupant[w->at[b]] = b;
  cm_random_init(&s.random, seed, CM_STREAM_BLOCKS, 1000 + level);
  cm_status status = s.movable > 1 ? anneal(&s, entries, start, error) : CM_OK;
  cm_free(s.middle);
  return status;
}

/* From the cells of blocks to those of their members. */
static void take_apart(work *w, uint32_t level)
{
  for (uint32_t b = w->hierarchy.vertices[level]; b-- > 0;)
    w->at[b] = w->at[b >> BLOCK_BITS] << BLOCK_BITS | (b & ((1u << BLOCK_BITS) - 1));
}

/* ---- all levels ---- */

static uint64_t cost_of(const work *w, const cm_csr_graph *g)
{
  uint64_t sum = 0;
  for (uint32_t b = 0; b < g->vertex_count; b++)
    for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++)
      sum += cm_csr_graph_weight(g, i) * distance(w, w->slot_router[w->at[b]], w->slot_router[w->at[g->neighbour[i]]]);
  return sum / 4;
}

/* The finest level gets half of the effort, and all coarser ones share the rest. */
static cm_status descend(work *w, double entries, uint64_t seed, cm_error *error)
{
  const cm_hierarchy *h = &w->hierarchy;
  for (uint32_t b = 0; b < h->vertices[h->levels - 1]; b++)
    w->at[b] = b;
  for (uint32_t level = h->levels; level-- > 0;) {
    double share = h->levels == 1 ? 1 : level == 0 ? 0.5 : 0.5 / (h->levels - 1);
    if (level + 1 < h->levels)
      take_apart(w, level);
    if (place_level(w, level, level + 1 == h->levels ? hot : warm, entries * share, seed, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Of poses the cheapest, in w->at: turned and mirrored first, then the shape. */
static void choose_pose(work *w, cm_layout *layout)
{
  cm_pose best = {0};
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < 2 * CM_POSE_TURNS + CM_POSE_SHAPES - 1; i++) {
    cm_pose pose = best;
    if (i < 2 * CM_POSE_TURNS)
      pose = (cm_pose){i / 2, i % 2 == 1, 0};
    else
      pose.shape = i - 2 * CM_POSE_TURNS + 1;
    cm_layout_pose(layout, &pose, w->at);
    uint64_t cost = cost_of(w, w->hierarchy.level[0]);
    if (cost < least) {
      least = cost;
      best = pose;
    }
  }
  cm_layout_pose(layout, &best, w->at);
}

static cm_status lay_out(work *w, double entries, uint64_t seed, cm_error *error)
{
  cm_layout layout;
  uint32_t *router;
  if (CM_NEW(w->run->memory, router, w->slots, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < w->slots; i++)
    router[i] = w->router[w->slot_router[i]];
  cm_status status = cm_layout_new(&w->hierarchy, w->net, router, w->slots, seed, w->run, &layout, error);
  cm_free(router);
  if (status != CM_OK)
    return status;
  choose_pose(w, &layout);
  cm_layout_free(&layout);
  return place_level(w, 0, tepid, entries, seed, error);
}

/* What modes and poses look at, in entries and parts. */
static double price_of_layout(const work *w)
{
  const cm_csr_graph *g = w->hierarchy.level[0];
  double poses = 2 * CM_POSE_TURNS + CM_POSE_SHAPES;
  return (CM_LAYOUT_LOOKS + poses) * (double)g->entry_count + poses * w->slots * log2((double)w->slots + 1);
}

/* From a layout; where that costs less than what stands it stays. */
static cm_status try_layout(work *w, double entries, uint64_t seed, cm_way_result *result, cm_error *error)
{
  uint32_t *kept;
  if (CM_NEW(w->run->memory, kept, w->parts, error) != CM_OK)
    return error->status;
  memcpy(kept, w->at, w->parts * sizeof *kept);
  cm_status status = lay_out(w, entries, seed, error);
  uint64_t cost = status == CM_OK ? cost_of(w, w->hierarchy.level[0]) : UINT64_MAX;
  if (cost < result->after)
    result->after = cost;
  else
    memcpy(w->at, kept, w->parts * sizeof *kept);
  cm_free(kept);
  return status;
}

static cm_status place(work *w, const cm_way_options *options, cm_way_result *result, cm_error *error)
{
  double share = options->entries * options->layout, laid = share - price_of_layout(w);
  bool both = cm_has_layout(w->net) && w->parts >= LAYOUT_MIN && laid > 0;
  for (uint32_t b = 0; b < w->parts; b++)
    w->at[b] = b;
  result->before = cost_of(w, w->hierarchy.level[0]);
  if (descend(w, both ? options->entries - share : options->entries, options->seed, error) != CM_OK)
    return error->status;
  result->after = cost_of(w, w->hierarchy.level[0]);
  if (both && try_layout(w, laid, options->seed, result, error) != CM_OK)
    return error->status;
  result->moves = w->moves;
  return CM_OK;
}

/* ---- the region ---- */

static cm_status survey(work *w, const cm_chip *chip, const cm_region *region, cm_error *error)
{
  const cm_interconnect *net = w->net;
  cm_memory *memory = w->run->memory;
  uint32_t grid = net->columns * net->rows;
  if (CM_NEW(memory, w->order, w->slots, error) != CM_OK || CM_NEW(memory, w->slot_router, w->slots, error) != CM_OK ||
      CM_NEW(memory, w->local, grid, error) != CM_OK || CM_NEW(memory, w->router_slot, w->slots, error) != CM_OK ||
      CM_NEW(memory, w->at, w->slots, error) != CM_OK || CM_NEW(memory, w->occupant, (size_t)w->slots + 1, error) != CM_OK ||
      cm_order_by_ways(chip, region, w->run, w->order, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < w->slots; i++)
    w->local[cm_router_of(chip, region->cores[i])] = 1;
  for (uint32_t r = 0; r < grid; r++)
    w->routers += w->local[r];
  if (CM_NEW(memory, w->router, w->routers, error) != CM_OK || CM_NEW(memory, w->first_slot, (size_t)w->routers + 2, error) != CM_OK)
    return error->status;
  for (uint32_t r = 0, next = 0; r < grid; r++) {
    uint32_t has = w->local[r];
    w->local[r] = has ? next : NOBODY;
    if (has)
      w->router[next++] = r;
  }
  for (uint32_t i = 0; i < w->slots; i++) {
    w->slot_router[i] = w->local[cm_router_of(chip, region->cores[w->order[i]])];
    w->first_slot[w->slot_router[i] + 2]++;
  }
  for (uint32_t r = 0; r < w->routers; r++)
    w->first_slot[r + 2] += w->first_slot[r + 1];
  for (uint32_t i = 0; i < w->slots; i++)
    w->router_slot[w->first_slot[w->slot_router[i] + 1]++] = i;
  if (w->routers > CM_TABLE_ROUTERS_MAX)
    return CM_OK;
  if (CM_NEW(memory, w->far, (size_t)w->routers * w->routers, error) != CM_OK)
    return error->status;
  for (uint32_t a = 0; a < w->routers; a++)
    for (uint32_t b = 0; b < w->routers; b++) {
      uint64_t both = (uint64_t)cm_interconnect_units(net, w->router[a], w->router[b]) +
                      cm_interconnect_units(net, w->router[b], w->router[a]);
      w->far[(size_t)a * w->routers + b] = both < INT32_MAX ? (uint32_t)both : INT32_MAX;
    }
  return CM_OK;
}

/* The parts along an order by clusters, and blocks of them. */
static cm_status order_parts(work *w, const cm_graph *parts, uint64_t seed, cm_error *error)
{
  cm_csr_graph *plain, *ordered;
  if (CM_NEW(w->run->memory, w->part_order, w->parts, error) != CM_OK ||
      cm_graph_renumbered(parts, NULL, w->run, &plain, error) != CM_OK)
    return error->status;
  cm_status status = cm_order_by_clusters(plain, seed, w->run, w->part_order, error);
  cm_csr_graph_free(plain);
  if (status == CM_OK)
    status = cm_graph_renumbered(parts, w->part_order, w->run, &ordered, error);
  if (status != CM_OK)
    return status;
  status = cm_csr_coarsen_in_order(ordered, BLOCK_BITS, COARSEST, w->run, &w->hierarchy, error);
  if (status != CM_OK)
    cm_csr_graph_free(ordered);
  return status;
}

cm_status cm_place_by_ways(const cm_graph *parts, const cm_chip *chip, const cm_region *region, const cm_way_options *options,
                           cm_run *run, uint32_t *at, cm_way_result *result, cm_error *error)
{
  work w = {.net = chip->interconnect, .run = run, .parts = parts->vertex_count, .slots = region->core_count};
  cm_way_result made = {0};
  cm_run_phase(run, "order");
  cm_status status = cm_interconnect_prepare(w.net, error);
  if (status == CM_OK && w.parts > 0)
    status = survey(&w, chip, region, error);
  if (status == CM_OK && w.parts > 0)
    status = order_parts(&w, parts, options->seed, error);
  cm_run_phase(run, "place");
  if (status == CM_OK && w.parts > 0)
    status = place(&w, options, &made, error);
  for (uint32_t b = 0; status == CM_OK && b < w.parts; b++)
    at[w.part_order[b]] = w.order[w.at[b]];
  void *const blocks[] = {w.order, w.part_order, w.slot_router, w.router, w.local, w.first_slot, w.router_slot, w.far, w.at,
                          w.occupant};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  cm_csr_graph_free(w.hierarchy.level[0]);
  cm_hierarchy_free(&w.hierarchy);
  if (status == CM_OK)
    *result = made;
  return status;
}
