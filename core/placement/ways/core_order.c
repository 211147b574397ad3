/* The order of cores that blocks are cut from. What can fail: memory, a stop. */
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/placement/curve.h"
#include "core/placement/ways/ways.h"

typedef struct ranked {
  int64_t key;
  uint32_t router;
} ranked;

CM_ORDER(by_key, ranked, CM_RISING(key) CM_RISING(router))

/* The router of a range that is farthest from one. */
static uint32_t farthest(const cm_interconnect *net, const ranked *list, uint32_t count, uint32_t from)
{
  uint32_t best = list[0].router, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t far = cm_interconnect_units(net, from, list[i].router);
    if (far > most) {
      most = far;
      best = list[i].router;
    }
  }
  return best;
}

/* Sorts routers by how much nearer they are to one end of the range than to the other, and both halves likewise: the ends of
 * neighbouring halves face each other. */
static cm_status halve(const cm_interconnect *net, ranked *list, uint32_t count, uint32_t near_end, cm_run *run, cm_error *error)
{
  while (count > 2) {
    uint32_t a = near_end == UINT32_MAX ? farthest(net, list, count, farthest(net, list, count, list[0].router)) : near_end;
    uint32_t b = farthest(net, list, count, a);
    for (uint32_t i = 0; i < count; i++)
      list[i].key = (int64_t)cm_interconnect_units(net, a, list[i].router) - cm_interconnect_units(net, b, list[i].router);
    qsort(list, count, sizeof *list, by_key);
    uint32_t half = count / 2;
    CM_TRY(halve(net, list, half, list[0].router, run, error));
    CM_TRY(cm_run_check(run, error));
    uint32_t last = list[half - 1].router, nearest = list[half].router;
    for (uint32_t i = half; i < count; i++)
      if (cm_interconnect_units(net, last, list[i].router) < cm_interconnect_units(net, last, nearest))
        nearest = list[i].router;
    list += half;
    count -= half;
    near_end = nearest;
  }
  return CM_OK;
}

/* Cores of a router stand together. */
typedef struct seat {
  uint32_t rank, core, number;
} seat;

CM_ORDER(by_rank, seat, CM_RISING(rank) CM_RISING(core))

static cm_status order_by_halves(const cm_chip *chip, const cm_region *region, cm_run *run, uint32_t *order, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t grid = net->columns * net->rows, listed = 0, *rank = NULL;
  ranked *list = NULL;
  seat *seats = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(rank, grid), CM_ARRAY(list, grid),
                                CM_ARRAY(seats, region->core_count));
  for (uint32_t i = 0; status == CM_OK && i < region->core_count; i++)
    rank[cm_router_of(chip, region->cores[i])] = 1;
  for (uint32_t r = 0; status == CM_OK && r < grid; r++)
    if (rank[r] != 0)
      list[listed++].router = r;
  CM_THEN_IF(status, listed > 0, halve(net, list, listed, UINT32_MAX, run, error));
  for (uint32_t i = 0; status == CM_OK && i < listed; i++)
    rank[list[i].router] = i;
  for (uint32_t i = 0; status == CM_OK && i < region->core_count; i++)
    seats[i] = (seat){rank[cm_router_of(chip, region->cores[i])], region->cores[i], i};
  if (status == CM_OK && region->core_count > 0)
    qsort(seats, region->core_count, sizeof *seats, by_rank);
  for (uint32_t i = 0; status == CM_OK && i < region->core_count; i++)
    order[i] = seats[i].number;
  CM_FREE(rank, list, seats);
  return status;
}

cm_status cm_order_by_ways(const cm_chip *chip, const cm_region *region, cm_run *run, uint32_t *order, cm_error *error)
{
  /* Hilbert's curve does not know diagonal links; halves ask for distances, which a table has at hand. */
  bool curve = cm_interconnect_kind_of(chip) == CM_GRID || (cm_interconnect_kind_of(chip) == CM_HEXAGONAL && cm_chip_routers(chip) > CM_TABLE_ROUTERS_MAX);
  return curve ? cm_order_cores(chip, region, run, order, error) : order_by_halves(chip, region, run, order, error);
}
