/* The check's own figures, computed the plain way: one packet per axon and target core, walked hop by hop. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/check_measure.h"
#include "core/verify/check_walk.h"

/* All packets from one part to another. */
typedef struct pair {
  uint32_t from, to;
  double packets;
} pair;

CM_ORDER(by_pair, pair, CM_RISING(from) CM_RISING(to))

/* Hops to a part from the part under way. */
typedef struct distance {
  double hops;
  uint32_t from; /* that part, plus 1 */
} distance;

typedef struct measure {
  const cm_demand *demand;
  const cm_chip *chip;
  const uint32_t *part;
  uint32_t parts;
  cm_run *run;
  uint32_t *net;         /* [nets] by the part of their source */
  uint32_t *net_begin;   /* [parts + 1] */
  pair *pair;            /* of the part under way; equal pairs may stand several times until squeezed */
  size_t pair_count, pair_capacity;
  double *link;          /* [routers * CM_DIRECTIONS] */
  double *link_ns;       /* [routers * CM_DIRECTIONS] that a packet holds it */
  double *cast;          /* [parts] packets of axons that leave it, each once */
  double *passing;       /* [routers] congestion */
  double *tree_link;     /* [routers * CM_DIRECTIONS] one packet a net, over the links of its tree */
  uint32_t *link_stamp;  /* [routers * CM_DIRECTIONS] last net whose tree has the link, plus 1 */
  uint32_t *seen;        /* [parts] last source neuron seen there, plus 1 */
  uint32_t *reached;     /* [parts] last net with a target there, plus 1 */
  uint32_t *target;      /* [parts] */
  distance *to;          /* [parts] */
  cm_check_truth *truth;
  double latency_sum;
  cm_check_walk walk;
} measure;

typedef struct toll {
  measure *m;
  double packets, energy_pj, latency_ns;
} toll;

static void pay(const cm_check_hop *hop, void *user)
{
  toll *t = user;
  measure *m = t->m;
  size_t link = hop->link;
  double rate = m->chip->costs.link_packets_per_ns;
  t->energy_pj += m->chip->energy_pj.router + hop->energy_pj;
  t->latency_ns += m->chip->latency_ns.router + hop->latency_ns;
  m->link[link] += t->packets;
  m->link_ns[link] = (rate > 0 ? 1 / rate : hop->latency_ns) / hop->bandwidth;
}

typedef struct tree {
  measure *m;
  uint32_t stamp;
  double packets, links, energy_pj;
} tree;

static void grow_tree(const cm_check_hop *hop, void *user)
{
  tree *t = user;
  measure *m = t->m;
  if (m->link_stamp[hop->link] == t->stamp)
    return;
  m->link_stamp[hop->link] = t->stamp;
  m->tree_link[hop->link] += t->packets;
  t->links++;
  t->energy_pj += m->chip->energy_pj.router + hop->energy_pj;
}

/* Sorts the pairs and adds equal ones up. */
static void squeeze(measure *m)
{
  size_t kept = 0;
  if (m->pair_count > 0)
    qsort(m->pair, m->pair_count, sizeof *m->pair, by_pair);
  for (size_t i = 0; i < m->pair_count; i++) {
    if (kept > 0 && by_pair(&m->pair[kept - 1], &m->pair[i]) == 0)
      m->pair[kept - 1].packets += m->pair[i].packets;
    else
      m->pair[kept++] = m->pair[i];
  }
  m->pair_count = kept;
}

static cm_status add_pair(measure *m, uint32_t from, uint32_t to, double packets, cm_error *error)
{
  if (m->pair_count == m->pair_capacity) {
    squeeze(m);
    if (m->pair_count > m->pair_capacity / 2 || m->pair_capacity == 0) {
      size_t room = m->pair_capacity == 0 ? 1 << 10 : m->pair_capacity * 2;
      pair *grown = cm_reallocate(m->run->memory, m->pair, room, sizeof *grown, error);
      if (grown == NULL)
        return error->status;
      m->pair = grown;
      m->pair_capacity = room;
    }
    CM_TRY(cm_run_check(m->run, error));
  }
  m->pair[m->pair_count++] = (pair){from, to, packets};
  return CM_OK;
}

