/* Loads of the links of a plain mesh or torus: straight runs by their ends (link_tally.h), packets through routers under random
 * minimal routing (spread.h). What can fail: memory. */
#include "core/chip/geometry.h"
#include "core/measure/metrics_tally.h"

/* At least as many packets as there are. */
static double packets_most(const cm_metrics_work *w)
{
  const cm_topology *topology = w->demand->network;
  double sum = 0;
  for (uint32_t e = 0; e < topology->net_count; e++) {
    uint64_t pins = topology->net_first[e + 1] - topology->net_first[e];
    if (topology->directed)
      sum += (double)cm_demand_net_weight(w->demand, e) * (double)(pins < w->part_count ? pins : w->part_count);
    else
      for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
        sum += (double)cm_demand_pin_weight(w->demand, e, i);
  }
  return sum;
}

static cm_status prepare(cm_metrics_work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  cm_status status = cm_spread_new(&w->window, packets_most(w), memory, &w->spread, error);
  for (uint32_t i = 0; i < w->tasks && status == CM_OK; i++) {
    cm_metrics_tally *t = &w->tally[i];
    CM_TRY(cm_link_tally_new(&w->window, memory, &t->packets, error));
    CM_TRY(cm_link_tally_new(&w->window, memory, &t->trees, error));
    status = cm_spread_part_new(&w->spread, w->part_count, memory, &w->spread_part[i], error);
  }
  return status;
}

static cm_offset way_to(const cm_chip *chip, uint32_t source_core, uint32_t target_core)
{
  cm_offset to;
  cm_chip_steps(chip, source_core, target_core, &to.x, &to.y);
  return to;
}

static void book_cast(const cm_metrics_work *w, cm_metrics_tally *sum, cm_tree_scratch *scratch, const cm_cast *cast,
                      const cm_offset *reached, uint32_t count)
{
  cm_links_book_tree(&sum->trees, scratch, w->chip, cast, reached, count);
}

static cm_status book_lane(const cm_metrics_work *w, cm_metrics_tally *sum, const cm_lane *l, cm_passage *way,
                           CM_UNUSED cm_error *error)
{
  cm_metrics_totals *all = &sum->total;
  uint32_t from = w->core[l->source], to = w->core[l->target];
  cm_hops hops = cm_chip_hops(w->chip, from, to);
  all->east_west += (cm_wide)l->packets * hops.east_west;
  all->north_south += (cm_wide)l->packets * hops.north_south;
  all->die_to_die += (cm_wide)l->packets * hops.die_to_die;
  cm_links_book_path(&sum->packets, w->chip, from, to, l->to, l->packets);
  *way = (cm_passage){(uint64_t)hops.east_west + hops.north_south + hops.die_to_die, cm_hops_cost(&w->chip->latency_ns, hops)};
  return CM_OK;
}

static void add(cm_metrics_tally *sum, const cm_metrics_tally *other)
{
  cm_link_tally_add(&sum->packets, &other->packets);
  cm_link_tally_add(&sum->trees, &other->trees);
}

static void fill_costs(const cm_metrics_work *w, double unit, const cm_metrics_totals *sum, cm_metrics *m)
{
  const cm_hop_cost *e = &w->chip->energy_pj;
  const cm_link_tally *trees = &w->tally[0].trees;
  cm_wide hops = trees->east_west + trees->north_south + trees->die_to_die;
  bool directed = w->demand->network->directed;
  m->multicast_hops = directed ? (double)hops / unit : m->hop_traffic;
  m->multicast_energy_pj =
    directed ? ((double)(sum->tree_packets + hops) * e->router + (double)trees->east_west * e->east_west +
                (double)trees->north_south * e->north_south + (double)trees->die_to_die * e->die_to_die) / unit
             : m->energy_pj;
}

static cm_status fill_loads(const cm_metrics_work *w, double unit, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  size_t routers = cm_window_size(&w->window);
  cm_status status = cm_spread_finish(&w->spread, w->spread_part, w->tasks, w->run->memory, d->congestion, error);
  for (size_t r = 0; status == CM_OK && r < routers; r++) {
    d->congestion[r] /= unit;
    m->congestion_max = d->congestion[r] > m->congestion_max ? d->congestion[r] : m->congestion_max;
  }
  cm_links_fill(&w->tally[0].packets, unit, d->link_load, &m->link_load_max);
  if (w->demand->network->directed)
    cm_links_fill(&w->tally[0].trees, unit, NULL, &m->multicast_link_load_max);
  else
    m->multicast_link_load_max = m->link_load_max;
  return status;
}

const cm_link_count cm_mesh_count = {prepare, way_to, book_cast, book_lane, add, fill_costs, fill_loads};
