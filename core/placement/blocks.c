/* Happy path: order the parts -> renumber them by it -> graphs of blocks of 4, 16, ... -> the coarsest blocks are
 * placed by the engine for few parts -> level by level blocks are taken apart and annealed. Further cycles take the
 * order along the curve of what was found. */
#include "core/placement/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/partition/edge/clustering.h"
#include "core/partition/options.h"
#include "core/placement/curve.h"
#include "core/placement/exchange.h"
#include "core/placement/qap/qap.h"
#include "core/placement/ways/mode_layout.h"

enum { BLOCK_BITS = 2, COARSEST = 64, COARSEST_SWEEPS = 1000, CYCLE_STREAMS = 16, TURNS = 16 };

/* Temperatures in typical costs of a move to the next cell: where all is new, in further cycles, from a layout, at the end of a
 * level; the most proposals for a block on coarse levels. */
static const double hot = 3, warm = 2, tepid = 1, cold = 0.05, sweeps_most = 4000;

typedef struct work {
  const cm_place_task *task;
  const cm_axes *axes;
  const cm_blocks_options *options;
  cm_run *run;
  const cm_graph *graph;
  uint32_t parts;
  uint32_t *curve;    /* [cores] of the region along the curve */
  uint32_t *rank_at;  /* [columns * rows] place along the curve of the core there, CM_NO_CELL: none */
  cm_hierarchy hierarchy; /* of blocks of 4^l parts, numbered along the order */
  uint32_t *column, *row, *cell_at; /* of the cells of a level */
  uint32_t *representative;         /* [cells] a core in the middle of each */
  cm_blocks_result result;
} work;

/* ---- cells ---- */

/* The core of a run along the curve that is nearest to the middle of all. */
static uint32_t central(const work *w, uint32_t begin, uint32_t end)
{
  const cm_axes *a = w->axes;
  int64_t count = end - begin, sum_x = 0, sum_y = 0, least = INT64_MAX;
  uint32_t best = w->curve[begin];
  for (uint32_t i = begin; i < end; i++) {
    sum_x += a->column[w->curve[i]];
    sum_y += a->row[w->curve[i]];
  }
  for (uint32_t i = begin; i < end; i++) {
    uint32_t core = w->curve[i];
    int64_t off = llabs(a->column[core] * count - sum_x) + llabs(a->row[core] * count - sum_y);
    bool first = a->row[core] != a->row[best] ? a->row[core] < a->row[best] : a->column[core] < a->column[best];
    if (off < least || (off == least && first)) {
      least = off;
      best = core;
    }
  }
  return best;
}

/* Blocks of less parts than the others stay where they are: there is one at most. */
static uint32_t pinned_on(const work *w, uint32_t level)
{
  return (w->parts & ((UINT32_C(1) << BLOCK_BITS * level) - 1)) != 0;
}

static void make_cells(work *w, uint32_t level, cm_cells *cells)
{
  const cm_axes *a = w->axes;
  uint32_t shift = BLOCK_BITS * level, count = w->hierarchy.vertices[level];
  for (uint32_t c = 0; c < count; c++) {
    uint32_t begin = c << shift, end = w->parts - begin > UINT32_C(1) << shift ? begin + (UINT32_C(1) << shift) : w->parts;
    w->representative[c] = central(w, begin, end);
    w->column[c] = a->column[w->representative[c]];
    w->row[c] = a->row[w->representative[c]];
  }
  for (size_t i = 0; i < (size_t)a->columns * a->rows; i++)
    w->cell_at[i] = w->rank_at[i] < w->parts ? w->rank_at[i] >> shift : CM_NO_CELL;
  *cells = (cm_cells){.axes = a,
                      .count = count,
                      .column = w->column,
                      .row = w->row,
                      .at = w->cell_at,
                      .spacing = UINT32_C(1) << level,
                      .pinned = pinned_on(w, level)};
}

/* ---- levels ---- */

/* Where cells lie on one axis, and the distances between its places. */
typedef struct axis {
  uint32_t *place;    /* [cells] */
  uint32_t *distance; /* [length * length] */
  uint32_t length;
} axis;

