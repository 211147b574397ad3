#include "core/placement/relief/router_loads.h"

#include <stdlib.h>
#include <string.h>

/* ---- the box ---- */

/* Routers of one axis from the first to the last in use; around a torus all. */
static cm_load_axis box(uint32_t *place, uint32_t count, uint32_t routers, bool torus)
{
  uint32_t low = UINT32_MAX, high = 0;
  for (uint32_t c = 0; c < count; c++) {
    low = place[c] < low ? place[c] : low;
    high = place[c] > high ? place[c] : high;
  }
  if (count == 0)
    return (cm_load_axis){.length = 1};
  for (uint32_t c = 0; c < count && !torus; c++)
    place[c] -= low;
  return torus ? (cm_load_axis){routers, true, routers / 2} : (cm_load_axis){high - low + 1, false, high - low};
}

/* Chances by the recurrence: half of what comes to a router in the open goes on along either axis. */
static void fill_chances(double *chance, uint32_t dx, uint32_t dy)
{
  uint32_t width = dx + 1;
  memset(chance, 0, (size_t)width * (dy + 1) * sizeof *chance);
  chance[0] = 1;
  for (uint32_t y = 0; y <= dy; y++)
    for (uint32_t x = 0; x <= dx; x++) {
      double here = chance[(size_t)y * width + x];
      if (x < dx)
        chance[(size_t)y * width + x + 1] += y < dy ? here / 2 : here;
      if (y < dy)
        chance[(size_t)(y + 1) * width + x] += x < dx ? here / 2 : here;
    }
}

static cm_status make_patterns(cm_loads *l, size_t chances, cm_memory *memory, cm_error *error)
{
  size_t at = 0;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(l->pattern_first, (size_t)(l->x.reach + 1) * (l->y.reach + 1)),
                    CM_ARRAY(l->pattern, chances), CM_ARRAY(l->mirrored, chances)));
  for (uint32_t dy = 0; dy <= l->y.reach; dy++)
    for (uint32_t dx = 0; dx <= l->x.reach; dx++) {
      l->pattern_first[(size_t)dy * (l->x.reach + 1) + dx] = at;
      fill_chances(l->pattern + at, dx, dy);
      for (uint32_t y = 0; y <= dy; y++, at += dx + 1)
        for (uint32_t x = 0; x <= dx; x++)
          l->mirrored[at + x] = l->pattern[at + dx - x];
    }
  return CM_OK;
}

cm_status cm_loads_new(const cm_flows *flows, const cm_place_task *task, cm_loads **loads, cm_error *error)
{
  const cm_chip *chip = task->chip;
  const uint32_t *core = task->region->cores, count = task->region->core_count;
  cm_run *run = task->run;
  cm_loads *l;
  CM_TRY(CM_NEW(run->memory, l, 1, error));
  l->flows = flows;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(l->core_x, count), CM_ARRAY(l->core_y, count));
  for (uint32_t c = 0; c < count && status == CM_OK; c++) {
    l->core_x[c] = core[c] % chip->width / chip->router_x;
    l->core_y[c] = core[c] / chip->width / chip->router_y;
  }
  size_t chances = 0;
  if (status == CM_OK) {
    l->x = box(l->core_x, count, cm_chip_routers_x(chip), chip->torus_x);
    l->y = box(l->core_y, count, cm_chip_routers_y(chip), chip->torus_y);
    double along_x = (l->x.reach + 1.0) * (l->x.reach + 2.0) / 2, along_y = (l->y.reach + 1.0) * (l->y.reach + 2.0) / 2;
    if (along_x * along_y > CM_LOAD_CHANCES_MAX) {
      cm_loads_free(l);
      *loads = NULL;
      return CM_OK;
    }
    chances = (size_t)(along_x * along_y);
    status = make_patterns(l, chances, run->memory, error);
  }
  CM_THEN(status, CM_NEW(run->memory, l->load, (size_t)l->x.length * l->y.length, error));
  CM_THEN(status, cm_flows_turned(flows, run, &l->in, error));
  CM_END(status, *loads = l, cm_loads_free(l));
}

void cm_loads_free(cm_loads *l)
{
  if (l == NULL)
    return;
  cm_flows_free(l->in);
  CM_FREE(l->core_x, l->core_y, l->pattern_first, l->pattern, l->mirrored, l->load, l);
}

/* ---- booking ---- */

/* Steps along an axis: around a ring the shorter way, the positive one of two as long. */
static int64_t steps(const cm_load_axis *a, uint32_t from, uint32_t to)
{
  int64_t direct = (int64_t)to - from, length = a->length;
  if (!a->ring)
    return direct;
  int64_t forward = direct >= 0 ? direct : direct + length;
  return 2 * forward <= length ? forward : forward - length;
}

/* Adds so many times the chances to `width` routers of a row from the western one on. */
static void add_row(double *row, const cm_load_axis *a, uint32_t west, const double *chance, uint32_t width,
                    double weight)
{
  uint32_t straight = a->length - west < width ? a->length - west : width;
  for (uint32_t x = 0; x < straight; x++)
    row[west + x] += weight * chance[x];
  for (uint32_t x = straight; x < width; x++) /* around the ring */
    row[x - straight] += weight * chance[x];
}

static void book_way(cm_loads *l, uint32_t from, uint32_t to, double weight)
{
  int64_t sx = steps(&l->x, l->core_x[from], l->core_x[to]), sy = steps(&l->y, l->core_y[from], l->core_y[to]);
  uint32_t dx = (uint32_t)llabs(sx), dy = (uint32_t)llabs(sy), y = l->core_y[from];
  uint32_t west = sx >= 0 ? l->core_x[from] : l->core_x[to];
  const double *chance =
    (sx >= 0 ? l->pattern : l->mirrored) + l->pattern_first[(size_t)dy * (l->x.reach + 1) + dx];
  l->touched += (double)(dx + 1) * (dy + 1);
  for (uint32_t j = 0; j <= dy; j++, chance += dx + 1) {
    add_row(l->load + (size_t)y * l->x.length, &l->x, west, chance, dx + 1, weight);
    y = sy >= 0 ? (y + 1 == l->y.length ? 0 : y + 1) : y == 0 ? l->y.length - 1 : y - 1;
  }
}

void cm_loads_fill(cm_loads *l, const uint32_t *at)
{
  const cm_flows *f = l->flows;
  memset(l->load, 0, (size_t)l->x.length * l->y.length * sizeof *l->load);
  for (uint32_t p = 0; p < f->parts; p++)
    for (uint64_t i = f->first[p]; i < f->first[p + 1]; i++)
      book_way(l, at[p], at[f->target[i]], (double)f->weight[i]);
}

void cm_loads_book(cm_loads *l, const uint32_t *at, uint32_t part, uint32_t without, double sign)
{
  const cm_flows *f = l->flows;
  for (uint64_t i = f->first[part]; i < f->first[part + 1]; i++)
    if (f->target[i] != without)
      book_way(l, at[part], at[f->target[i]], sign * (double)f->weight[i]);
  for (uint64_t i = l->in->first[part]; i < l->in->first[part + 1]; i++)
    if (l->in->target[i] != without)
      book_way(l, at[l->in->target[i]], at[part], sign * (double)l->in->weight[i]);
}

double cm_loads_highest(const cm_loads *l)
{
  double most = 0;
  size_t routers = (size_t)l->x.length * l->y.length;
  for (size_t r = 0; r < routers; r++)
    most = l->load[r] > most ? l->load[r] : most;
  return most;
}
