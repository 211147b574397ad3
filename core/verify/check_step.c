/* The check's own figures of a time step, from the definitions of docs/explanation/step-time.md: every packet counted one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/verify/check_measure.h"

/* What a core does in a step. */
typedef struct duty {
  double received, synapses, neurons, spikes, sent;
  bool biased;
} duty;

/* One axon (or the row of an undirected vertex, whose every edge is a packet of half its weight). `reached` [parts] holds the last
 * net with a target there, plus 1. */
static void count_net(const cm_demand *demand, const uint32_t *part, uint32_t net, uint32_t *reached, duty *d)
{
  const cm_topology *t = demand->network;
  const double rate = t->directed ? (double)cm_demand_net_weight(demand, net) / (double)t->weight_scale : 0;
  duty *home = &d[part[cm_topology_source(t, net)]];
  home->spikes += rate;
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    const uint32_t p = part[t->pin[i]];
    const double packet = t->directed ? rate : (double)cm_demand_pin_weight(demand, net, i) / (double)t->weight_scale / 2;
    d[p].synapses += packet;
    if (t->directed && reached[p] == net + 1)
      continue;
    reached[p] = net + 1;
    d[p].received += packet;
    home->sent += packet;
  }
}

static uint32_t tiles_in_use(const cm_mapped *mapped, uint32_t *tile)
{
  const cm_chip *chip = mapped->chip;
  const uint32_t *core = mapped->core;
  uint32_t parts = mapped->parts;
  uint32_t across = chip->width / chip->costs.barrier.tile_x + 1, found = 0;
  for (uint32_t p = 0; p < parts; p++)
    tile[p] = core[p] / chip->width / chip->costs.barrier.tile_y * across + core[p] % chip->width / chip->costs.barrier.tile_x;
  qsort(tile, parts, sizeof *tile, cm_ascending);
  for (uint32_t p = 0; p < parts; p++)
    found += p == 0 || tile[p] != tile[p - 1];
  return found;
}

static double barrier_of(const cm_barrier *b, uint32_t tiles)
{
  for (uint32_t i = b->points; i-- > 0;)
    if (b->tiles[i] <= tiles)
      return b->ns[i];
  return 0;
}

static void conclude(const cm_mapped *mapped, const duty *d, uint32_t *scratch, cm_check_truth *truth)
{
  const cm_chip *chip = mapped->chip;
  const cm_charge_cost *c = chip->costs.charge;
  double port = chip->costs.port_packets_per_ns, between = 0;
  cm_core_load *load = truth->core;
  cm_metrics *m = &truth->metrics;
  for (uint32_t p = 0; p < mapped->parts; p++) {
    double receive = c[CM_CHARGE_PACKET_RECEIVED].ns * d[p].received + c[CM_CHARGE_SYNAPSE].ns * d[p].synapses;
    double send = c[CM_CHARGE_NEURON].ns * d[p].neurons + c[CM_CHARGE_SPIKE].ns * d[p].spikes +
                  c[CM_CHARGE_PACKET_SENT].ns * d[p].sent;
    const double sources = d[p].biased ? mapped->parts > 1 ? 2 : 1 : 0; /* of biases */
    between += chip->costs.barrier.spike_ns * (d[p].spikes + sources) + (mapped->parts > 1 ? chip->costs.barrier.packet_ns * d[p].sent : 0);
    load[p].receive_ns = receive;
    load[p].send_ns = send;
    m->core_ns_max = fmax(m->core_ns_max, chip->costs.side_by_side ? fmax(receive, send) : receive + send);
    m->energy_packets_pj += c[CM_CHARGE_PACKET_SENT].pj * d[p].sent + c[CM_CHARGE_PACKET_RECEIVED].pj * d[p].received;
    m->energy_synapses_pj += c[CM_CHARGE_SYNAPSE].pj * d[p].synapses;
    m->energy_neurons_pj += c[CM_CHARGE_NEURON].pj * d[p].neurons + c[CM_CHARGE_SPIKE].pj * d[p].spikes;
  }
  if (chip->costs.barrier.points > 0)
    m->barrier_ns = barrier_of(&chip->costs.barrier, tiles_in_use(mapped, scratch)) + between;
  m->step_ideal_ns = fmax(m->core_ns_max, fmax(port > 0 ? m->port_load_max / port : 0, truth->link_step_ns)) + m->barrier_ns;
  m->step_ns = m->step_ideal_ns; /* a pacing may say more */
  m->energy_step_pj = m->energy_pj + m->border_energy_pj + m->energy_packets_pj + m->energy_synapses_pj + m->energy_neurons_pj;
  double fullest = fmax(m->port_load_max * (port > 0 ? 1 / port : chip->latency_ns.router), truth->channel_ns);
  m->saturation_load = fullest > 0 ? 1 / fullest : 0;
}

cm_status cm_check_step(const cm_mapped *mapped, cm_run *run, cm_check_truth *truth, cm_error *error)
{
  const cm_topology *topology = mapped->demand->network;
  uint32_t *scratch = NULL;
  duty *d = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(d, mapped->parts), CM_ARRAY(scratch, mapped->parts));
  for (uint32_t net = 0; net < topology->net_count && status == CM_OK; net++) {
    count_net(mapped->demand, mapped->part, net, scratch, d);
    if (net % 4096 == 0)
      status = cm_run_check(run, error);
  }
  uint32_t *copies = NULL;
  CM_THEN(status, CM_NEW(run->memory, copies, topology->vertex_count, error));
  CM_THEN(status, cm_check_copies(mapped->demand, mapped->part, run, copies, error));
  for (uint32_t v = 0, next = 0; v < topology->vertex_count && status == CM_OK; v++) {
    const cm_untold untold = cm_demand_untold(mapped->demand, v, &next);
    duty *home = &d[mapped->part[v]];
    home->neurons += (double)copies[v] * cm_demand_size(mapped->demand, v);
    home->spikes += untold.spikes;
    home->synapses += untold.synapses;
    home->biased = home->biased || untold.synapses > 0;
  }
  cm_free(copies);
  if (status == CM_OK)
    conclude(mapped, d, scratch, truth);
  CM_FREE(d, scratch);
  return status;
}

