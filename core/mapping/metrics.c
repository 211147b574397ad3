/* Metrics of a mapping.
 *
 * Nets are grouped by the part of their source. One task takes every n-th part: it walks the part's nets once
 * and gathers per target part what flows there (packets, synapses, axons), then books the flows: totals, link
 * loads as differences at the ends of each straight run, congestion as cm_spread_add does. All sums are of integers,
 * so any order and number of tasks gives the same figures.
 *
 * Undirected networks: a row lists a vertex's neighbours, every edge stands in two rows. Each of its two pins is a
 * flow of its own of half the edge's weight; the unit of the sums is then half a weight. */
#include "core/mapping/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/threads.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"
#include "core/mapping/border.h"
#include "core/mapping/internal.h"
#include "core/mapping/step.h"
#include "core/mapping/ways.h"
#include "core/partition/partition.h"

typedef cm_wide wide;

/* Each task holds its own sums of the window: fewer tasks where that would be much, or little to do. */
enum { TASKS_MAX = 8, TASKS_ROUTERS_MAX = 1 << 24, TASK_PINS = 1 << 10 };

/* What one source part sends to one target part. */
typedef struct lane {
  uint64_t flow;     /* packets */
  uint64_t weight;   /* of synapses */
  uint64_t synapses; /* 0: the lane is not in use */
  uint32_t axons;    /* distinct source neurons */
  uint32_t net, source; /* last net and source vertex seen, plus 1 */
  cm_offset to;
} lane;

/* Sums over all flows of a task: packets, and packets times hops by kind of link. */
typedef struct totals {
  wide packets, east_west, north_south, die_to_die;
  wide way_hops; /* of an interconnect that is no plain mesh, instead of these kinds */
  wide cut_net, edge_cut, edge_hops;
  wide tree_packets; /* one packet a net that leaves its part */
  double latency_max_ns;
} totals;

/* What one task counts up. */
enum { BY_PART = 3 };
typedef struct tally {
  totals total;
  union {
    struct {
      uint64_t *synapses, *inbound, *incoming;
    };
    uint64_t *by_part[BY_PART]; /* [part_count] each */
  };
  cm_link_tally packets, trees; /* of every packet, and of one packet a net */
  cm_way_tally ways;            /* instead of them on an interconnect that is no plain mesh */
} tally;

typedef struct work {
  const cm_topology *topology;
  const cm_chip *chip;
  const uint32_t *part, *core;
  uint32_t part_count, tasks;
  cm_window window;
  cm_run *run;
  uint32_t *net;       /* [net_count] nets grouped by the part of their source, in order inside a group */
  uint32_t *net_first; /* [part_count + 1] */
  /* By part; written by the part's own task. */
  uint64_t *outbound, *outgoing, *casts; /* casts: packets of axons that leave it, each once */
  uint32_t *targets;
  cm_spread spread;
  cm_spread_part *spread_part; /* [tasks] */
  tally *tally;                /* [tasks] those of task 0 become the sums of all */
} work;

/* Scratch of one task. */
typedef struct scratch {
  lane *lane;         /* [part_count] */
  uint32_t *used;     /* [part_count] lanes in use, in order of first use */
  cm_offset *reached; /* [part_count] ways to the parts that the net under way reaches */
  cm_flow *flow;      /* [part_count] */
  cm_tree_scratch tree;
} scratch;

static void scratch_free(scratch *s)
{
  cm_free(s->lane);
  cm_free(s->used);
  cm_free(s->reached);
  cm_free(s->flow);
  cm_tree_scratch_free(&s->tree);
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  *s = (scratch){0};
  if (CM_NEW(memory, s->lane, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->used, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->reached, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->flow, w->part_count, error) != CM_OK ||
      cm_tree_scratch_new(w->chip, memory, &s->tree, error) != CM_OK) {
    scratch_free(s);
    return error->status;
  }
  return CM_OK;
}

