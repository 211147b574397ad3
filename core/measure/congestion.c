/* Congestion under random minimal routing: at every router a packet takes each still useful
 * direction with equal probability.
 *
 * Until a packet has reached its target's column or row it moves as every other one does, whatever its target: half
 * of what a router has goes on along x, half along y. So only the places where packets leave this open field are
 * booked, flow by flow: that the column a steps away is reached after b steps along it has the chance
 * C(a+b-1, b) / 2^(a+b). From there a packet goes straight on to its target. One sweep over the grid then sums up
 * what passes each router: the field by its recurrence, the lines as running sums. A flow costs as much as it is
 * long, not the rectangle between its ends.
 *
 * What leaves and what ends is counted in whole units, the same amounts on both sides, so that a line is exactly
 * empty behind its last target. In the field rounding leaves dust, which is swept away. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/measure/link_tally.h"
#include "core/measure/spread.h"

/* Below this share of the highest load there is only dust of rounding. */
static const double DUST = 0x1p-42;
/* Chances far below any that counts; denormal numbers would be slow. */
static const double NEGLIGIBLE = 0x1p-400;

static void exits_free(cm_exit_table *table)
{
  CM_FREE(table->chance, table->start, table->stop);
}

static cm_status exits_new(uint32_t reach_a, uint32_t reach_b, cm_memory *memory, cm_exit_table *table, cm_error *error)
{
  cm_exit_table t = {.reach_a = reach_a, .reach_b = reach_b};
  size_t lines = (size_t)reach_a * CM_EXIT_LEVELS;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(t.chance, (size_t)reach_a * reach_b), CM_ARRAY(t.start, lines),
                       CM_ARRAY(t.stop, lines)), exits_free(&t));
  for (uint32_t a = 1; a < reach_a; a++) {
    double *here = t.chance + (size_t)a * reach_b;
    for (uint32_t b = 0; b < reach_b; b++) {
      double before = a > 1 ? here[(ptrdiff_t)b - (ptrdiff_t)reach_b] : b == 0 ? 1 : 0;
      double value = (before + (b > 0 ? here[b - 1] : 0)) / 2;
      here[b] = value < NEGLIGIBLE ? 0 : value;
    }
    for (int level = 0; level < CM_EXIT_LEVELS; level++) {
      double least = ldexp(1, -(level + 1) * CM_EXIT_LEVEL_BITS);
      uint32_t *start = &t.start[(size_t)a * CM_EXIT_LEVELS + (size_t)level], *stop = &t.stop[start - t.start];
      *stop = reach_b;
      while (*start < reach_b && here[*start] < least) ++*start;
      while (*stop > *start && here[*stop - 1] < least) --*stop;
    }
  }
  *table = t;
  return CM_OK;
}

cm_status cm_spread_new(const cm_window *window, double packets, cm_memory *memory, cm_spread *spread, cm_error *error)
{
  const cm_window *w = window;
  cm_spread s = {.window = *w};
  /* The furthest that a packet goes: half around a ring. */
  uint32_t reach_x = w->ring_x ? w->width / 2 : w->width - 1, reach_y = w->ring_y ? w->height / 2 : w->height - 1;
  int exponent;
  (void)frexp(packets, &exponent);
  s.scale = ldexp(1, 61 - exponent);
  s.width = w->width + (w->ring_x ? w->width / 2 : 0);
  s.height = w->height + (w->ring_y ? w->height / 2 : 0);
  cm_status status = exits_new(reach_x + 1, reach_y + 1, memory, &s.column, error);
  CM_THEN(status, exits_new(reach_y + 1, reach_x + 1, memory, &s.row, error));
  CM_END(status, *spread = s, cm_spread_free(&s));
}

void cm_spread_free(cm_spread *spread)
{
  exits_free(&spread->column);
  exits_free(&spread->row);
  *spread = (cm_spread){0};
}

cm_status cm_spread_part_new(const cm_spread *spread, size_t flows_max, cm_memory *memory, cm_spread_part *part, cm_error *error)
{
  cm_spread_part p = {.spread = spread, .flow_room = flows_max};
  size_t size = (size_t)spread->width * spread->height;
  uint32_t longest = spread->column.reach_a > spread->row.reach_a ? spread->column.reach_a : spread->row.reach_a;
  cm_status status = CM_NEW(memory, p.count, (size_t)longest + 1, error);
  for (int i = 0; i < 2 && status == CM_OK; i++)
    status = CM_NEW(memory, p.flow[i], flows_max, error);
  for (int q = 0; q < CM_QUADRANTS && status == CM_OK; q++)
    CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(p.column[q], size), CM_ARRAY(p.row[q], size), CM_ARRAY(p.begin[q], size),
                               CM_ARRAY(p.column_end[q], size), CM_ARRAY(p.row_end[q], size)));
  CM_END(status, *part = p, cm_spread_part_free(&p));
}

