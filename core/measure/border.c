#include "core/measure/border.h"

#include "core/chip/geometry.h"

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
    cm_hops hops = cm_chip_hops_from_border(chip, core[part[source]]);
    double packets = (double)cm_demand_net_weight(demand, e) / unit;
    metrics->border_packets += packets;
    metrics->border_hops += packets * (hops.east_west + hops.north_south + hops.die_to_die);
    metrics->border_energy_pj += packets * cm_hops_cost(&chip->energy_pj, hops);
  }
}
