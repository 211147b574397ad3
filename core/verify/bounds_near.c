/* Usable cores are counted in discs around every router, by sums along rows. */
#include "core/verify/bounds_near.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/verify/bounds_ways.h"

/* Discs are counted exactly up to so many visits of rows. */
static const double DISC_WORK_MAX = 4e8;

/* Usable cores by router, summed along rows from the west: at (x, y) those of routers west of x; a torus twice over. */
typedef struct field {
  uint32_t routers_x, routers_y, width;
  bool torus_x, torus_y;
  const cm_chip *chip;
  const uint8_t *usable;
  uint8_t *filled; /* [routers_y] rows that are summed, when first asked for */
  uint32_t *sum; /* [routers_y * (width + 1)] */
} field;

static cm_status field_new(const cm_chip *chip, const uint8_t *usable, cm_memory *memory, field *f, cm_error *error)
{
  *f = (field){.routers_x = cm_chip_routers_x(chip), .routers_y = cm_chip_routers_y(chip), .torus_x = chip->torus_x,
               .torus_y = chip->torus_y, .chip = chip, .usable = usable};
  f->width = f->torus_x ? 2 * f->routers_x : f->routers_x;
  CM_TRY(CM_NEW(memory, f->filled, f->routers_y, error));
  f->sum = cm_reserve(memory, ((size_t)f->width + 1) * f->routers_y, sizeof *f->sum, error);
  return f->sum != NULL ? CM_OK : error->status;
}

static void field_free(field *f)
{
  CM_FREE(f->filled, f->sum);
}

static cm_status fill_row(field *f, uint32_t y, cm_error *error)
{
  const cm_chip *chip = f->chip;
  uint32_t *sum = f->sum + (size_t)y * (f->width + 1);
  CM_TRY(cm_book_reserved(f->sum, ((size_t)f->width + 1) * sizeof *sum, error));
  for (uint32_t c = y * chip->router_y * chip->width; c < (y + 1) * chip->router_y * chip->width; c++)
    sum[c % chip->width / chip->router_x + 1] += f->usable[c] != 0;
  for (uint32_t x = f->routers_x; x < f->width; x++)
    sum[x + 1] = sum[x + 1 - f->routers_x];
  for (uint32_t x = 0; x < f->width; x++)
    sum[x + 1] += sum[x];
  f->filled[y] = 1;
  return CM_OK;
}