/* The parts that a net's pins lie in, each once, in m->target; their number. */
static uint32_t distinct_targets(measure *m, uint32_t net)
{
  const cm_topology *t = m->demand->network;
  uint32_t kept = 0;
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    const uint32_t p = m->part[t->pin[i]];
    if (m->reached[p] == net + 1)
      continue;
    m->reached[p] = net + 1;
    m->target[kept++] = p;
  }
  return kept;
}

/* Synapses, axons and cut weights of one net; for a graph also the flow of each edge. */
static cm_status count_pins(measure *m, uint32_t net, double scale, cm_error *error)
{
  const cm_topology *topology = m->demand->network;
  uint32_t source = cm_topology_source(topology, net), home = m->part[source];
  cm_metrics *sum = &m->truth->metrics;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t p = m->part[topology->pin[i]];
    m->truth->core[p].synapses++;
    if (m->seen[p] != source + 1) {
      m->seen[p] = source + 1;
      m->truth->core[p].inbound_axons++;
      m->truth->core[home].outbound_axons += p != home;
    }
    if (p == home)
      continue;
    double weight = (double)cm_demand_pin_weight(m->demand, net, i) / scale;
    CM_TRY_IF(m->to[p].from != home + 1, m->walk.kind->hops(&m->walk, home, p, &m->to[p].hops, error));
    m->to[p].from = home + 1;
    sum->edge_cut += weight;
    sum->weighted_hops += weight * m->to[p].hops;
    cm_status status = topology->directed ? CM_OK : add_pair(m, home, p, weight, error);
    CM_TRY(status);
  }
  return CM_OK;
}

static cm_status count_axon(measure *m, uint32_t net, double scale, cm_error *error)
{
  uint32_t home = m->part[cm_topology_source(m->demand->network, net)];
  double rate = (double)cm_demand_net_weight(m->demand, net) / scale;
  const uint32_t targets = distinct_targets(m, net);
  tree t = {m, net + 1, rate, 0, m->chip->energy_pj.router};
  bool cut = false;
  for (uint32_t i = 0; i < targets; i++) {
    if (m->target[i] == home)
      continue;
    cut = true;
    double hops;
    CM_TRY(m->walk.kind->hops(&m->walk, home, m->target[i], &hops, error));
    m->walk.kind->route(&m->walk, home, m->target[i], grow_tree, &t);
    CM_TRY(add_pair(m, home, m->target[i], rate, error));
  }
  m->truth->metrics.cut_net += cut ? rate : 0;
  m->cast[home] += cut ? rate : 0;
  m->truth->metrics.multicast_hops += rate * t.links;
  m->truth->metrics.multicast_energy_pj += cut ? rate * t.energy_pj : 0;
  return CM_OK;
}

/* The packets of the part under way. */
static cm_status walk_pairs(measure *m, cm_error *error)
{
  cm_metrics *sum = &m->truth->metrics;
  cm_core_load *core = m->truth->core;
  squeeze(m);
  for (size_t i = 0; i < m->pair_count; i++) {
    const pair *p = &m->pair[i];
    double hops = 0;
    CM_TRY(m->walk.kind->hops(&m->walk, p->from, p->to, &hops, error));
    toll t = {m, p->packets, m->chip->energy_pj.router, m->chip->latency_ns.router};
    m->walk.kind->route(&m->walk, p->from, p->to, pay, &t);
    sum->energy_pj += p->packets * t.energy_pj;
    m->latency_sum += p->packets * t.latency_ns;
    sum->latency_max_ns = fmax(sum->latency_max_ns, t.latency_ns);
    sum->hop_traffic += p->packets * hops;
    sum->connectivity += p->packets;
    core[p->from].traffic_out += p->packets;
    core[p->to].traffic_in += p->packets;
    core[p->from].target_cores++;
    core[p->to].source_cores++;
    m->walk.kind->pass(&m->walk, p->from, p->to, p->packets, m->passing);
    cm_status status = i % 256 == 0 ? cm_run_check(m->run, error) : CM_OK;
    CM_TRY(status);
  }
  return CM_OK;
}

