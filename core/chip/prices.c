#include "core/chip/prices.h"

#include <math.h>

#include "core/chip/interconnect/sets.h"
#include "core/chip/reach.h"

enum { RING_MAX = 4096 };

/* Prices are whole multiples of a power of two, the dearest hop about 2^16 of them: sets that are shifts of each
 * other then cost exactly the same, and the first place is taken. */
enum { PRICE_BITS = 16 };

/* Routers of an axis, and what a hop costs inside a die and between two. */
typedef struct axis {
  uint32_t length, die;
  bool ring;
  double inside, between;
} axis;

static cm_status axis_new(axis of, cm_memory *memory, cm_price_axis *a, cm_error *error)
{
  *a = (cm_price_axis){.length = of.length, .ring = of.ring && of.length > 2 && of.length <= RING_MAX};
  CM_TRY(CM_NEW(memory, a->at, (size_t)of.length + 1, error));
  for (uint32_t i = 0; i < of.length; i++)
    a->at[i + 1] = a->at[i] + ((i + 1) % of.die == 0 && of.length > of.die ? of.between : of.inside);
  return CM_OK;
}

cm_status cm_price_axes_new(const cm_chip *chip, cm_price_axis *x, cm_price_axis *y, double *unit, cm_memory *memory, cm_error *error)
{
  const cm_hop_cost *e = &chip->energy_pj;
  bool free_of_charge = e->router + e->east_west + e->north_south + e->die_to_die <= 0;
  double router = free_of_charge ? 1 : e->router;
  double dearest = router + fmax(e->die_to_die, fmax(e->east_west, e->north_south));
  int exponent;
  (void)frexp(dearest, &exponent);
  double scale = ldexp(1, PRICE_BITS - exponent), between = rint((router + e->die_to_die) * scale);
  *unit = scale;
  const axis across = {cm_chip_routers_x(chip), chip->die_width / chip->router_x, chip->torus_x,
                       rint((router + e->east_west) * scale), between};
  const axis down = {cm_chip_routers_y(chip), chip->die_height / chip->router_y, chip->torus_y,
                     rint((router + e->north_south) * scale), between};
  cm_status status = axis_new(across, memory, x, error);
  return status == CM_OK ? axis_new(down, memory, y, error) : status;
}

double cm_dead_link_penalty(const cm_chip *chip, uint32_t x, uint32_t y, double mean_hop)
{
  static const cm_direction back[CM_DIRECTIONS] = {
      [CM_EAST] = CM_WEST, [CM_WEST] = CM_EAST, [CM_SOUTH] = CM_NORTH, [CM_NORTH] = CM_SOUTH};
  uint32_t router = y * cm_chip_routers_x(chip) + x, dead = 0;
  for (cm_direction d = CM_EAST; d < CM_DIRECTIONS && chip->dead_link_count > 0; d++) {
    uint32_t beside = cm_chip_next_router(chip, router, d);
    if (beside != CM_NO_ROUTER)
      dead += (uint32_t)cm_chip_link_dead(chip, router, d) + (uint32_t)cm_chip_link_dead(chip, beside, back[d]);
  }
  return rint(dead * mean_hop / 4);
}

double cm_price_mean_hop(const cm_price_axis *x, const cm_price_axis *y)
{
  return (x->at[x->length] + y->at[y->length]) / ((double)x->length + y->length);
}

/* Sum over all pairs of a line's members, given how many stand at each place. */
static double pairs_along(const cm_price_axis *a, const uint32_t *members)
{
  double sum = 0, before = 0, moment = 0;
  if (!a->ring) {
    for (uint32_t i = 0; i < a->length; i++) {
      sum += members[i] * (before * a->at[i] - moment);
      before += members[i];
      moment += members[i] * a->at[i];
    }
    return sum;
  }
  for (uint32_t i = 0; i < a->length; i++)
    for (uint32_t j = i + 1; members[i] > 0 && j < a->length; j++)
      sum += (double)members[i] * members[j] * cm_price_way(a, i, j);
  return sum;
}

cm_status cm_set_cost(const cm_chip *chip, const uint32_t *cores, uint32_t count, cm_memory *memory, double *cost,
                      cm_error *error)
{
  cm_price_axis x = {0}, y = {0};
  uint32_t *column = NULL, *row = NULL;
  double unit;
  *cost = 0;
  if (count < 2)
    return CM_OK;
  if (chip->interconnect != NULL)
    return cm_interconnect_set_cost(chip, cores, count, memory, cost, error);
  cm_status status = cm_price_axes_new(chip, &x, &y, &unit, memory, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(column, x.length), CM_ARRAY(row, y.length)));
  if (status == CM_OK) {
    double hop = cm_price_mean_hop(&x, &y), sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t rx = cores[i] % chip->width / chip->router_x, ry = cores[i] / chip->width / chip->router_y;
      column[rx]++;
      row[ry]++;
      sum += cm_dead_link_penalty(chip, rx, ry, hop) * (count - 1);
    }
    *cost = (sum + pairs_along(&x, column) + pairs_along(&y, row)) / ((double)count * (count - 1) / 2 * unit);
  }
  CM_FREE(x.at, y.at, column, row);
  return status;
}
