/* Congestion under random minimal routing (SPEC section 8): at every router a packet takes each still useful
 * direction with equal probability.
 *
 * Until a packet has reached its target's column or row, the probability that it passes offset (i, j) is
 * C(i+j, i) / 2^(i+j), whatever the target. On the target's column it is the sum of the arrivals from the
 * column before, on the target's row likewise. So all flows of one source into one quadrant can be booked in
 * a single pass over the quadrant with running sums of the weights further out. */
#include <stdlib.h>
#include <string.h>

#include "core/mapping/internal.h"

cm_status cm_spread_table_new(uint32_t width, uint32_t height, cm_memory *memory, cm_spread_table *table,
                              cm_error *error)
{
  cm_spread_table t = {.width = width, .height = height};
  size_t size = (size_t)width * height;
  if (CM_NEW(memory, t.inside, size, error) != CM_OK || CM_NEW(memory, t.column, size, error) != CM_OK ||
      CM_NEW(memory, t.row, size, error) != CM_OK) {
    cm_spread_table_free(&t);
    return error->status;
  }
  for (size_t j = 0; j < height; j++)
    for (size_t i = 0; i < width; i++) {
      size_t here = j * width + i;
      double west = i > 0 ? t.inside[here - 1] / 2 : 0, north = j > 0 ? t.inside[here - width] / 2 : 0;
      t.inside[here] = here == 0 ? 1 : west + north;
      t.column[here] = i == 0 ? 1 : west + (j > 0 ? t.column[here - width] : 0);
      t.row[here] = j == 0 ? 1 : north + (i > 0 ? t.row[here - 1] : 0);
    }
  *table = t;
  return CM_OK;
}

void cm_spread_table_free(cm_spread_table *table)
{
  cm_free(table->inside);
  cm_free(table->column);
  cm_free(table->row);
  *table = (cm_spread_table){0};
}

cm_status cm_spread_scratch_new(const cm_spread_table *table, cm_memory *memory, cm_spread_scratch *scratch,
                                cm_error *error)
{
  cm_spread_scratch s = {0};
  if (CM_NEW(memory, s.target, (size_t)table->width * table->height, error) != CM_OK ||
      CM_NEW(memory, s.column, table->width, error) != CM_OK) {
    cm_spread_scratch_free(&s);
    return error->status;
  }
  *scratch = s;
  return CM_OK;
}

void cm_spread_scratch_free(cm_spread_scratch *scratch)
{
  cm_free(scratch->target);
  cm_free(scratch->column);
  *scratch = (cm_spread_scratch){0};
}

/* Where offsets from one source land on the grid of routers. */
typedef struct frame {
  uint32_t routers_x, routers_y, x, y;
  bool west, north;
  double *load;
} frame;

static uint32_t step(uint32_t from, uint32_t by, bool back, uint32_t around)
{
  uint32_t forward = back ? around - by : by; /* by < around */
  return from >= around - forward ? from - (around - forward) : from + forward;
}

static double *row_of(const frame *f, uint32_t j)
{
  return f->load + (size_t)step(f->y, j, f->north, f->routers_y) * f->routers_x;
}

/* load[i steps along the row] += weight * chance[i] for i < count. */
static void add_row(const frame *f, double *row, const double *chance, double weight, uint32_t count)
{
  uint32_t x = f->x;
  for (uint32_t i = 0; i < count; i++) {
    row[x] += weight * chance[i];
    if (f->west)
      x = x == 0 ? f->routers_x - 1 : x - 1;
    else
      x = x + 1 == f->routers_x ? 0 : x + 1;
  }
}

static void spread_one(const cm_spread_table *t, const frame *f, uint32_t dx, uint32_t dy, uint64_t weight)
{
  double w = (double)weight;
  uint32_t x = step(f->x, dx, f->west, f->routers_x);
  for (uint32_t j = 0; j < dy; j++) {
    double *row = row_of(f, j);
    add_row(f, row, t->inside + (size_t)j * t->width, w, dx);
    row[x] += w * t->column[(size_t)j * t->width + dx];
  }
  double *row = row_of(f, dy);
  add_row(f, row, t->row + (size_t)dy * t->width, w, dx);
  row[x] += w;
}

/* All flows of a quadrant, the furthest being at (dx, dy), from the far corner back. */
static void spread_all(const cm_spread_table *t, cm_spread_scratch *s, const frame *f, const cm_flow *flow,
                       size_t count, uint32_t dx, uint32_t dy)
{
  for (size_t k = 0; k < count; k++)
    s->target[(size_t)(uint32_t)abs(flow[k].to.y) * t->width + (uint32_t)abs(flow[k].to.x)] += flow[k].weight;
  memset(s->column, 0, ((size_t)dx + 1) * sizeof *s->column);
  for (uint32_t j = dy + 1; j-- > 0;) {
    size_t base = (size_t)j * t->width;
    uint64_t *target = s->target + base;
    double *row = row_of(f, j);
    uint64_t beyond_row = 0, beyond_both = 0; /* weights further out along this row; in both axes */
    for (uint32_t i = dx + 1; i-- > 0;) {
      double passing = t->inside[base + i] * (double)beyond_both + t->column[base + i] * (double)s->column[i] +
                       t->row[base + i] * (double)beyond_row + (double)target[i];
      row[step(f->x, i, f->west, f->routers_x)] += passing;
      beyond_both += s->column[i];
      beyond_row += target[i];
      s->column[i] += target[i];
      target[i] = 0;
    }
  }
}

void cm_spread(const cm_spread_table *table, cm_spread_scratch *scratch, uint32_t routers_x,
               uint32_t routers_y, uint32_t x, uint32_t y, const cm_flow *flow, size_t flow_count,
               double *load)
{
  for (size_t first = 0, last; first < flow_count; first = last) {
    frame f = {routers_x, routers_y, x, y, flow[first].to.x < 0, flow[first].to.y < 0, load};
    uint32_t dx = 0, dy = 0;
    uint64_t single = 0;
    for (last = first; last < flow_count; last++) {
      if ((flow[last].to.x < 0) != f.west || (flow[last].to.y < 0) != f.north)
        break;
      uint32_t i = (uint32_t)abs(flow[last].to.x), j = (uint32_t)abs(flow[last].to.y);
      dx = i > dx ? i : dx;
      dy = j > dy ? j : dy;
      single += ((uint64_t)i + 1) * ((uint64_t)j + 1);
    }
    if (single > 2 * ((uint64_t)dx + 1) * ((uint64_t)dy + 1))
      spread_all(table, scratch, &f, flow + first, last - first, dx, dy);
    else
      for (size_t k = first; k < last; k++)
        spread_one(table, &f, (uint32_t)abs(flow[k].to.x), (uint32_t)abs(flow[k].to.y), flow[k].weight);
  }
}