/* The places of an axis that `count` cells use, numbered anew. */
static cm_status squeeze(const axis *whole, uint32_t count, cm_run *run, axis *made, cm_error *error)
{
  uint32_t *old, *fresh = NULL, found = 0, length = whole->length;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(old, length), CM_ARRAY(fresh, length));
  for (uint32_t c = 0; c < count && status == CM_OK; c++)
    fresh[whole->place[c]] = 1;
  for (uint32_t i = 0; i < length && status == CM_OK; i++)
    if (fresh[i]) {
      fresh[i] = found;
      old[found++] = i;
    }
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(made->place, count), CM_ARRAY(made->distance, (size_t)found * found)));
  if (status == CM_OK) {
    for (uint32_t c = 0; c < count; c++)
      made->place[c] = fresh[whole->place[c]];
    for (uint32_t i = 0; i < found; i++)
      for (uint32_t j = 0; j < found; j++)
        made->distance[(size_t)i * found + j] = whole->distance[(size_t)old[i] * length + old[j]];
    made->length = found;
  }
  CM_FREE(old, fresh);
  return status;
}

/* The axes under the first `count` cells alone: the engine's work grows with columns and rows. */
static cm_status squeezed_axes(const work *w, uint32_t count, cm_axes *axes, cm_error *error)
{
  const cm_axes *a = w->axes;
  axis x = {0}, y = {0};
  cm_status status = squeeze(&(axis){w->column, a->dx, a->columns}, count, w->run, &x, error);
  CM_THEN(status, squeeze(&(axis){w->row, a->dy, a->rows}, count, w->run, &y, error));
  *axes = (cm_axes){
    .count = count, .column = x.place, .row = y.place, .dx = x.distance, .dy = y.distance, .columns = x.length, .rows = y.length};
  return status;
}

/* The first `count` vertices of a level. */
static cm_status first_vertices(const cm_csr_graph *c, uint32_t count, cm_run *run, cm_graph **graph, cm_error *error)
{
  uint64_t *weight, *first = NULL, end = 0;
  uint32_t *neighbour = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(weight, c->entry_count), CM_ARRAY(neighbour, c->entry_count),
                                CM_ARRAY(first, (size_t)count + 1));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < count; v++) {
      for (uint64_t i = c->first[v]; i < c->first[v + 1]; i++)
        if (c->neighbour[i] < count) {
          neighbour[end] = c->neighbour[i];
          weight[end++] = cm_csr_graph_weight(c, i);
        }
      first[v + 1] = end;
    }
    status = cm_graph_from_rows(count, first, neighbour, weight, run, graph, error);
  }
  CM_FREE(weight, neighbour, first);
  return status;
}

/* The coarsest level by the engine for few parts. */
static cm_status place_coarsest(work *w, uint32_t *cell, cm_error *error)
{
  const cm_csr_graph *c = cm_hierarchy_coarsest(&w->hierarchy);
  uint32_t movable = c->vertex_count - pinned_on(w, w->hierarchy.levels - 1);
  cm_axes axes = {0};
  cm_graph *graph = NULL;
  cm_qap_options o = {.population = 1, .seed = w->task->seed, .sweeps = COARSEST_SWEEPS};
  cm_status status = squeezed_axes(w, movable, &axes, error);
  CM_THEN(status, first_vertices(c, movable, w->run, &graph, error));
  CM_THEN(status, cm_place_by_annealing(graph, &axes, &o, w->run, cell, error));
  for (uint32_t v = movable; v < c->vertex_count; v++)
    cell[v] = v;
  cm_graph_free(graph);
  CM_FREE(axes.column, axes.row, axes.dx, axes.dy);
  return status;
}

/* Takes blocks apart, in place: a quarter each to the quarters of its cell, in order. */
static void take_apart(const work *w, uint32_t level, uint32_t *cell)
{
  for (uint32_t b = w->hierarchy.vertices[level]; b-- > 0;)
    cell[b] = cell[b >> BLOCK_BITS] << BLOCK_BITS | (b & ((1U << BLOCK_BITS) - 1));
}

/* Proposals for every block of a level: four times as many as on the level below, which has four times as many blocks.
 * Where blocks talk to as many others as their parts do each such level costs four times the last: a bound on all is
 * shared out evenly. */
