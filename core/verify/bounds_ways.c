#include "core/verify/bounds_ways.h"

#include <math.h>
#include <string.h>

#include "core/chip/interconnect/interconnect.h"

typedef struct flood {
  const cm_interconnect *net;
  uint32_t *here;     /* [routers] usable cores behind each */
  uint32_t *queue;    /* [routers] */
  uint32_t *distance; /* [routers] UINT32_MAX: not reached */
} flood;

/* Usable cores ring by ring around a router; hops [most] falls to what it has. */
static void spread(flood *f, uint32_t from, uint32_t most, double *hops)
{
  const cm_interconnect *net = f->net;
  uint32_t count = 1, found = 0, cores = f->here[from] - 1; /* itself excepted */
  memset(f->distance, 0xff, net->routers * sizeof *f->distance);
  f->distance[from] = 0;
  f->queue[0] = from;
  for (uint32_t head = 0; head < count && found < most; head++) {
    uint32_t router = f->queue[head];
    cores = head == 0 ? cores : f->here[router];
    for (; cores > 0 && found < most; cores--, found++)
      hops[found] = fmin(hops[found], f->distance[router]);
    for (uint32_t i = net->first[router]; i < net->first[router + 1]; i++)
      if (!net->link[i].dead && f->distance[net->link[i].to] == UINT32_MAX) {
        f->distance[net->link[i].to] = f->distance[router] + 1;
        f->queue[count++] = net->link[i].to;
      }
  }
}

/* Rings of a grid where every router is in place; elsewhere a hop for whatever is not behind the same router. */
static void spread_at_best(const cm_chip *chip, uint32_t most, double *hops)
{
  const cm_interconnect *net = chip->interconnect;
  uint64_t behind = (uint64_t)chip->router_x * chip->router_y, degree = net->kind == CM_HEXAGONAL ? 6 : 4, ring = 0, within = behind;
  for (uint32_t i = 0; i < most; i++) {
    while (i + 1 >= within && (net->kind == CM_HEXAGONAL || net->kind == CM_GRID || ring == 0)) {
      ring++;
      within += degree * ring * behind;
    }
    hops[i] = (double)ring;
  }
}

cm_status cm_bound_ways(const cm_chip *chip, const uint8_t *usable, uint32_t most, cm_run *run, double *hops, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  flood f = {.net = net};
  if (net->routers > CM_TABLE_ROUTERS_MAX) {
    spread_at_best(chip, most, hops);
    return CM_OK;
  }
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(f.here, net->routers), CM_ARRAY(f.queue, net->routers),
                                CM_ARRAY(f.distance, net->routers));
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip); c++)
    f.here[c / chip->width / chip->router_y * net->columns + c % chip->width / chip->router_x] += usable[c];
  for (uint32_t i = 0; i < most; i++)
    hops[i] = net->routers; /* more partners than cores: no placement at all */
  for (uint32_t r = 0; status == CM_OK && most > 0 && r < net->routers; r++)
    if (f.here[r] > 0) {
      spread(&f, r, most, hops);
      status = cm_run_check(run, error);
    }
  CM_FREE(f.here, f.queue, f.distance);
  return status;
}

double cm_cheapest_hop(const cm_chip *chip)
{
  const cm_interconnect *net = chip->interconnect;
  double least = net->link_count > 0 ? INFINITY : 0;
  for (uint32_t i = 0; i < net->link_count; i++)
    least = fmin(least, net->link[i].energy_pj);
  return least + chip->energy_pj.router;
}
