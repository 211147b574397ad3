/* Metrics of a mapping (SPEC section 8, MAP-13).
 *
 * Nets are grouped by the part of their source. One task takes every n-th part: it walks the part's nets once
 * and gathers per target part what flows there (packets, synapses, axons), then books the flows: totals, link
 * loads as differences at the ends of each straight run, congestion as cm_spread does. Everything but
 * congestion is an integer sum, so any order gives the same figure; congestion is summed per task and the
 * tasks' sums are added in order. The number of tasks depends on the chip only, never on the threads.
 *
 * Undirected networks: a row lists a vertex's neighbours, every edge stands in two rows. Each of its two pins is a
 * flow of its own of half the edge's weight; the unit of the sums is then half a weight. */
#include "core/mapping/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/threads.h"
#include "core/mapping/internal.h"
#include "core/partition/partition.h"

typedef unsigned __int128 wide;

enum { TASKS_MAX = 32, TASKS_MIN = 4, TASK_CELLS = 1 << 22 };

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
  wide cut_net, edge_cut, edge_hops, multicast;
  double latency_max_ns;
} totals;

typedef struct work {
  const cm_topology *topology;
  const cm_chip *chip;
  const uint32_t *part, *core;
  uint32_t part_count, tasks;
  uint32_t routers_x, routers_y;
  cm_run *run;
  uint32_t *net;       /* [net_count] nets grouped by the part of their source, in order inside a group */
  uint32_t *net_first; /* [part_count + 1] */
  /* By part; written by several tasks, but only added to. */
  atomic_uint_fast64_t *synapses, *inbound, *incoming;
  /* By part; written by the part's own task. */
  uint64_t *outbound, *outgoing;
  uint32_t *targets;
  /* Differences of link loads along rows [direction][routers_y][routers_x + 1] and columns [..][routers_x][routers_y
   * + 1]; they wrap below zero and back, as unsigned numbers may. */
  atomic_uint_fast64_t *along_row[2], *along_column[2];
  cm_spread_table table;
  double *load;     /* [tasks][routers] */
  totals *total;    /* [tasks] */
} work;

/* Scratch of one task. */
typedef struct scratch {
  lane *lane;         /* [part_count] */
  uint32_t *used;     /* [part_count] lanes in use, in order of first use */
  uint32_t *reached;  /* [part_count] parts that the net under way reaches */
  cm_flow *flow;      /* [part_count] */
  uint32_t *extent;   /* [2 * axis length + 2] how far a net's tree goes each way in a column (row for YX) */
  uint32_t *stamp;    /* [axis length] net that wrote the extents, plus 1 */
  cm_spread_scratch spread;
} scratch;

static void scratch_free(scratch *s)
{
  cm_free(s->lane);
  cm_free(s->used);
  cm_free(s->reached);
  cm_free(s->flow);
  cm_free(s->extent);
  cm_free(s->stamp);
  cm_spread_scratch_free(&s->spread);
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  size_t axis = w->routers_x > w->routers_y ? w->routers_x : w->routers_y;
  *s = (scratch){0};
  if (CM_NEW(memory, s->lane, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->used, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->reached, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->flow, w->part_count, error) != CM_OK ||
      CM_NEW(memory, s->extent, 2 * axis, error) != CM_OK || CM_NEW(memory, s->stamp, axis, error) != CM_OK ||
      cm_spread_scratch_new(&w->table, memory, &s->spread, error) != CM_OK) {
    scratch_free(s);
    return error->status;
  }
  return CM_OK;
}