/* The lane from the source part to `target`, opened on first use. */
static lane *open_lane(const work *w, scratch *s, uint32_t source, uint32_t target, uint32_t *used)
{
  lane *l = &s->lane[target];
  if (l->synapses == 0) {
    if (w->chip->interconnect != NULL)
      l->to.x = (int32_t)w->core[target]; /* the ways are the interconnect's own */
    else
      cm_chip_steps(w->chip, w->core[source], w->core[target], &l->to.x, &l->to.y);
    s->used[(*used)++] = target;
  }
  return l;
}

/* One axon: a packet per other part that holds a target. */
static void walk_axon(const work *w, scratch *s, uint32_t net, uint32_t source_part, uint32_t *used, tally *sum)
{
  const cm_topology *topology = w->topology;
  uint64_t rate = cm_topology_net_weight(topology, net);
  uint32_t source = cm_topology_source(topology, net), reached = 0;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t target = w->part[topology->pin[i]];
    lane *l = open_lane(w, s, source_part, target, used);
    l->synapses++;
    l->weight += cm_topology_pin_weight(topology, net, i);
    if (l->source != source + 1) {
      l->source = source + 1;
      l->axons++;
    }
    if (l->net == net + 1)
      continue;
    l->net = net + 1;
    if (target != source_part) {
      l->flow += rate;
      s->reached[reached++] = l->to;
    }
  }
  if (reached > 0) {
    sum->total.cut_net += rate;
    sum->total.tree_packets += rate;
    w->casts[source_part] += rate;
    for (uint32_t i = 0; w->chip->interconnect != NULL && i < reached; i++)
      cm_way_book_tree(&sum->ways, w->chip, net, w->core[source_part], (uint32_t)s->reached[i].x, rate);
    if (w->chip->interconnect == NULL)
      cm_links_book_tree(&sum->trees, &s->tree, w->chip, net, w->core[source_part], s->reached, reached, rate);
  }
}

/* One row of an undirected network: every pin to another part is a packet of half its edge's weight. */
static void walk_row(const work *w, scratch *s, uint32_t net, uint32_t source_part, uint32_t *used)
{
  const cm_topology *topology = w->topology;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t target = w->part[topology->pin[i]];
    uint64_t weight = cm_topology_pin_weight(topology, net, i);
    lane *l = open_lane(w, s, source_part, target, used);
    l->synapses++;
    l->weight += weight;
    if (l->source != net + 1) {
      l->source = net + 1;
      l->axons++;
    }
    if (target != source_part)
      l->flow += weight;
  }
}

static double way_ns(const cm_hop_cost *cost, cm_hops hops)
{
  double d = (double)hops.east_west + (double)hops.north_south + (double)hops.die_to_die;
  return (d + 1) * cost->router + hops.east_west * cost->east_west + hops.north_south * cost->north_south +
         hops.die_to_die * cost->die_to_die;
}

/* The links that the packets of a lane take, on a plain mesh. */
static void book_steps(const work *w, uint32_t source, uint32_t target, const lane *l, tally *sum, uint64_t *way, double *latency)
{
  totals *all = &sum->total;
  cm_hops hops = cm_chip_hops(w->chip, w->core[source], w->core[target]);
  all->east_west += (wide)l->flow * hops.east_west;
  all->north_south += (wide)l->flow * hops.north_south;
  all->die_to_die += (wide)l->flow * hops.die_to_die;
  *way = (uint64_t)hops.east_west + hops.north_south + hops.die_to_die;
  *latency = way_ns(&w->chip->latency_ns, hops);
  cm_links_book_path(&sum->packets, w->chip, w->core[source], w->core[target], l->to, l->flow);
}

static cm_status book_lane(const work *w, uint32_t source, uint32_t target, const lane *l, tally *sum, cm_error *error)
{
  totals *all = &sum->total;
  uint64_t way;
  double latency;
  sum->synapses[target] += l->synapses;
  sum->inbound[target] += l->axons;
  if (source == target)
    return CM_OK;
  if (w->chip->interconnect == NULL)
    book_steps(w, source, target, l, sum, &way, &latency);
  else {
    uint32_t hops;
    if (cm_way_book(&sum->ways, w->chip, w->core[source], w->core[target], l->flow, &hops, &latency, error) != CM_OK)
      return error->status;
    way = hops;
    all->way_hops += (wide)l->flow * hops;
  }
  all->packets += l->flow;
  all->edge_cut += l->weight;
  all->edge_hops += (wide)l->weight * way;
  all->latency_max_ns = latency > all->latency_max_ns ? latency : all->latency_max_ns;
  sum->incoming[target] += l->flow;
  w->outgoing[source] += l->flow;
  w->outbound[source] += l->axons;
  w->targets[source]++;
  return CM_OK;
}