static void largest(uint64_t *most, uint64_t value)
{
  if (value > *most)
    *most = value;
}

static void conclude(measure *m, const uint32_t *vertices)
{
  cm_metrics *sum = &m->truth->metrics;
  if (!m->demand->network->directed) {
    sum->cut_net = sum->edge_cut;
    sum->multicast_hops = sum->hop_traffic;
    sum->multicast_energy_pj = sum->energy_pj;
  }
  sum->latency_mean_ns = sum->connectivity > 0 ? m->latency_sum / sum->connectivity : 0;
  sum->congestion_mean = (sum->hop_traffic + sum->connectivity) / (double)cm_chip_cores(m->chip);
  for (size_t r = 0; r < m->walk.routers; r++)
    sum->congestion_max = fmax(sum->congestion_max, m->passing[r]);
  double load = 0, links = m->walk.links_there;
  for (size_t l = 0; l < m->walk.links; l++) {
    if (m->link[l] == 0 && m->tree_link[l] == 0)
      continue; /* most, where a network is small for its chip */
    load += m->link[l];
    m->truth->link_max = fmax(m->truth->link_max, m->link[l]);
    m->truth->channel_ns = fmax(m->truth->channel_ns, m->link[l] * m->link_ns[l]);
    m->truth->link_step_ns = m->chip->costs.link_packets_per_ns > 0 ? m->truth->channel_ns : 0;
    m->truth->tree_link_max = fmax(m->truth->tree_link_max, m->tree_link[l]);
  }
  for (uint32_t p = 0; p < m->parts; p++) {
    const cm_core_load *c = &m->truth->core[p];
    double cast = m->demand->network->directed ? m->cast[p] : c->traffic_out;
    sum->port_load_max = fmax(sum->port_load_max, fmax(c->traffic_in, c->traffic_out));
    sum->multicast_port_load_max = fmax(sum->multicast_port_load_max, fmax(c->traffic_in, cast));
  }
  sum->link_load_max = fmax(m->truth->link_max, sum->port_load_max);
  if (!m->demand->network->directed)
    m->truth->tree_link_max = m->truth->link_max;
  sum->multicast_link_load_max = fmax(m->truth->tree_link_max, sum->multicast_port_load_max);
  sum->link_load_mean = links > 0 ? load / links : 0;
  sum->multicast_link_load_mean = links > 0 ? sum->multicast_hops / links : 0;
  double reuse = 0, neurons = 0;
  for (uint32_t p = 0; p < m->parts; p++) {
    const cm_core_load *core = &m->truth->core[p];
    sum->cores_used += vertices[p] > 0;
    neurons += (double)core->neurons;
    reuse += core->inbound_axons > 0 ? (double)core->synapses / (double)core->inbound_axons : 0;
    largest(&sum->largest_part, core->neurons);
    largest(&sum->most_synapses, core->synapses);
    largest(&sum->most_inbound_axons, core->inbound_axons);
    largest(&sum->most_outbound_axons, core->outbound_axons);
    largest(&sum->most_target_cores, core->target_cores);
  }
  if (sum->cores_used > 0) {
    sum->synaptic_reuse_mean = reuse / sum->cores_used;
    sum->imbalance = neurons > 0 ? ((double)sum->largest_part * sum->cores_used - neurons) / neurons : 0;
  }
}

/* Nets by the part of their source, in their order inside a part. */
static void group_nets(measure *m)
{
  const cm_topology *topology = m->demand->network;
  for (uint32_t net = 0; net < topology->net_count; net++)
    m->net_begin[m->part[cm_topology_source(topology, net)] + 1]++;
  for (uint32_t p = 0; p < m->parts; p++)
    m->net_begin[p + 1] += m->net_begin[p];
  for (uint32_t net = topology->net_count; net-- > 0;) /* from the back: begins come down to where they belong */
    m->net[--m->net_begin[m->part[cm_topology_source(topology, net)] + 1]] = net;
  for (uint32_t p = 0; p < m->parts; p++)
    m->net_begin[p] = m->net_begin[p + 1];
  m->net_begin[m->parts] = topology->net_count;
}