/* Makes the rows that discs around a row look at. */
static cm_status fill_rows(field *f, uint32_t y, uint32_t radius, cm_error *error)
{
  uint32_t reach = radius < f->routers_y ? radius : f->routers_y - 1;
  for (uint32_t d = 0; d <= reach; d++) {
    uint32_t up = y >= d ? y - d : f->torus_y ? y + f->routers_y - d : y;
    uint32_t down = y + d < f->routers_y ? y + d : f->torus_y ? y + d - f->routers_y : y;
    if ((!f->filled[up] && fill_row(f, up, error) != CM_OK) || (!f->filled[down] && fill_row(f, down, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

static uint32_t row_between(const field *f, uint32_t x, uint32_t y, uint32_t reach)
{
  const uint32_t *sum = f->sum + (size_t)y * (f->width + 1);
  if (!f->torus_x)
    return sum[x + reach + 1 < f->width ? x + reach + 1 : f->width] - sum[x > reach ? x - reach : 0];
  if (2 * reach + 1 >= f->routers_x)
    return sum[f->routers_x];
  uint32_t from = x >= reach ? x - reach : x + f->routers_x - reach;
  return sum[from + 2 * reach + 1] - sum[from];
}

/* Usable cores within `radius` steps of a router. */
static uint32_t disc(const field *f, uint32_t x, uint32_t y, uint32_t radius)
{
  uint32_t count = row_between(f, x, y, radius);
  for (uint32_t d = 1; d <= radius; d++) {
    uint32_t reach = radius - d;
    if (!f->torus_y) {
      count += y + d < f->routers_y ? row_between(f, x, y + d, reach) : 0;
      count += y >= d ? row_between(f, x, y - d, reach) : 0;
    } else if (2 * d <= f->routers_y) {
      count += row_between(f, x, (y + d) % f->routers_y, reach);
      count += 2 * d < f->routers_y ? row_between(f, x, (y + f->routers_y - d) % f->routers_y, reach) : 0;
    }
  }
  return count;
}

/* The most usable cores that any usable core has within `radius`, itself included. */
static cm_status fullest_disc(field *f, const cm_chip *chip, uint32_t radius, uint64_t *fullest, cm_error *error)
{
  /* No disc has more: where one has so many, as on any chip with room, the others need not be looked at. */
  uint64_t whole = (2 * (uint64_t)radius * (radius + 1) + 1) * chip->router_x * chip->router_y;
  double rows = (double)f->routers_x * f->routers_y * (2.0 * radius + 1);
  if (rows > DISC_WORK_MAX / (radius + 1)) {
    *fullest = whole;
    return CM_OK;
  }
  uint32_t most = 0, first = radius < f->routers_y ? radius : f->routers_y - 1;
  for (uint32_t j = 0; j < f->routers_y && most < whole; j++) {
    uint32_t y = first + j < f->routers_y ? first + j : first + j - f->routers_y;
    CM_TRY(fill_rows(f, y, radius, error));
    for (uint32_t x = 0; x < f->routers_x && most < whole; x++) {
      if (row_between(f, x, y, 0) == 0)
        continue;
      uint32_t here = disc(f, x, y, radius);
      most = here > most ? here : most;
    }
  }
  *fullest = most;
  return CM_OK;
}

/* What the i-th nearest core costs at least on an endless chip, cost [most]; steps along x and y cost `x` and `y`. */
static cm_status endless_costs(const cm_nearness *w, double x, double y, cm_run *run, cm_error *error)
{
  uint32_t behind = w->chip->router_x * w->chip->router_y, radius = 0;
  double least = x < y ? x : y, most = x < y ? y : x;
  while ((2 * (uint64_t)radius * (radius + 1) + 1) * behind - 1 < w->most)
    radius++;
  /* Whatever the i-th nearest is, a disc by hops of that radius holds enough: none of them costs more than its rim. */
  double rim = radius * most;
  uint64_t reach = least > 0 ? (uint64_t)fmin(rim / least, 2.0 * radius + 4) : 2 * (uint64_t)radius + 4, count = 0;
  double *all;
  CM_TRY(CM_NEW(run->memory, all, (2 * reach * (reach + 1) + 1) * behind, error));
  for (int64_t j = -(int64_t)reach; j <= (int64_t)reach; j++)
    for (int64_t i = -((int64_t)reach - llabs(j)); i <= (int64_t)reach - llabs(j); i++)
      for (uint32_t b = i == 0 && j == 0 ? 1 : 0; b < behind; b++)
        all[count++] = (double)llabs(i) * x + (double)llabs(j) * y;
  qsort(all, count, sizeof *all, cm_ascending_real);
  for (uint32_t i = 0; i < w->most; i++) {
    double beyond = least * (double)(reach + 1); /* what lies outside the disc costs at least this */
    w->cost[i] = i < count && all[i] < beyond ? all[i] : beyond;
  }
  cm_free(all);
  return CM_OK;
}

/* Energy of a step along an axis, at least: links between dies may be cheaper than those `inside`. */
static double step_pj(const cm_hop_cost *cost, double inside, uint32_t dies)
{
  return cost->router + (dies > 1 && cost->die_to_die < inside ? cost->die_to_die : inside);
}

static double cheapest_step(const cm_chip *chip)
{
  const cm_hop_cost *e = &chip->energy_pj;
  return fmin(step_pj(e, e->east_west, chip->dies_x), step_pj(e, e->north_south, chip->dies_y));
}

double cm_bound_step_pj(const cm_chip *chip)
{
  static double (*const cheapest[CM_GEOMETRIES])(const cm_chip *chip) = {cheapest_step, cm_cheapest_hop};
  return cheapest[cm_geometry_of(chip)](chip);
}

/* On an interconnect: nearest cores by hops, each hop as cheap as the cheapest. */
static cm_status measure_ways(const cm_nearness *w, const uint8_t *usable, cm_run *run, cm_error *error)
{
  CM_TRY(cm_bound_ways(w->chip, usable, w->most, run, w->hops, error));
  for (uint32_t i = 0; i < w->most; i++)
    w->cost[i] = w->hops[i] * cm_bound_step_pj(w->chip);
  return CM_OK;
}

static cm_status measure_discs(const cm_nearness *w, const uint8_t *usable, cm_run *run, cm_error *error)
{
  const cm_hop_cost *e = &w->chip->energy_pj;
  double x = step_pj(e, e->east_west, w->chip->dies_x), y = step_pj(e, e->north_south, w->chip->dies_y);
  field f;
  cm_status status = field_new(w->chip, usable, run->memory, &f, error);
  uint32_t filled = 0, radius_max = f.routers_x + f.routers_y;
  for (uint32_t radius = 0; status == CM_OK && filled < w->most && radius <= radius_max; radius++) {
    uint64_t within = 0;
    status = fullest_disc(&f, w->chip, radius, &within, error);
    for (; status == CM_OK && filled < w->most && filled + 1 < within; filled++)
      w->hops[filled] = radius;
    status = status == CM_OK ? cm_run_check(run, error) : status;
  }
  for (; filled < w->most; filled++)
    w->hops[filled] = radius_max; /* more partners than cores: no placement at all */
  field_free(&f);
  CM_THEN(status, endless_costs(w, x, y, run, error));
  for (uint32_t i = 0; status == CM_OK && i < w->most; i++)
    w->cost[i] = fmax(w->cost[i], w->hops[i] * (x < y ? x : y));
  return status;
}

cm_status cm_bound_nearness(const cm_nearness *nearness, const uint8_t *usable, cm_run *run, cm_error *error)
{
  static cm_status (*const measure[CM_GEOMETRIES])(const cm_nearness *, const uint8_t *, cm_run *, cm_error *) = {measure_discs, measure_ways};
  return measure[cm_geometry_of(nearness->chip)](nearness, usable, run, error);
}