void cm_spread_part_free(cm_spread_part *part)
{
  for (int q = 0; q < CM_QUADRANTS; q++) {
    CM_FREE(part->column[q], part->row[q], part->begin[q], part->column_end[q], part->row_end[q]);
  }
  CM_FREE(part->flow[0], part->flow[1], part->count);
  *part = (cm_spread_part){0};
}

/* ---- one source, one quadrant ---- */

static uint32_t key_of(const cm_flow *flow, bool by_x)
{
  return (uint32_t)(by_x ? flow->to.x : flow->to.y);
}

/* Stable sort by one coordinate, from `from` to `to` when there are many flows, else in place; returns the sorted. */
static cm_flow *sort_flows(cm_flow *from, cm_flow *to, size_t count, bool by_x, uint32_t *bucket, uint32_t reach)
{
  enum { FEW = 32 };
  if (count <= FEW) {
    for (size_t i = 1; i < count; i++) {
      cm_flow flow = from[i];
      size_t k = i;
      for (; k > 0 && key_of(&from[k - 1], by_x) > key_of(&flow, by_x); k--)
        from[k] = from[k - 1];
      from[k] = flow;
    }
    return from;
  }
  memset(bucket, 0, ((size_t)reach + 1) * sizeof *bucket);
  for (size_t i = 0; i < count; i++)
    bucket[key_of(&from[i], by_x) + 1]++;
  for (uint32_t k = 0; k < reach; k++)
    bucket[k + 1] += bucket[k];
  for (size_t i = 0; i < count; i++)
    to[bucket[key_of(&from[i], by_x)]++] = from[i];
  return to;
}

static uint64_t units(double amount)
{
  return (uint64_t)(int64_t)(amount + 0.5);
}

/* The level of chances that give less than half a unit of `weight` units. */
static size_t level_of(double weight)
{
  int exponent;
  (void)frexp(weight, &exponent);
  int level = exponent / CM_EXIT_LEVEL_BITS; /* its chances are below 2^-(exponent + 1), the weight below 2^exponent */
  return (size_t)(level < 0 ? 0 : level >= CM_EXIT_LEVELS ? CM_EXIT_LEVELS - 1 : level);
}

/* A line of routers from the level of a source on, `a` steps away from it: what comes to it, and where that ends. */
typedef struct line {
  const cm_exit_table *table;
  bool along_x;
  uint32_t a;
  uint64_t *came, *end;
  size_t stride; /* of `end` */
} line;

/* Books what comes to one line: the flows to targets on it, nearest first. Returns all that came. */
static uint64_t take_line(line on, double scale, const cm_flow *flow, size_t count)
{
  const double *chance = on.table->chance + (size_t)on.a * on.table->reach_b;
  uint64_t beyond = 0, under_way = 0, total = 0;
  double passed = 0; /* chance to have come to the line by now */
  for (size_t i = 0; i < count; i++)
    beyond += flow[i].weight;
  for (size_t i = 0; i < count; i++) {
    uint32_t stop = key_of(&flow[i], on.along_x);
    double weight = (double)beyond * scale;
    size_t range = (size_t)on.a * CM_EXIT_LEVELS + level_of(weight);
    uint32_t begin = i == 0 ? 0 : key_of(&flow[i - 1], on.along_x),
             last = stop < on.table->stop[range] ? stop : on.table->stop[range];
    uint64_t came = 0;
    for (uint32_t b = begin < on.table->start[range] ? on.table->start[range] : begin; b < last; b++) {
      uint64_t amount = units(weight * chance[b]);
      on.came[b] += amount;
      came += amount;
    }
    for (uint32_t b = begin; b < stop && i + 1 < count; b++)
      passed += chance[b];
    under_way += came;
    total += came;
    uint64_t ends = i + 1 == count ? under_way : units((double)flow[i].weight * scale * passed);
    ends = ends > under_way ? under_way : ends; /* rounding */
    on.end[stop * on.stride] += ends;
    under_way -= ends;
    beyond -= flow[i].weight;
  }
  return total;
}

/* Flows straight along an axis never enter the field: they are on their line from the start. */
static uint64_t take_straight(double scale, uint64_t weight, uint64_t *came, uint64_t *end)
{
  uint64_t amount = units((double)weight * scale);
  *came += amount;
  *end += amount;
  return amount;
}