static uint32_t sweeps_on(const work *w, uint32_t level)
{
  enum { SWEEPS_MIN = 5 };
  double sweeps = fmin(ceil(ldexp(w->options->sweeps, (int)(BLOCK_BITS * level))), sweeps_most);
  if (w->options->entries > 0) {
    const cm_csr_graph *graph = w->hierarchy.level[level];
    double share = w->options->entries / w->hierarchy.levels / ((double)graph->entry_count + 1);
    sweeps = fmin(sweeps, fmax(floor(share), SWEEPS_MIN));
  }
  return (uint32_t)sweeps;
}

static cm_status anneal_level(work *w, uint32_t level, uint32_t cycle, double from, uint32_t *cell, cm_error *error)
{
  cm_cells cells;
  cm_random random;
  cm_exchange_schedule schedule = {.hot = from, .cold = cold, .sweeps = sweeps_on(w, level), .random = &random};
  make_cells(w, level, &cells);
  cm_random_init(&random, w->task->seed, CM_STREAM_BLOCKS, (uint64_t)cycle * CYCLE_STREAMS + level);
  return cm_anneal_by_exchange(w->hierarchy.level[level], &cells, &schedule, w->run, cell, error);
}

/* From the coarsest level down; further cycles start with every block where it is. cell [parts]. */
static cm_status descend(work *w, uint32_t cycle, uint32_t *cell, cm_error *error)
{
  uint32_t top = w->hierarchy.levels - 1;
  cm_cells cells;
  make_cells(w, top, &cells);
  for (uint32_t v = 0; v < w->hierarchy.vertices[top]; v++)
    cell[v] = v;
  cm_status status = cycle > 0 ? anneal_level(w, top, cycle, warm, cell, error) : place_coarsest(w, cell, error);
  for (uint32_t l = top; l-- > 0 && status == CM_OK;) {
    take_apart(w, l, cell);
    status = anneal_level(w, l, cycle, cycle == 0 ? hot : warm, cell, error);
  }
  return status;
}

static uint64_t cost_of(const void *on, const uint32_t *cell)
{
  const work *w = on;
  const cm_csr_graph *g = w->hierarchy.level[0];
  uint64_t sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      sum += cm_csr_graph_weight(g, i) * cm_axes_distance(w->axes, w->curve[cell[v]], w->curve[cell[g->neighbour[i]]]);
  return sum;
}

/* From a layout by the graph's modes, where that ends better than cell [parts]. */
static cm_status lay_out(work *w, uint32_t *cell, cm_error *error)
{
  const cm_axes *a = w->axes;
  const cm_interconnect net = {.kind = CM_GRID, .columns = a->columns, .rows = a->rows};
  cm_layout layout = {0};
  uint32_t *router, *laid = NULL;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(router, w->task->region->core_count), CM_ARRAY(laid, w->parts));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < w->task->region->core_count; i++)
      router[i] = a->row[w->curve[i]] * a->columns + a->column[w->curve[i]];
    status = cm_layout_new(&w->hierarchy, &(cm_layout_slots){&net, router, w->parts}, w->task, &layout, error);
  }
  if (status == CM_OK) {
    cm_layout_choose(&layout, TURNS, cost_of, w, laid);
    status = anneal_level(w, 0, CYCLE_STREAMS, tepid, laid, error);
  }
  if (status == CM_OK && cost_of(w, laid) < cost_of(w, cell))
    memcpy(cell, laid, w->parts * sizeof *cell);
  cm_layout_free(&layout);
  CM_FREE(router, laid);
  return status;
}

static cm_status survey(work *w, cm_error *error)
{
  const cm_region *region = w->task->region;
  const cm_axes *a = w->axes;
  cm_memory *memory = w->run->memory;
  size_t box = (size_t)a->columns * a->rows;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(w->curve, region->core_count), CM_ARRAY(w->rank_at, box), CM_ARRAY(w->cell_at, box),
                 CM_ARRAY(w->column, w->parts), CM_ARRAY(w->row, w->parts), CM_ARRAY(w->representative, w->parts)) != CM_OK ||
      cm_order_cores(w->task->chip, region, w->run, w->curve, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < box; i++)
    w->rank_at[i] = CM_NO_CELL;
  for (uint32_t i = 0; i < region->core_count; i++)
    w->rank_at[(size_t)a->row[w->curve[i]] * a->columns + a->column[w->curve[i]]] = i;
  return CM_OK;
}

