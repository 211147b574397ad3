/* Lower bounds on a time step for the certificate, by code of their own: those of the search are in
 * core/partition/step/step_bound.c. */
#include "core/chip/costs.h"
#include "core/verify/certificate.h"

/* One neuron's part in a step, a packet an axon: what it receives alone, and what it sends. */
typedef struct neuron {
  double in;      /* rate of its synapses */
  double send_ns;
} neuron;

/* Fills neurons, adds up their spikes and returns the energy of all events at cores. */
static double add_axons(const cm_demand *demand, const cm_costs *costs, neuron *list, double *spikes)
{
  const cm_topology *t = demand->network;
  const cm_charge_cost *c = costs->charge;
  double pj = 0;
  for (uint32_t v = 0, net = 0; v < t->vertex_count; v++) {
    const double untold = cm_demand_untold(demand, v, &net).spikes;
    list[v].send_ns = c[CM_CHARGE_NEURON].ns * cm_demand_size(demand, v) + c[CM_CHARGE_SPIKE].ns * untold;
    pj += c[CM_CHARGE_NEURON].pj * cm_demand_size(demand, v) + c[CM_CHARGE_SPIKE].pj * untold;
    *spikes += untold;
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    double rate = (double)cm_demand_net_weight(demand, e) / (double)t->weight_scale;
    *spikes += rate;
    uint64_t targets = t->net_first[e + 1] - t->net_first[e];
    double packets = targets > 0 ? rate : 0;
    list[cm_topology_source(t, e)].send_ns += c[CM_CHARGE_SPIKE].ns * rate + c[CM_CHARGE_PACKET_SENT].ns * packets;
    pj += c[CM_CHARGE_SPIKE].pj * rate + (c[CM_CHARGE_PACKET_SENT].pj + c[CM_CHARGE_PACKET_RECEIVED].pj) * packets +
          c[CM_CHARGE_SYNAPSE].pj * rate * (double)targets;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      list[t->pin[i]].in += rate;
  }
  return pj;
}

cm_status cm_step_bounds_compute(const cm_demand *demand, const cm_costs *costs, uint32_t cores, cm_memory *memory,
                                 cm_step_bounds *bounds, cm_error *error)
{
  const cm_topology *topology = demand->network;
  double packet_ns = costs->charge[CM_CHARGE_PACKET_RECEIVED].ns, synapse_ns = costs->charge[CM_CHARGE_SYNAPSE].ns;
  const cm_barrier *b = &costs->barrier;
  double most = 0, in = 0, send_ns = 0, spikes = 0, least_ns = b->points > 0 ? b->ns[0] : 0, n = topology->vertex_count, k = cores;
  neuron *list;
  if (!topology->directed || cores == 0 || topology->vertex_count == 0) {
    *bounds = (cm_step_bounds){0};
    return CM_OK;
  }
  CM_TRY(CM_NEW(memory, list, topology->vertex_count, error));
  double pj = add_axons(demand, costs, list, &spikes);
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    double alone = cm_core_ns(costs, (packet_ns + synapse_ns) * list[v].in, list[v].send_ns);
    most = alone > most ? alone : most;
    in += list[v].in;
    send_ns += list[v].send_ns;
  }
  cm_free(list);
  for (uint32_t i = 1; i < b->points; i++)
    least_ns = b->ns[i] < least_ns ? b->ns[i] : least_ns;
  double mean = cm_core_ns(costs, packet_ns * in / n + synapse_ns * in / k, send_ns / k);
  most = mean > most ? mean : most;
  *bounds = (cm_step_bounds){.core_ns_max = most, .energy_step_pj = pj};
  if (b->spike_ns > 0 || b->packet_ns > 0)
    bounds->step_ns = most + least_ns + b->spike_ns * spikes;
  return CM_OK;
}
