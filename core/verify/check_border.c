/* Inputs outside the chip, by walking to every router of the border there is. */
#include <math.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/verify/check_measure.h"

/* Routers along an axis from one to another; the shorter way where it wraps. */
static uint32_t apart(uint32_t from, uint32_t to, uint32_t count, bool wraps)
{
  uint32_t straight = from > to ? from - to : to - from;
  return wraps && count - straight < straight ? count - straight : straight;
}

/* Hops and energy of a packet from the border to a core. */
static void come_in(const cm_chip *chip, uint32_t core, double *hops, double *energy_pj)
{
  uint32_t columns = chip->width / chip->router_x, rows = chip->height / chip->router_y;
  uint32_t x = core % chip->width / chip->router_x, y = core / chip->width / chip->router_y;
  bool bordered = cm_geometry_of(chip) == CM_BY_AXES && !(chip->torus_x && chip->torus_y);
  *hops = bordered ? INFINITY : 0;
  *energy_pj = bordered ? INFINITY : chip->energy_pj.router;
  for (uint32_t v = 0; bordered && v < rows; v++)
    for (uint32_t u = 0; u < columns; u++) {
      bool at_border = (!chip->torus_x && (u == 0 || u + 1 == columns)) || (!chip->torus_y && (v == 0 || v + 1 == rows));
      double way = (double)apart(u, x, columns, chip->torus_x) + (double)apart(v, y, rows, chip->torus_y);
      if (!at_border || way > *hops)
        continue;
      cm_hops kinds = cm_chip_hops(chip, v * chip->router_y * chip->width + u * chip->router_x, core);
      double pj = (way + 1) * chip->energy_pj.router + kinds.east_west * chip->energy_pj.east_west +
                  kinds.north_south * chip->energy_pj.north_south + kinds.die_to_die * chip->energy_pj.die_to_die;
      *energy_pj = way < *hops ? pj : fmin(*energy_pj, pj);
      *hops = way;
    }
}

void cm_check_border(const cm_mapped *mapped, cm_metrics *metrics)
{
  const cm_topology *topology = mapped->demand->network;
  uint32_t last = UINT32_MAX;
  double hops = 0, energy_pj = 0;
  for (uint32_t v = 0; mapped->demand->outside_count > 0 && v < topology->vertex_count; v++)
    metrics->outside_inputs += strcmp(topology->population[topology->population_of[v]].kind, CM_INPUT_KIND) == 0;
  for (uint32_t e = 0; metrics->outside_inputs > 0 && e < topology->net_count; e++) {
    uint32_t source = cm_topology_source(topology, e);
    double rate = (double)cm_demand_net_weight(mapped->demand, e) / (double)topology->weight_scale;
    if (strcmp(topology->population[topology->population_of[source]].kind, CM_INPUT_KIND) != 0)
      continue;
    uint32_t core = mapped->core[mapped->part[source]];
    if (core != last)
      come_in(mapped->chip, core, &hops, &energy_pj);
    last = core;
    metrics->border_packets += rate;
    metrics->border_hops += rate * hops;
    metrics->border_energy_pj += rate * energy_pj;
  }
}