static cm_status take_part(work *w, scratch *s, uint32_t part, tally *sum, cm_spread_part *spread, cm_error *error)
{
  cm_status status = CM_OK;
  uint32_t used = 0;
  for (uint32_t i = w->net_first[part]; i < w->net_first[part + 1]; i++)
    if (w->topology->directed)
      walk_axon(w, s, w->net[i], part, &used, sum);
    else
      walk_row(w, s, w->net[i], part, &used);
  uint32_t x = w->core[part] % w->chip->width / w->chip->router_x,
           y = w->core[part] / w->chip->width / w->chip->router_y;
  for (unsigned quadrant = 0; w->chip->interconnect == NULL && quadrant < CM_QUADRANTS; quadrant++) {
    size_t flows = 0;
    for (uint32_t k = 0; k < used; k++) {
      const lane *l = &s->lane[s->used[k]];
      if (s->used[k] != part && (unsigned)(l->to.x < 0) + 2 * (unsigned)(l->to.y < 0) == quadrant)
        s->flow[flows++] = (cm_flow){l->to, l->flow};
    }
    if (flows > 0)
      cm_spread_add(&w->spread, spread, x, y, quadrant, s->flow, flows);
  }
  for (uint32_t k = 0; k < used; k++) {
    if (status == CM_OK)
      status = book_lane(w, part, s->used[k], &s->lane[s->used[k]], sum, error);
    s->lane[s->used[k]] = (lane){0};
  }
  return status;
}

static cm_status run_task(void *context, size_t index, cm_error *error)
{
  work *w = context;
  scratch s;
  cm_status status = scratch_new(w, &s, error);
  if (status != CM_OK)
    return status;
  for (uint32_t part = (uint32_t)index; status == CM_OK && part < w->part_count; part += w->tasks) {
    status = take_part(w, &s, part, &w->tally[index], &w->spread_part[index], error);
    if (status == CM_OK)
      status = cm_run_check(w->run, error);
  }
  scratch_free(&s);
  return status;
}

/* At least as many packets as there are. */
static double packets_most(const work *w)
{
  const cm_topology *topology = w->topology;
  double sum = 0;
  for (uint32_t e = 0; e < topology->net_count; e++) {
    uint64_t pins = topology->net_first[e + 1] - topology->net_first[e];
    if (topology->directed)
      sum += (double)cm_topology_net_weight(topology, e) * (double)(pins < w->part_count ? pins : w->part_count);
    else
      for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
        sum += (double)cm_topology_pin_weight(topology, e, i);
  }
  return sum;
}

static cm_status tally_new(const work *w, tally *t, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  cm_status status = CM_OK;
  for (int i = 0; i < BY_PART && status == CM_OK; i++)
    status = CM_NEW(memory, t->by_part[i], w->part_count, error);
  if (status == CM_OK && w->chip->interconnect != NULL)
    return cm_way_tally_new(w->chip, memory, &t->ways, error);
  if (status == CM_OK)
    status = cm_link_tally_new(&w->window, memory, &t->packets, error);
  return status == CM_OK ? cm_link_tally_new(&w->window, memory, &t->trees, error) : status;
}

static void tally_free(tally *t)
{
  for (int i = 0; i < BY_PART; i++)
    cm_free(t->by_part[i]);
  cm_link_tally_free(&t->packets);
  cm_link_tally_free(&t->trees);
  cm_way_tally_free(&t->ways);
}

