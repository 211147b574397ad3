/* Metrics out of what was counted. */
#include <math.h>

#include "core/chip/geometry.h"
#include "core/limits/copies.h"
#include "core/measure/link_tally.h"
#include "core/measure/metrics_tally.h"

typedef cm_metrics_work work;
typedef cm_metrics_tally tally;
typedef cm_metrics_totals totals;
typedef cm_wide wide;

/* Adds the counts of all other tasks to those of the first, totals excepted. */
static void gather(const work *w)
{
  tally *sum = &w->tally[0];
  for (uint32_t task = 1; task < w->tasks; task++) {
    for (int i = 0; i < CM_METRICS_BY_PART; i++)
      for (uint32_t p = 0; p < w->part_count; p++)
        sum->by_part[i][p] += w->tally[task].by_part[i][p];
    w->links->add(sum, &w->tally[task]);
  }
}

static void raise_to(uint64_t *most, uint64_t value)
{
  *most = value > *most ? value : *most;
}

static void fill_cores(const work *w, const uint32_t *vertices, double unit, cm_metrics *m, cm_core_load *core)
{
  double reuse = 0;
  uint64_t neurons = 0; /* copies included */
  for (uint32_t p = 0; p < w->part_count; p++) {
    cm_core_load *c = &core[p];
    neurons += c->neurons;
    c->synapses = w->tally[0].synapses[p];
    c->inbound_axons = w->tally[0].inbound[p];
    c->outbound_axons = w->outbound[p];
    c->target_cores = w->targets[p];
    c->source_cores = w->tally[0].sources[p];
    c->traffic_in = (double)w->tally[0].incoming[p] / unit;
    c->traffic_out = (double)w->outgoing[p] / unit;
    m->cores_used += vertices[p] > 0;
    if (c->inbound_axons > 0)
      reuse += (double)c->synapses / (double)c->inbound_axons;
    raise_to(&m->largest_part, c->neurons);
    raise_to(&m->most_synapses, c->synapses);
    raise_to(&m->most_inbound_axons, c->inbound_axons);
    raise_to(&m->most_outbound_axons, c->outbound_axons);
    raise_to(&m->most_target_cores, c->target_cores);
  }
  if (m->cores_used == 0)
    return;
  m->synaptic_reuse_mean = reuse / m->cores_used;
  m->imbalance = neurons > 0 ? ((double)m->largest_part * m->cores_used - (double)neurons) / (double)neurons : 0;
}

/* Inlets and outlets of cores are links too. */
static void fill_ports(const work *w, double unit, const cm_core_load *core, cm_metrics *m)
{
  for (uint32_t p = 0; p < w->part_count; p++) {
    double cast = w->demand->network->directed ? (double)w->casts[p] / unit : core[p].traffic_out;
    m->port_load_max = fmax(m->port_load_max, fmax(core[p].traffic_in, core[p].traffic_out));
    m->multicast_port_load_max = fmax(m->multicast_port_load_max, fmax(core[p].traffic_in, cast));
  }
  m->link_load_max = fmax(m->link_load_max, m->port_load_max);
  m->multicast_link_load_max = fmax(m->multicast_link_load_max, m->multicast_port_load_max);
}

static void fill_totals(const work *w, double unit, cm_metrics *m)
{
  totals sum = {0};
  for (uint32_t i = 0; i < w->tasks; i++) {
    const totals *t = &w->tally[i].total;
    sum.packets += t->packets;
    sum.east_west += t->east_west;
    sum.north_south += t->north_south;
    sum.die_to_die += t->die_to_die;
    sum.way_hops += t->way_hops;
    sum.cut_net += t->cut_net;
    sum.edge_cut += t->edge_cut;
    sum.edge_hops += t->edge_hops;
    sum.tree_packets += t->tree_packets;
    sum.latency_max_ns = t->latency_max_ns > sum.latency_max_ns ? t->latency_max_ns : sum.latency_max_ns;
  }
  wide hops = sum.east_west + sum.north_south + sum.die_to_die + sum.way_hops;
  const cm_hop_cost *e = &w->chip->energy_pj, *l = &w->chip->latency_ns;
  double packets = (double)sum.packets, passed = (double)(sum.packets + hops);
  double ew = (double)sum.east_west, ns = (double)sum.north_south, dd = (double)sum.die_to_die;
  m->energy_pj = (passed * e->router + ew * e->east_west + ns * e->north_south + dd * e->die_to_die) / unit;
  if (sum.packets > 0)
    m->latency_mean_ns = (passed * l->router + ew * l->east_west + ns * l->north_south + dd * l->die_to_die) / packets;
  m->latency_max_ns = sum.latency_max_ns;
  m->congestion_mean = passed / unit / cm_chip_cores(w->chip);
  m->hop_traffic = (double)hops / unit;
  m->weighted_hops = (double)sum.edge_hops / unit;
  m->connectivity = packets / unit;
  m->edge_cut = (double)sum.edge_cut / unit;
  m->cut_net = w->demand->network->directed ? (double)sum.cut_net / unit : m->edge_cut;
  w->links->fill_costs(w, unit, &sum, m);
  double links = cm_chip_links_there(w->chip);
  m->link_load_mean = links > 0 ? m->hop_traffic / links : 0;
  m->multicast_link_load_mean = links > 0 ? m->multicast_hops / links : 0;
}

cm_status cm_metrics_fill(const work *w, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_topology *topology = w->demand->network;
  cm_memory *memory = w->run->memory;
  size_t routers = cm_window_size(&w->window);
  uint32_t *vertices;
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2);
  CM_TRY(CM_NEW(memory, vertices, w->part_count, error));
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(d->core, w->part_count), CM_ARRAY(d->congestion, routers),
                       CM_ARRAY(d->link_load, cm_window_links(&w->window))), cm_free(vertices));
  d->window = w->window;
  uint32_t *copies = NULL;
  if (w->demand->target_cores_max != 0 && (CM_NEW(memory, copies, topology->vertex_count, error) != CM_OK ||
                                          cm_count_copies(w->demand, w->part, w->part_count, w->run, copies, error) != CM_OK)) {
    CM_FREE(copies, vertices);
    return error->status;
  }
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    vertices[w->part[v]]++;
    d->core[w->part[v]].neurons += (uint64_t)cm_demand_size(w->demand, v) * (copies != NULL ? copies[v] : 1);
  }
  cm_free(copies);
  gather(w);
  fill_totals(w, unit, m);
  fill_cores(w, vertices, unit, m, d->core);
  cm_status status = w->links->fill_loads(w, unit, m, d, error);
  fill_ports(w, unit, d->core, m);
  cm_free(vertices);
  return status;
}