static cm_status run_measure(measure *m, uint32_t *vertices, cm_error *error)
{
  const cm_topology *topology = m->demand->network;
  /* In a graph each edge stands in two rows and each row carries half of it. */
  double scale = (double)topology->weight_scale * (topology->directed ? 1 : 2);
  uint32_t *copies;
  cm_status status = CM_NEW(m->run->memory, copies, topology->vertex_count, error);
  CM_THEN(status, cm_check_copies(m->demand, m->part, m->run, copies, error));
  for (uint32_t v = 0; status == CM_OK && v < topology->vertex_count; v++) {
    vertices[m->part[v]]++;
    m->truth->core[m->part[v]].neurons += (uint64_t)copies[v] * cm_demand_size(m->demand, v);
  }
  cm_free(copies);
  group_nets(m);
  for (uint32_t p = 0; p < m->parts && status == CM_OK; p++) {
    m->pair_count = 0;
    for (uint32_t k = m->net_begin[p]; k < m->net_begin[p + 1] && status == CM_OK; k++) {
      status = count_pins(m, m->net[k], scale, error);
      CM_THEN_IF(status, topology->directed, count_axon(m, m->net[k], scale, error));
      CM_THEN_IF(status, k % 4096 == 0, cm_run_check(m->run, error));
    }
    CM_THEN(status, walk_pairs(m, error));
  }
  CM_END(status, conclude(m, vertices), );
}

cm_status cm_check_measure(const cm_mapped *mapped, cm_run *run, cm_check_truth *truth, cm_error *error)
{
  cm_check_truth fresh = {0};
  const cm_topology *topology = mapped->demand->network;
  const cm_chip *chip = mapped->chip;
  measure m = {.demand = mapped->demand, .chip = chip, .part = mapped->part, .parts = mapped->parts, .run = run, .truth = &fresh};
  uint32_t *vertices = NULL;
  cm_status status = CM_OK;
  if (cm_check_walk_new(chip, mapped->core, run->memory, &m.walk, error) != CM_OK || CM_NEW(run->memory, fresh.core, m.parts, error) != CM_OK || CM_NEW(run->memory, vertices, m.parts, error) != CM_OK ||
      CM_NEW(run->memory, m.seen, m.parts, error) != CM_OK || CM_NEW(run->memory, m.reached, m.parts, error) != CM_OK ||
      CM_NEW(run->memory, m.target, m.parts, error) != CM_OK || CM_NEW(run->memory, m.to, m.parts, error) != CM_OK || CM_NEW(run->memory, m.net, topology->net_count, error) != CM_OK ||
      CM_NEW(run->memory, m.net_begin, (size_t)m.parts + 1, error) != CM_OK ||
      CM_NEW(run->memory, m.link, m.walk.links, error) != CM_OK || CM_NEW(run->memory, m.link_ns, m.walk.links, error) != CM_OK ||
      CM_NEW(run->memory, m.cast, m.parts, error) != CM_OK || CM_NEW(run->memory, m.tree_link, m.walk.links, error) != CM_OK ||
      CM_NEW(run->memory, m.link_stamp, m.walk.links, error) != CM_OK || CM_NEW(run->memory, m.passing, m.walk.routers, error) != CM_OK)
    status = error->status;
  else
    status = run_measure(&m, vertices, error);
  if (status == CM_OK)
    cm_check_border(mapped, &fresh.metrics);
  CM_THEN(status, cm_check_step(mapped, run, &fresh, error));
  CM_FREE(vertices, m.seen, m.reached, m.target, m.to, m.net, m.net_begin, m.link, m.link_ns, m.cast, m.tree_link, m.link_stamp,
          m.passing, m.pair);
  cm_check_walk_free(&m.walk);
  CM_END(status, *truth = fresh, cm_free(fresh.core));
}