/* Adds the counts of all other tasks to those of the first, totals excepted. */
static void gather(const work *w)
{
  tally *sum = &w->tally[0];
  for (uint32_t task = 1; task < w->tasks; task++) {
    for (int i = 0; i < BY_PART; i++)
      for (uint32_t p = 0; p < w->part_count; p++)
        sum->by_part[i][p] += w->tally[task].by_part[i][p];
    if (w->chip->interconnect != NULL) {
      cm_way_tally_add(&sum->ways, &w->tally[task].ways, w->chip);
      continue;
    }
    cm_link_tally_add(&sum->packets, &w->tally[task].packets);
    cm_link_tally_add(&sum->trees, &w->tally[task].trees);
  }
}

static cm_status work_new(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  size_t parts = w->part_count;
  if (cm_nets_by_part(w->topology, w->part, w->part_count, w->run, &w->net_first, &w->net, error) != CM_OK ||
      CM_NEW(memory, w->outbound, parts, error) != CM_OK ||
      CM_NEW(memory, w->outgoing, parts, error) != CM_OK || CM_NEW(memory, w->casts, parts, error) != CM_OK ||
      CM_NEW(memory, w->targets, parts, error) != CM_OK ||
      CM_NEW(memory, w->tally, w->tasks, error) != CM_OK || CM_NEW(memory, w->spread_part, w->tasks, error) != CM_OK)
    return error->status;
  bool plain = w->chip->interconnect == NULL;
  cm_status status = plain ? cm_spread_new(&w->window, packets_most(w), memory, &w->spread, error) : CM_OK;
  for (uint32_t i = 0; i < w->tasks && status == CM_OK; i++)
    status = tally_new(w, &w->tally[i], error);
  for (uint32_t i = 0; plain && i < w->tasks && status == CM_OK; i++)
    status = cm_spread_part_new(&w->spread, parts, memory, &w->spread_part[i], error);
  return status;
}

static void work_free(work *w)
{
  cm_free(w->net);
  cm_free(w->net_first);
  cm_free(w->outbound);
  cm_free(w->outgoing);
  cm_free(w->casts);
  cm_free(w->targets);
  for (uint32_t i = 0; w->tally != NULL && i < w->tasks; i++)
    tally_free(&w->tally[i]);
  cm_free(w->tally);
  for (uint32_t i = 0; w->spread_part != NULL && i < w->tasks; i++)
    cm_spread_part_free(&w->spread_part[i]);
  cm_free(w->spread_part);
  cm_spread_free(&w->spread);
}

void cm_metrics_detail_free(cm_metrics_detail *detail)
{
  cm_free(detail->core);
  cm_free(detail->congestion);
  cm_free(detail->link_load);
  *detail = (cm_metrics_detail){0};
}

static uint32_t links_of(uint32_t routers, bool torus)
{
  return torus && routers > 1 ? routers : routers - 1;
}

static cm_status fill_congestion(const work *w, double unit, double *congestion, double *most, cm_error *error)
{
  size_t routers = cm_window_size(&w->window);
  cm_status status = cm_spread_finish(&w->spread, w->spread_part, w->tasks, w->run->memory, congestion, error);
  for (size_t r = 0; status == CM_OK && r < routers; r++) {
    congestion[r] /= unit;
    *most = congestion[r] > *most ? congestion[r] : *most;
  }
  return status;
}

static void raise_to(uint64_t *most, uint64_t value)
{
  *most = value > *most ? value : *most;
}

