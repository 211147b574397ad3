/* Proof. Let every element of Y need all of a box of X. Lane s of the set S that makes any of the box has done its last of it at
 * f(s), and lane t of T begins with Y at f(s) + gap + d(s, t) at least, for every s and t: so too on the mean over any pairs that have
 * s as its weight in S is and t as its weight in T is. Such a mean of d grows as two terms, one of S and one of T alone:
 *
 * Hops. Cut each set's weight into quarters, one for each j of (1, 1), (1, -1), (-1, 1), (-1, -1), as suits, and let pairs be of opposite
 * ones. Then d >= j s - j t, and the mean is G(S) + G(T), G the mean of j s. The best quarters are a flow: by its dual the mean over S of
 * max over j of (j s - u_j) + mean u, at the least u, whose differences are whole. Of all sets of k stations, each with the largest share, the
 * least is that of the k least terms for some u (`apart`). j s are s = +-(x + y) and t = +-(x - y), and u two centers and a difference
 * of widths, of which each side of both is the largest somewhere: else it could be less.
 *
 * A first hop costs more (its router). Pairs of opposite quarters need not meet at one station unless a and b, the largest shares of
 * one in both, exceed 1 together, and then by a + b - 1 <= max(a - 1/2, 0) + max(b - 1/2, 0). Of k alike a is 4 / k at most.
 *
 * A lane that does any work does its issue and the work over its weight; the mean, by weight, is the issue and all work over the
 * weight of S. Between two exchanges that is with G(S) twice, at the ends once; the least over k bounds all. In between work and first hops are
 * linear in 1 / k, so the least is at whole k, 4 and 8 among them. */
#include "core/machine/bound_exchange.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { STATIONS_MAX = 64 };

typedef struct spot {
  int32_t sum, difference; /* of its coordinates, twice */
} spot;

/* For two centers and a difference of widths, in halves: four times the hops to what lies between. */
static void measure(const spot *spots, const cm_exchange *e, int32_t sum, int32_t difference, int32_t wider, double *far)
{
  double all = 0;
  for (uint32_t i = 0; i < e->count; i++)
    far[i] = fmax(2 * abs(spots[i].sum - sum) - wider, 2 * abs(spots[i].difference - difference) + wider);
  qsort(far, e->count, sizeof *far, cm_ascending_real);
  for (uint32_t k = 0; k < e->count; k++) {
    all += far[k] / 4;
    e->apart[k] = fmin(e->apart[k], all / (k + 1));
  }
}

static void measure_all(const spot *spots, const cm_exchange *e, double *far)
{
  spot low = spots[0], high = spots[0];
  for (uint32_t i = 1; i < e->count; i++) {
    low.sum = spots[i].sum < low.sum ? spots[i].sum : low.sum;
    low.difference = spots[i].difference < low.difference ? spots[i].difference : low.difference;
    high.sum = spots[i].sum > high.sum ? spots[i].sum : high.sum;
    high.difference = spots[i].difference > high.difference ? spots[i].difference : high.difference;
  }
  for (uint32_t k = 0; k < e->count; k++)
    e->apart[k] = HUGE_VAL;
  for (int32_t s = low.sum; s <= high.sum; s++)
    for (int32_t d = low.difference; d <= high.difference; d++)
      for (int32_t w = low.difference - high.difference + ((s + d + high.difference - low.difference) & 1); w <= high.sum - low.sum; w += 2)
        measure(spots, e, s, d, w, far);
}

/* The stations of lanes with any weight; their count. */
static uint32_t find_spots(const cm_reach_of *of, spot *spots, cm_exchange *e)
{
  const cm_target *t = of->target;
  const cm_core_grid *g = &t->grid;
  uint32_t count = 0;
  for (uint32_t s = 0; s < of->hops->stations; s++) {
    double share = 0;
    for (uint32_t l = 0; l < t->lane_count; l++) {
      const uint32_t core = cm_lane_core(t, l);
      const int32_t x = (int32_t)(core % g->width / g->router_x), y = (int32_t)(core / g->width / g->router_y);
      share += of->hops->station[l] == s ? of->weight[cm_lane_device(t, l)] : 0;
      if (of->hops->station[l] == s)
        spots[count] = (spot){2 * (x + y), 2 * (x - y)};
    }
    e->share = fmax(e->share, share);
    count += share > 0;
  }
  return count;
}

/* The least that a hop takes. */
static double least_hop_ns(const cm_core_grid *g)
{
  const double x = g->width > 1 ? g->east_west_ns : HUGE_VAL, y = g->height > 1 ? g->north_south_ns : HUGE_VAL;
  return g->router_ns + fmin(fmin(x, y), g->die_width < g->width || g->die_height < g->height ? g->die_to_die_ns : HUGE_VAL);
}

cm_status cm_exchange_make(const cm_reach_of *of, cm_memory *memory, cm_exchange *made, cm_error *error)
{
  const cm_core_grid *g = &of->target->grid;
  const uint32_t stations = of->hops->stations, ways = cm_hop_ways(of->target);
  cm_exchange e = {.first_ns = ways * g->router_ns};
  spot *spots;
  double *far = NULL;
  *made = e;
  if (stations < 2 || stations > STATIONS_MAX || g->torus_x || g->torus_y)
    return CM_OK;
  e.hop_ns = ways * least_hop_ns(g);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(spots, stations + 1), CM_ARRAY(far, stations), CM_ARRAY(e.apart, stations)));
  e.count = find_spots(of, spots, &e);
  if (e.count > 0)
    measure_all(spots, &e, far);
  CM_FREE(spots, far);
  *made = e;
  return CM_OK;
}

double cm_exchange_ns(const cm_exchange *of, double work, int sides)
{
  double least = HUGE_VAL;
  for (uint32_t k = 1; k <= of->count; k++)
    least = fmin(least, work / (k * of->share) + sides * (of->hop_ns * of->apart[k - 1] + of->first_ns * fmin(0.5, fmax(0, 1 - 4.0 / k))));
  return of->count > 0 ? least : 0;
}