void cm_spread_add(cm_spread_part *part, uint32_t x, uint32_t y, unsigned quadrant, const cm_flow *flow, size_t flow_count)
{
  const cm_spread *s = part->spread;
  size_t u = cm_window_column(&s->window, x), v = cm_window_row(&s->window, y), count = 0;
  u = quadrant & 1 ? s->window.width - 1 - u : u;
  v = quadrant & 2 ? s->window.height - 1 - v : v;
  uint64_t *column = part->column[quadrant] + u * s->height + v, *row = part->row[quadrant] + v * s->width + u, total = 0;
  uint64_t *column_end = part->column_end[quadrant] + v * s->width + u;
  uint64_t *row_end = part->row_end[quadrant] + v * s->width + u;
  cm_flow *mine = part->flow[0], *other = part->flow[1];
  for (size_t i = 0; i < flow_count; i++) {
    cm_flow f = {{abs(flow[i].to.x), abs(flow[i].to.y)}, flow[i].weight};
    if (f.to.x == 0)
      total += take_straight(s->scale, f.weight, column, column_end + (size_t)f.to.y * s->width);
    else if (f.to.y == 0)
      total += take_straight(s->scale, f.weight, row, row_end + f.to.x);
    else
      mine[count++] = f;
  }
  for (int turn = 0; turn < 3; turn++) { /* by y, by x, by y: sorted within columns, then within rows */
    bool by_x = turn == 1;
    cm_flow *sorted = sort_flows(mine, other, count, by_x, part->count, by_x ? s->column.reach_a : s->row.reach_a);
    other = sorted == mine ? other : mine;
    mine = sorted;
    for (size_t first = 0, last; turn > 0 && first < count; first = last) {
      uint32_t a = key_of(&mine[first], by_x);
      for (last = first + 1; last < count && key_of(&mine[last], by_x) == a; last++)
        ;
      const line to = by_x ? (line){&s->column, false, a, column + (size_t)a * s->height, column_end + a, s->width}
                           : (line){&s->row, true, a, row + (size_t)a * s->width, row_end + (size_t)a * s->width, 1};
      total += take_line(to, s->scale, mine + first, last - first);
    }
  }
  part->begin[quadrant][v * s->width + u] += total;
}

/* ---- all sources ---- */

/* One quadrant, row by row. `field` is what the open field holds in the row above, `column` what is under way in each
 * column; both start at 0. */
static void sweep(const cm_spread_part *part, uint32_t parts, unsigned quadrant, double *field, uint64_t *column, double *load)
{
  const cm_spread *s = part->spread;
  uint32_t columns = s->window.width, rows = s->window.height;
  for (uint32_t v = 0; v < s->height; v++) {
    uint64_t row = 0;
    double west = 0;
    uint32_t y = v % rows;
    double *here = load + (size_t)(quadrant & 2 ? rows - 1 - y : y) * columns;
    for (uint32_t u = 0; u < s->width; u++) {
      size_t i = (size_t)v * s->width + u, transposed = (size_t)u * s->height + v;
      uint64_t to_column = 0, to_row = 0, begins = 0, column_ends = 0, row_ends = 0;
      for (uint32_t k = 0; k < parts; k++) {
        to_column += part[k].column[quadrant][transposed];
        to_row += part[k].row[quadrant][i];
        begins += part[k].begin[quadrant][i];
        column_ends += part[k].column_end[quadrant][i];
        row_ends += part[k].row_end[quadrant][i];
      }
      west = (west + field[u]) / 2 + (double)(int64_t)(begins - to_column - to_row);
      field[u] = west;
      column[u] += to_column;
      row += to_row;
      uint32_t x = u % columns;
      here[quadrant & 1 ? columns - 1 - x : x] += (west + (double)column[u] + (double)row) / s->scale;
      column[u] -= column_ends;
      row -= row_ends;
    }
  }
}

cm_status cm_spread_finish(const cm_spread *spread, const cm_spread_part *part, uint32_t parts, cm_memory *memory,
                           double *load, cm_error *error)
{
  size_t routers = cm_window_size(&spread->window);
  double *field = NULL, most = 0;
  uint64_t *column = NULL;
  cm_status status = CM_OK;
  memset(load, 0, routers * sizeof *load);
  for (unsigned q = 0; q < CM_QUADRANTS && status == CM_OK; q++) {
    if (CM_NEW_ALL(memory, error, CM_ARRAY(field, spread->width), CM_ARRAY(column, spread->width)) != CM_OK)
      status = error->status;
    else
      sweep(part, parts, q, field, column, load);
    CM_FREE(field, column);
    field = NULL;
    column = NULL;
  }
  for (size_t r = 0; r < routers; r++)
    most = load[r] > most ? load[r] : most;
  for (size_t r = 0; r < routers; r++)
    load[r] = load[r] > most * DUST ? load[r] : 0;
  return status;
}