static void add(atomic_uint_fast64_t *counter, uint64_t value)
{
  atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* The lane from the source part to `target`, opened on first use. */
static lane *open_lane(const work *w, scratch *s, uint32_t source, uint32_t target, uint32_t *used)
{
  lane *l = &s->lane[target];
  if (l->synapses == 0) {
    cm_chip_steps(w->chip, w->core[source], w->core[target], &l->to.x, &l->to.y);
    s->used[(*used)++] = target;
  }
  return l;
}

/* Links in the union of the routes from the source to every part reached: a trunk along the first axis of the
 * routing, and from it branches along the second. */
static uint64_t tree_links(const work *w, scratch *s, uint32_t net, uint32_t source, uint32_t reached)
{
  bool xy = w->chip->routing == CM_ROUTING_XY;
  uint32_t core = w->core[source], axis = xy ? w->routers_x : w->routers_y;
  uint32_t own = xy ? core % w->chip->width / w->chip->router_x : core / w->chip->width / w->chip->router_y;
  uint32_t ahead = 0, behind = 0;
  uint64_t links = 0;
  for (uint32_t k = 0; k < reached; k++) {
    cm_offset to = s->lane[s->reached[k]].to;
    int32_t trunk = xy ? to.x : to.y, branch = xy ? to.y : to.x;
    uint32_t length = (uint32_t)abs(trunk), reach = (uint32_t)abs(branch);
    if (trunk > 0)
      ahead = length > ahead ? length : ahead;
    else
      behind = length > behind ? length : behind;
    uint32_t at = trunk >= 0 ? (own + length) % axis : (own + axis - length) % axis;
    uint32_t *extent = s->extent + 2 * (size_t)at;
    if (s->stamp[at] != net + 1) {
      s->stamp[at] = net + 1;
      extent[0] = extent[1] = 0;
    }
    uint32_t side = branch < 0;
    if (reach > extent[side]) {
      links += reach - extent[side];
      extent[side] = reach;
    }
  }
  return links + ahead + behind;
}

/* One axon: a packet per other part that holds a target. */
static void walk_axon(const work *w, scratch *s, uint32_t net, uint32_t source_part, uint32_t *used, totals *sum)
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
      s->reached[reached++] = target;
    }
  }
  if (reached > 0) {
    sum->cut_net += rate;
    sum->multicast += (wide)rate * tree_links(w, s, net, source_part, reached);
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

/* Adds `packets` to `count` links from `first` on, around the end of the line where needed. `line` holds the
 * line's differences. */
static void add_run(atomic_uint_fast64_t *line, uint32_t length, uint32_t first, uint32_t count, uint64_t packets)
{
  uint32_t end = first + count;
  add(&line[first], packets);
  if (end > length) {
    add(&line[length], UINT64_C(0) - packets);
    add(&line[0], packets);
    end -= length;
  }
  add(&line[end], UINT64_C(0) - packets);
}

/* Links are booked at the router that they leave: |steps| of them from `from` on, or up to it. */
static void book_run(atomic_uint_fast64_t *const direction[2], uint32_t line, uint32_t length, uint32_t from,
                     int32_t steps, uint64_t packets)
{
  uint32_t count = (uint32_t)abs(steps);
  if (count == 0)
    return;
  uint32_t first = steps > 0 ? from : from + 1 >= count ? from + 1 - count : from + 1 + length - count;
  add_run(direction[steps < 0] + (size_t)line * (length + 1), length, first, count, packets);
}

static void book_links(const work *w, uint32_t source_core, uint32_t target_core, cm_offset to, uint64_t packets)
{
  uint32_t width = w->chip->width, rx = w->chip->router_x, ry = w->chip->router_y;
  uint32_t sx = source_core % width / rx, sy = source_core / width / ry;
  uint32_t tx = target_core % width / rx, ty = target_core / width / ry;
  bool xy = w->chip->routing == CM_ROUTING_XY;
  book_run(w->along_row, xy ? sy : ty, w->routers_x, sx, to.x, packets);
  book_run(w->along_column, xy ? tx : sx, w->routers_y, sy, to.y, packets);
}

static double way_ns(const cm_hop_cost *cost, cm_hops hops)
{
  double d = (double)hops.east_west + (double)hops.north_south + (double)hops.die_to_die;
  return (d + 1) * cost->router + hops.east_west * cost->east_west + hops.north_south * cost->north_south +
         hops.die_to_die * cost->die_to_die;
}

static void book_lane(const work *w, uint32_t source, uint32_t target, const lane *l, totals *sum)
{
  add(&w->synapses[target], l->synapses);
  add(&w->inbound[target], l->axons);
  if (source == target)
    return;
  cm_hops hops = cm_chip_hops(w->chip, w->core[source], w->core[target]);
  sum->packets += l->flow;
  sum->east_west += (wide)l->flow * hops.east_west;
  sum->north_south += (wide)l->flow * hops.north_south;
  sum->die_to_die += (wide)l->flow * hops.die_to_die;
  sum->edge_cut += l->weight;
  sum->edge_hops += (wide)l->weight * ((uint64_t)hops.east_west + hops.north_south + hops.die_to_die);
  double latency = way_ns(&w->chip->latency_ns, hops);
  sum->latency_max_ns = latency > sum->latency_max_ns ? latency : sum->latency_max_ns;
  book_links(w, w->core[source], w->core[target], l->to, l->flow);
  add(&w->incoming[target], l->flow);
  w->outgoing[source] += l->flow;
  w->outbound[source] += l->axons;
  w->targets[source]++;
}

static void take_part(const work *w, scratch *s, uint32_t part, totals *sum, double *load)
{
  uint32_t used = 0;
  for (uint32_t i = w->net_first[part]; i < w->net_first[part + 1]; i++)
    if (w->topology->directed)
      walk_axon(w, s, w->net[i], part, &used, sum);
    else
      walk_row(w, s, w->net[i], part, &used);
  size_t flows = 0;
  for (int quadrant = 0; quadrant < 4; quadrant++)
    for (uint32_t k = 0; k < used; k++) {
      const lane *l = &s->lane[s->used[k]];
      if (s->used[k] != part && (l->to.x < 0) + 2 * (l->to.y < 0) == quadrant)
        s->flow[flows++] = (cm_flow){l->to, l->flow};
    }
  cm_spread(&w->table, &s->spread, w->routers_x, w->routers_y, w->core[part] % w->chip->width / w->chip->router_x,
            w->core[part] / w->chip->width / w->chip->router_y, s->flow, flows, load);
  for (uint32_t k = 0; k < used; k++) {
    book_lane(w, part, s->used[k], &s->lane[s->used[k]], sum);
    s->lane[s->used[k]] = (lane){0};
  }
}

static cm_status run_task(void *context, size_t index, cm_error *error)
{
  work *w = context;
  scratch s;
  cm_status status = scratch_new(w, &s, error);
  if (status != CM_OK)
    return status;
  double *load = w->load + index * w->routers_x * w->routers_y;
  for (uint32_t part = (uint32_t)index; status == CM_OK && part < w->part_count; part += w->tasks) {
    take_part(w, &s, part, &w->total[index], load);
    status = cm_run_check(w->run, error);
  }
  scratch_free(&s);
  return status;
}

/* The furthest offsets that a flow can have: the box of the cores in use, or half a torus. */
static void furthest(const work *w, uint32_t *x, uint32_t *y)
{
  uint32_t low_x = UINT32_MAX, low_y = UINT32_MAX, high_x = 0, high_y = 0;
  *x = *y = 0;
  for (uint32_t p = 0; p < w->part_count; p++) {
    uint32_t rx = w->core[p] % w->chip->width / w->chip->router_x;
    uint32_t ry = w->core[p] / w->chip->width / w->chip->router_y;
    low_x = rx < low_x ? rx : low_x;
    low_y = ry < low_y ? ry : low_y;
    high_x = rx > high_x ? rx : high_x;
    high_y = ry > high_y ? ry : high_y;
  }
  if (w->part_count == 0)
    return;
  *x = high_x - low_x;
  *y = high_y - low_y;
  if (w->chip->torus_x && *x > w->routers_x / 2)
    *x = w->routers_x / 2;
  if (w->chip->torus_y && *y > w->routers_y / 2)
    *y = w->routers_y / 2;
}

static cm_status work_new(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  size_t routers = (size_t)w->routers_x * w->routers_y, parts = w->part_count;
  size_t rows = ((size_t)w->routers_x + 1) * w->routers_y, columns = ((size_t)w->routers_y + 1) * w->routers_x;
  uint32_t x, y;
  furthest(w, &x, &y);
  if (cm_nets_by_part(w->topology, w->part, w->part_count, w->run, &w->net_first, &w->net, error) != CM_OK ||
      CM_NEW(memory, w->synapses, parts, error) != CM_OK || CM_NEW(memory, w->inbound, parts, error) != CM_OK ||
      CM_NEW(memory, w->incoming, parts, error) != CM_OK || CM_NEW(memory, w->outbound, parts, error) != CM_OK ||
      CM_NEW(memory, w->outgoing, parts, error) != CM_OK || CM_NEW(memory, w->targets, parts, error) != CM_OK ||
      CM_NEW(memory, w->along_row[0], rows, error) != CM_OK ||
      CM_NEW(memory, w->along_row[1], rows, error) != CM_OK ||
      CM_NEW(memory, w->along_column[0], columns, error) != CM_OK ||
      CM_NEW(memory, w->along_column[1], columns, error) != CM_OK ||
      CM_NEW(memory, w->load, routers * w->tasks, error) != CM_OK ||
      CM_NEW(memory, w->total, w->tasks, error) != CM_OK)
    return error->status;
  return cm_spread_table_new(x + 1, y + 1, memory, &w->table, error);
}

static void work_free(work *w)
{
  cm_free(w->net);
  cm_free(w->net_first);
  cm_free(w->synapses);
  cm_free(w->inbound);
  cm_free(w->incoming);
  cm_free(w->outbound);
  cm_free(w->outgoing);
  cm_free(w->targets);
  for (int i = 0; i < 2; i++) {
    cm_free(w->along_row[i]);
    cm_free(w->along_column[i]);
  }
  cm_spread_table_free(&w->table);
  cm_free(w->load);
  cm_free(w->total);
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

/* Turns differences into loads: direction[0] and [1] of `lines` lines of `length` links. */
static void fill_links(atomic_uint_fast64_t *const direction[2], uint32_t lines, uint32_t length,
                       size_t line_stride, size_t stride, const cm_direction names[2], double unit,
                       double *link_load, double *most)
{
  for (int side = 0; side < 2; side++)
    for (uint32_t line = 0; line < lines; line++) {
      uint64_t load = 0;
      for (uint32_t i = 0; i < length; i++) {
        load += atomic_load_explicit(&direction[side][(size_t)line * (length + 1) + i], memory_order_relaxed);
        double value = (double)load / unit;
        link_load[(line * line_stride + i * stride) * CM_DIRECTIONS + names[side]] = value;
        *most = value > *most ? value : *most;
      }
    }
}

static void fill_congestion(const work *w, double unit, double *congestion, double *most)
{
  size_t routers = (size_t)w->routers_x * w->routers_y;
  for (size_t r = 0; r < routers; r++) {
    for (uint32_t task = 1; task < w->tasks; task++)
      w->load[r] += w->load[task * routers + r];
    *most = w->load[r] / unit > *most ? w->load[r] / unit : *most;
  }
  for (uint32_t y = 0; y < w->chip->height; y++)
    for (uint32_t x = 0; x < w->chip->width; x++)
      congestion[(size_t)y * w->chip->width + x] =
          w->load[(size_t)(y / w->chip->router_y) * w->routers_x + x / w->chip->router_x] / unit;
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
    c->synapses = atomic_load(&w->synapses[p]);
    c->inbound_axons = atomic_load(&w->inbound[p]);
    c->outbound_axons = w->outbound[p];
    c->target_cores = w->targets[p];
    c->traffic_in = (double)atomic_load(&w->incoming[p]) / unit;
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

static void fill_totals(const work *w, double unit, cm_metrics *m)
{
  totals sum = {0};
  for (uint32_t i = 0; i < w->tasks; i++) {
    const totals *t = &w->total[i];
    sum.packets += t->packets;
    sum.east_west += t->east_west;
    sum.north_south += t->north_south;
    sum.die_to_die += t->die_to_die;
    sum.cut_net += t->cut_net;
    sum.edge_cut += t->edge_cut;
    sum.edge_hops += t->edge_hops;
    sum.multicast += t->multicast;
    sum.latency_max_ns = t->latency_max_ns > sum.latency_max_ns ? t->latency_max_ns : sum.latency_max_ns;
  }
  wide hops = sum.east_west + sum.north_south + sum.die_to_die;
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
  m->multicast_hops = w->topology->directed ? (double)sum.multicast / unit : m->hop_traffic;
  double links = 2.0 * ((double)links_of(w->routers_x, w->chip->torus_x) * w->routers_y +
                        (double)links_of(w->routers_y, w->chip->torus_y) * w->routers_x);
  m->link_load_mean = links > 0 ? m->hop_traffic / links : 0;
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

/* Everything once the tasks have ended. */
static cm_status finish(const work *w, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_topology *topology = w->topology;
  cm_memory *memory = w->run->memory;
  size_t routers = (size_t)w->routers_x * w->routers_y;
  uint32_t *vertices;
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2);
  if (CM_NEW(memory, vertices, w->part_count, error) != CM_OK)
    return error->status;
  if (CM_NEW(memory, d->core, w->part_count, error) != CM_OK ||
      CM_NEW(memory, d->congestion, cm_chip_cores(w->chip), error) != CM_OK ||
      CM_NEW(memory, d->link_load, routers * CM_DIRECTIONS, error) != CM_OK) {
    cm_free(vertices);
    return error->status;
  }
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    vertices[w->part[v]]++;
    d->core[w->part[v]].neurons += cm_topology_size(topology, v);
  }
  fill_totals(w, unit, m);
  fill_cores(w, vertices, unit, m, d->core);
  fill_congestion(w, unit, d->congestion, &m->congestion_max);
  fill_links(w->along_row, w->routers_y, w->routers_x, w->routers_x, 1,
             (const cm_direction[]){CM_EAST, CM_WEST}, unit, d->link_load, &m->link_load_max);
  fill_links(w->along_column, w->routers_x, w->routers_y, 1, w->routers_x,
             (const cm_direction[]){CM_SOUTH, CM_NORTH}, unit, d->link_load, &m->link_load_max);
  cm_free(vertices);
  return CM_OK;
}

cm_status cm_metrics_compute(const cm_topology *topology, const cm_chip *chip, const uint32_t *part,
                             uint32_t part_count, const uint32_t *core, cm_run *run, cm_metrics *metrics,
                             cm_metrics_detail *detail, cm_error *error)
{
  work w = {.topology = topology, .chip = chip, .part = part, .core = core, .part_count = part_count, .run = run,
            .routers_x = cm_chip_routers_x(chip), .routers_y = cm_chip_routers_y(chip)};
  size_t tasks = TASK_CELLS / ((size_t)w.routers_x * w.routers_y);
  w.tasks = tasks > TASKS_MAX ? TASKS_MAX : tasks < TASKS_MIN ? TASKS_MIN : (uint32_t)tasks;
  cm_metrics m = {0};
  cm_metrics_detail d = {0};
  cm_status status = check_input(&w, error);
  if (status == CM_OK)
    status = work_new(&w, error);
  if (status == CM_OK)
    status = cm_parallel(run, w.tasks, run_task, &w, error);
  if (status == CM_OK)
    status = finish(&w, &m, &d, error);
  work_free(&w);
  if (status != CM_OK) {
    cm_metrics_detail_free(&d);
    return status;
  }
  *metrics = m;
  *detail = d;
  return CM_OK;
}

json_t *cm_metrics_json(const cm_metrics *m)
{
  return json_pack(
      "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
      "energy_pj", m->energy_pj, "latency_mean_ns", m->latency_mean_ns, "latency_max_ns", m->latency_max_ns,
      "congestion_mean", m->congestion_mean, "congestion_max", m->congestion_max, "link_load_mean",
      m->link_load_mean, "link_load_max", m->link_load_max, "hop_traffic", m->hop_traffic, "edge_hop_traffic",
      m->edge_hop_traffic, "multicast_hops", m->multicast_hops, "connectivity", m->connectivity, "cut_net",
      m->cut_net, "edge_cut", m->edge_cut, "synaptic_reuse_mean", m->synaptic_reuse_mean, "balance", m->balance,
      "cores_used", (json_int_t)m->cores_used, "largest_part", (json_int_t)m->largest_part, "most_synapses",
      (json_int_t)m->most_synapses, "most_inbound_axons", (json_int_t)m->most_inbound_axons,
      "most_outbound_axons", (json_int_t)m->most_outbound_axons, "most_target_cores",
      (json_int_t)m->most_target_cores);
}
