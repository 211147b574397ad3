#include "core/measure/border.h"

static double hops_pj(const cm_chip *chip, cm_hops hops)
{
  const cm_hop_cost *e = &chip->energy_pj;
  return (1.0 + hops.east_west + hops.north_south + hops.die_to_die) * e->router + hops.east_west * e->east_west +
         hops.north_south * e->north_south + hops.die_to_die * e->die_to_die;
}

/* Hops from the border to a core; a minimal way from it is straight. */
static cm_hops hops_in(const cm_chip *chip, uint32_t core)
{
  uint32_t x = core % chip->width, row = core - x;
  const uint32_t from[] = {row, row + chip->width - 1, x, (chip->height - 1) * chip->width + x};
  cm_hops best = {0};
  bool found = false;
  for (int i = 0; chip->interconnect == NULL && i < 4; i++) {
    if (i < 2 ? chip->torus_x : chip->torus_y)
      continue;
    cm_hops hops = cm_chip_hops(chip, from[i], core);
    uint32_t way = hops.east_west + hops.north_south + hops.die_to_die, least = best.east_west + best.north_south + best.die_to_die;
    if (!found || way < least || (way == least && hops_pj(chip, hops) < hops_pj(chip, best)))
      best = hops;
    found = true;
  }
  return best;
}

void cm_border_measure(const cm_demand *demand, const cm_chip *chip, const uint32_t *part, const uint32_t *core,
                       cm_metrics *metrics)
{
  const cm_topology *topology = demand->network;
  double unit = (double)topology->weight_scale;
  metrics->outside_inputs = demand->outside_count;
  for (uint32_t e = 0; demand->outside_count > 0 && e < topology->net_count; e++) {
    uint32_t source = cm_topology_source(topology, e);
    if (!cm_demand_is_outside(demand, source))
      continue;
    cm_hops hops = hops_in(chip, core[part[source]]);
    double packets = (double)cm_demand_net_weight(demand, e) / unit;
    metrics->border_packets += packets;
    metrics->border_hops += packets * (hops.east_west + hops.north_south + hops.die_to_die);
    metrics->border_energy_pj += packets * hops_pj(chip, hops);
  }
}