static void fill_cores(const work *w, const uint32_t *vertices, double unit, cm_metrics *m, cm_core_load *core)
{
  double reuse = 0;
  for (uint32_t p = 0; p < w->part_count; p++) {
    cm_core_load *c = &core[p];
    c->synapses = w->tally[0].synapses[p];
    c->inbound_axons = w->tally[0].inbound[p];
    c->outbound_axons = w->outbound[p];
    c->target_cores = w->targets[p];
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
  double mean = (double)w->topology->size_total / m->cores_used;
  m->balance = mean > 0 ? (double)m->largest_part / mean : 1;
}

/* Inlets and outlets of cores are links too. */
static void fill_ports(const work *w, double unit, const cm_core_load *core, cm_metrics *m)
{
  for (uint32_t p = 0; p < w->part_count; p++) {
    double cast = w->topology->directed ? (double)w->casts[p] / unit : core[p].traffic_out;
    m->port_load_max = fmax(m->port_load_max, fmax(core[p].traffic_in, core[p].traffic_out));
    m->multicast_port_load_max = fmax(m->multicast_port_load_max, fmax(core[p].traffic_in, cast));
  }
  m->link_load_max = fmax(m->link_load_max, m->port_load_max);
  m->multicast_link_load_max = fmax(m->multicast_link_load_max, m->multicast_port_load_max);
}

/* What links cost on an interconnect that is no plain mesh; the rest is filled in. */
static void fill_ways(const work *w, double unit, double packets, double tree_packets, cm_metrics *m)
{
  const cm_hop_cost *e = &w->chip->energy_pj, *l = &w->chip->latency_ns;
  bool directed = w->topology->directed;
  cm_way_sums all = cm_way_sum(w->chip, w->tally[0].ways.packets, unit, NULL),
              trees = cm_way_sum(w->chip, w->tally[0].ways.trees, unit, NULL);
  double passed = packets / unit + m->hop_traffic, links = cm_living_links(w->chip);
  m->energy_pj = passed * e->router + all.energy_pj;
  m->latency_mean_ns = packets > 0 ? (passed * l->router + all.latency_ns) / (packets / unit) : 0;
  m->multicast_hops = directed ? trees.hops : m->hop_traffic;
  m->multicast_energy_pj = directed ? (tree_packets / unit + trees.hops) * e->router + trees.energy_pj : m->energy_pj;
  m->link_load_mean = links > 0 ? m->hop_traffic / links : 0;
  m->multicast_link_load_mean = links > 0 ? m->multicast_hops / links : 0;
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
    m->latency_mean_ns =
        (passed * l->router + ew * l->east_west + ns * l->north_south + dd * l->die_to_die) / packets;
  m->latency_max_ns = sum.latency_max_ns;
  m->congestion_mean = passed / unit / cm_chip_cores(w->chip);
  m->hop_traffic = (double)hops / unit;
  m->edge_hop_traffic = (double)sum.edge_hops / unit;
  m->connectivity = packets / unit;
  m->edge_cut = (double)sum.edge_cut / unit;
  m->cut_net = w->topology->directed ? (double)sum.cut_net / unit : m->edge_cut;
  if (w->chip->interconnect != NULL) {
    fill_ways(w, unit, packets, (double)sum.tree_packets, m);
    return;
  }
  const cm_link_tally *trees = &w->tally[0].trees;
  wide tree_hops = trees->east_west + trees->north_south + trees->die_to_die;
  m->multicast_hops = w->topology->directed ? (double)tree_hops / unit : m->hop_traffic;
  m->multicast_energy_pj =
    w->topology->directed
      ? ((double)(sum.tree_packets + tree_hops) * e->router + (double)trees->east_west * e->east_west +
         (double)trees->north_south * e->north_south + (double)trees->die_to_die * e->die_to_die) / unit
      : m->energy_pj;
  uint32_t x = w->window.routers_x, y = w->window.routers_y;
  double links = 2.0 * ((double)links_of(x, w->chip->torus_x) * y + (double)links_of(y, w->chip->torus_y) * x);
  m->link_load_mean = links > 0 ? m->hop_traffic / links : 0;
  m->multicast_link_load_mean = links > 0 ? m->multicast_hops / links : 0;
}

static cm_status check_input(const work *w, cm_error *error)
{
  uint32_t cores = cm_chip_cores(w->chip);
  for (uint32_t v = 0; v < w->topology->vertex_count; v++)
    if (w->part[v] >= w->part_count)
      return cm_fail(error, CM_BAD_MAPPING, "neuron %u is in part %u, but there are %u parts", v, w->part[v],
                     w->part_count);
  for (uint32_t p = 0; p < w->part_count; p++)
    if (w->core[p] >= cores)
      return cm_fail(error, CM_BAD_MAPPING, "part %u is on core %u, but the chip has %u cores", p, w->core[p],
                     cores);
  return CM_OK;
}

/* Loads by link, and packets by router. */
static cm_status fill_loads(const work *w, double unit, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_topology *topology = w->topology;
  cm_status status = fill_congestion(w, unit, d->congestion, &m->congestion_max, error);
  cm_links_fill(&w->tally[0].packets, unit, d->link_load, &m->link_load_max);
  m->multicast_link_load_max = m->link_load_max;
  if (topology->directed) {
    m->multicast_link_load_max = 0;
    cm_links_fill(&w->tally[0].trees, unit, NULL, &m->multicast_link_load_max);
  }
  return status;
}

static cm_status fill_way_loads(const work *w, double unit, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_way_tally *ways = &w->tally[0].ways;
  double *begun;
  if (CM_NEW(w->run->memory, begun, cm_window_size(&w->window), error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < w->part_count; p++)
    begun[cm_router_of(w->chip, w->core[p])] += (double)w->outgoing[p] / unit;
  m->congestion_max = cm_way_congestion(w->chip, ways->packets, begun, unit, d->congestion);
  m->link_load_max = cm_way_sum(w->chip, ways->packets, unit, d->link_load).most;
  m->multicast_link_load_max = w->topology->directed ? cm_way_sum(w->chip, ways->trees, unit, NULL).most : m->link_load_max;
  cm_free(begun);
  return CM_OK;
}

/* Everything once the tasks have ended. */
static cm_status finish(const work *w, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_topology *topology = w->topology;
  cm_memory *memory = w->run->memory;
  size_t routers = cm_window_size(&w->window);
  uint32_t *vertices;
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2);
  if (CM_NEW(memory, vertices, w->part_count, error) != CM_OK)
    return error->status;
  if (CM_NEW(memory, d->core, w->part_count, error) != CM_OK ||
      CM_NEW(memory, d->congestion, routers, error) != CM_OK ||
      CM_NEW(memory, d->link_load,
             w->chip->interconnect != NULL ? w->chip->interconnect->link_count : routers * CM_DIRECTIONS, error) != CM_OK) {
    cm_free(vertices);
    return error->status;
  }
  d->window = w->window;
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    vertices[w->part[v]]++;
    d->core[w->part[v]].neurons += cm_topology_size(topology, v);
  }
  gather(w);
  fill_totals(w, unit, m);
  fill_cores(w, vertices, unit, m, d->core);
  cm_status status = w->chip->interconnect != NULL ? fill_way_loads(w, unit, m, d, error) : fill_loads(w, unit, m, d, error);
  fill_ports(w, unit, d->core, m);
  cm_free(vertices);
  return status;
}