/* ---- the sentence that says what holds a step up ---- */

/* Figures are printed with six digits. */
static bool is_near(double stated, double truth)
{
  return fabs(stated - truth) <= 1e-4 * fabs(truth) + 1e-9;
}

static const cm_core_load *load_at(const cm_mapped *mapped, const cm_core_load *load, unsigned x, unsigned y)
{
  uint32_t width = mapped->chip->width;
  for (uint32_t p = 0; p < mapped->parts; p++)
    if (mapped->core[p] % width == x && mapped->core[p] / width == y)
      return &load[p];
  return NULL;
}

static bool ends(const char *sentence, int read)
{
  return read > 0 && sentence[read] == '\0';
}

/* Whether the sentence is about a core that takes as long as the step, for what it says. */
static bool names_core(const cm_mapped *mapped, const cm_core_load *load, double busiest, const char *sentence)
{
  const cm_charge_cost *c = mapped->chip->costs.charge;
  unsigned x, y, part;
  double a, b, n, ns;
  int read = 0;
  if (sscanf(sentence, "core (%u, %u) with part %u receives %lf packets and handles %lf synapses in %lf ns%n", &x, &y, &part,
             &a, &b, &ns, &read) == 6 && ends(sentence, read)) {
    const cm_core_load *l = load_at(mapped, load, x, y);
    return l == &load[part < mapped->parts ? part : 0] && is_near(l->receive_ns, busiest) && is_near(ns, busiest) &&
           is_near(a * c[CM_CHARGE_PACKET_RECEIVED].ns + b * c[CM_CHARGE_SYNAPSE].ns, ns);
  }
  if (sscanf(sentence, "core (%u, %u) with part %u updates %lf neurons, of which %lf fire, and sends %lf packets in %lf ns%n",
             &x, &y, &part, &n, &a, &b, &ns, &read) == 7 && ends(sentence, read)) {
    const cm_core_load *l = load_at(mapped, load, x, y);
    return l == &load[part < mapped->parts ? part : 0] && is_near(l->send_ns, busiest) && is_near(ns, busiest) &&
           is_near(n * c[CM_CHARGE_NEURON].ns + a * c[CM_CHARGE_SPIKE].ns + b * c[CM_CHARGE_PACKET_SENT].ns, ns);
  }
  if (sscanf(sentence, "core (%u, %u) with part %u receives for %lf ns and then sends for %lf ns%n", &x, &y, &part, &a, &b,
             &read) == 5 && ends(sentence, read)) {
    const cm_core_load *l = load_at(mapped, load, x, y);
    return l == &load[part < mapped->parts ? part : 0] && is_near(a, l->receive_ns) && is_near(b, l->send_ns) &&
           is_near(l->receive_ns + l->send_ns, busiest);
  }
  return false;
}

static bool names_channel(const cm_mapped *mapped, const cm_core_load *load, double busiest, const char *sentence)
{
  const cm_costs *costs = &mapped->chip->costs;
  unsigned x, y;
  double packets, ns;
  char what[8];
  int read = 0;
  if (sscanf(sentence, "the %7[a-z] of core (%u, %u) passes %lf packets in %lf ns%n", what, &x, &y, &packets, &ns, &read) == 5 &&
      ends(sentence, read)) {
    const cm_core_load *l = load_at(mapped, load, x, y);
    bool in = strcmp(what, "inlet") == 0;
    return l != NULL && (in || strcmp(what, "outlet") == 0) && is_near(packets, in ? l->traffic_in : l->traffic_out) &&
           is_near(ns, busiest) && is_near(packets / costs->port_packets_per_ns, ns);
  }
  if (cm_geometry_of(mapped->chip) == CM_BY_WAYS) { /* the ends and the load are told; the time is what counts */
    int tail = 0;
    const char *tail_of = strstr(sentence, " passes ");
    bool link = strncmp(sentence, "the link from ", 14) == 0 && tail_of != NULL;
    return link && sscanf(tail_of, " passes %lf packets in %lf ns%n", &packets, &ns, &tail) == 2 && ends(tail_of, tail) &&
           is_near(ns, busiest) && packets > 0;
  }
  return sscanf(sentence, "the link %7[a-z] of router (%u, %u) passes %lf packets in %lf ns%n", what, &x, &y, &packets, &ns,
                &read) == 5 &&
         ends(sentence, read) && is_near(ns, busiest) && is_near(packets / costs->link_packets_per_ns, ns);
}

bool cm_check_step_limit(const cm_mapped *mapped, const cm_check_truth *truth, const char *sentence)
{
  double busiest = truth->metrics.step_ideal_ns - truth->metrics.barrier_ns;
  if (busiest <= 0)
    return sentence[0] == '\0';
  return names_core(mapped, truth->core, busiest, sentence) || names_channel(mapped, truth->core, busiest, sentence);
}