/* One descent, with the parts blocked along `order`. */
static cm_status place(work *w, const uint32_t *order, uint32_t cycle, uint32_t *at, cm_error *error)
{
  cm_csr_graph *graph;
  uint32_t *cell = NULL;
  CM_TRY(cm_graph_renumbered(w->graph, order, w->run, &graph, error));
  cm_status status = cm_csr_coarsen_in_order(graph, BLOCK_BITS, COARSEST, w->run, &w->hierarchy, error);
  CM_THEN(status, CM_NEW(w->run->memory, cell, w->parts, error));
  CM_THEN(status, descend(w, cycle, cell, error));
  CM_THEN_IF(status, cycle == 0 && w->parts >= CM_LAYOUT_LEAST && w->options->sweeps >= CM_LAYOUT_LOOKS, lay_out(w, cell, error));
  for (uint32_t k = 0; status == CM_OK && k < w->parts; k++)
    at[order[k]] = w->curve[cell[k]];
  cm_free(cell);
  cm_hierarchy_free(&w->hierarchy);
  cm_csr_graph_free(graph);
  return status;
}

/* Once more from the blocks that the placement makes, kept when better. */
static cm_status repeat(work *w, uint32_t cycle, uint32_t *order, uint32_t *trial, uint32_t *at, cm_error *error)
{
  const cm_axes *a = w->axes;
  for (uint32_t v = 0; v < w->parts; v++)
    order[w->rank_at[(size_t)a->row[at[v]] * a->columns + a->column[at[v]]]] = v;
  CM_TRY(place(w, order, cycle, trial, error));
  uint64_t found = cm_axes_cost(w->graph, a, trial);
  if (found < w->result.cost) {
    w->result.cost = found;
    memcpy(at, trial, w->parts * sizeof *at);
  }
  return CM_OK;
}

static cm_status place_all(work *w, uint32_t *order, uint32_t *scratch, uint32_t *at, cm_error *error)
{
  cm_blocks_result *result = &w->result;
  cm_csr_graph *graph;
  CM_TRY(cm_graph_renumbered(w->graph, NULL, w->run, &graph, error));
  cm_status status = cm_order_by_clusters(graph, w->task->seed, w->run, order, error);
  cm_csr_graph_free(graph);
  CM_TRY(status);
  for (uint32_t k = 0; k < w->parts; k++)
    at[order[k]] = w->curve[k];
  result->curve = cm_axes_cost(w->graph, w->axes, at);
  cm_run_phase(w->run, "place");
  result->cost = result->curve;
  memcpy(scratch, at, w->parts * sizeof *at);
  status = place(w, order, 0, at, error);
  if (status == CM_OK && (result->cost = cm_axes_cost(w->graph, w->axes, at)) > result->curve) {
    memcpy(at, scratch, w->parts * sizeof *at);
    result->cost = result->curve;
  }
  for (uint32_t cycle = 1; cycle <= w->options->cycles && status == CM_OK; cycle++)
    status = repeat(w, cycle, order, scratch, at, error);
  return status;
}

cm_status cm_place_by_blocks(const cm_graph *parts, const cm_place_task *task, const cm_blocks_options *options, uint32_t *at,
                             cm_blocks_result *result, cm_error *error)
{
  work w = {.task = task, .axes = task->axes, .options = options, .run = task->run, .graph = parts, .parts = parts->vertex_count};
  uint32_t *order = NULL, *scratch = NULL;
  cm_run_phase(w.run, "order");
  cm_status status = survey(&w, error);
  CM_THEN(status, CM_NEW_ALL(w.run->memory, error, CM_ARRAY(order, w.parts), CM_ARRAY(scratch, w.parts)));
  CM_THEN_IF(status, w.parts > 0, place_all(&w, order, scratch, at, error));
  CM_FREE(order, scratch, w.curve, w.rank_at, w.cell_at, w.column, w.row, w.representative);
  CM_END(status, *result = w.result, );
}