cm_status cm_metrics_compute(const cm_topology *topology, const cm_chip *chip, const uint32_t *part,
                             uint32_t part_count, const uint32_t *core, cm_run *run, cm_metrics *metrics,
                             cm_metrics_detail *detail, cm_error *error)
{
  work w = {.topology = topology, .chip = chip, .part = part, .core = core, .part_count = part_count, .run = run};
  if (check_input(&w, error) != CM_OK || cm_interconnect_prepare(chip->interconnect, error) != CM_OK ||
      cm_window_around(chip, core, part_count, run->memory, &w.window, error) != CM_OK)
    return error->status;
  size_t tasks = TASKS_ROUTERS_MAX / cm_window_size(&w.window);
  tasks = tasks > run->threads ? run->threads : tasks;
  tasks = tasks > 1 + topology->pin_count / TASK_PINS ? 1 + (size_t)(topology->pin_count / TASK_PINS) : tasks;
  w.tasks = tasks > TASKS_MAX ? TASKS_MAX : tasks < 1 ? 1 : (uint32_t)tasks;
  cm_metrics m = {0};
  cm_metrics_detail d = {0};
  cm_status status = work_new(&w, error);
  if (status == CM_OK)
    status = cm_parallel(run, w.tasks, run_task, &w, error);
  if (status == CM_OK)
    status = finish(&w, &m, &d, error);
  if (status == CM_OK)
    cm_border_measure(topology, chip, part, core, &m);
  if (status == CM_OK)
    status = cm_step_measure(topology, chip, part, part_count, core, run, &m, &d, error);
  work_free(&w);
  if (status != CM_OK) {
    cm_metrics_detail_free(&d);
    return status;
  }
  *metrics = m;
  *detail = d;
  return CM_OK;
}
