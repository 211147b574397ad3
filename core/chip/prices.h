/* Prices of ways split by axis: cost(a, b) = way along x + way along y. */
#pragma once

#include <math.h>

#include "core/chip/chip.h"

/* Routers along one axis. Prices are whole numbers: sums of them are exact in any order. */
typedef struct cm_price_axis {
  uint32_t length;
  bool ring;  /* too long a ring is taken for a line */
  double *at; /* [length + 1] price of the way from router 0; the last of a ring: all the way round */
} cm_price_axis;

/* Both axes of a chip; the caller frees their `at`, also on failure. *unit: prices per pJ. O(routers along them). */
cm_status cm_price_axes_new(const cm_chip *chip, cm_price_axis *x, cm_price_axis *y, double *unit, cm_memory *memory,
                            cm_error *error);

double cm_price_mean_hop(const cm_price_axis *x, const cm_price_axis *y);

/* Half a mean hop for every dead link that leaves or enters router (x, y). */
double cm_dead_link_penalty(const cm_chip *chip, uint32_t x, uint32_t y, double mean_hop);

/* The price between two routers, the way round a ring that has less hops; of two with as many the cheaper. */
static inline double cm_price_way(const cm_price_axis *a, uint32_t from, uint32_t to)
{
  uint32_t low = from < to ? from : to, high = from < to ? to : from;
  double direct = a->at[high] - a->at[low];
  if (!a->ring || 2 * (high - low) < a->length)
    return direct;
  double round = a->at[a->length] - direct;
  return 2 * (high - low) > a->length ? round : fmin(direct, round);
}
