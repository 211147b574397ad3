/* The one table of metrics: what files, reports and the HTTP interface's schema say of each is made from it. */
#include "core/metrics/metrics.h"

#include <stddef.h>
#include <string.h>

typedef enum metric_kind { METRIC_REAL, METRIC_COUNT, METRIC_LONG_COUNT, METRIC_TEXT } metric_kind;

typedef struct metric {
  const char *name;
  metric_kind kind; /* double, uint32_t, uint64_t, char [] */
  size_t offset;
  const char *where; /* it is about things that this metric counts; NULL: always of interest */
  const char *label, *unit;
  int better;       /* -1: less, 1: more, 0: neither */
  const char *about;
} metric;

#define FIELD(name) #name, METRIC_REAL, offsetof(cm_metrics, name), NULL
#define COUNT(name) #name, METRIC_COUNT, offsetof(cm_metrics, name), NULL
#define LONG_COUNT(name) #name, METRIC_LONG_COUNT, offsetof(cm_metrics, name), NULL
#define TEXT(name) #name, METRIC_TEXT, offsetof(cm_metrics, name), NULL
#define OF_OUTSIDE(name, kind) #name, kind, offsetof(cm_metrics, name), "outside_inputs"

static const metric table[] = {
  {FIELD(energy_pj), "Energy", "pJ", -1, "all packets, routers and links"},
  {FIELD(latency_mean_ns), "Latency, mean", "ns", -1, "over packets, weighted by traffic; 0 when none travels"},
  {FIELD(latency_max_ns), "Latency, maximum", "ns", -1, "of the packet that takes longest"},
  {FIELD(congestion_mean), "Congestion, mean", "packets", -1, "expected through a core under random minimal routing, over all cores of the chip"},
  {FIELD(congestion_max), "Congestion, maximum", "packets", -1, "the same of the busiest core"},
  {FIELD(link_load_mean), "Link load, mean", "packets", -1, "over a link between routers, each direction on its own, under the chip's routing"},
  {FIELD(link_load_max), "Link load, maximum", "packets", -1, "over the busiest link, inlet or outlet of a core"},
  {FIELD(hop_traffic), "Hop traffic", "packets * hops", -1, "once for each axon and target core (undirected: for each edge)"},
  {FIELD(edge_hop_traffic), "Hop traffic of synapses", "weight * hops", -1, "once for each synapse or edge"},
  {FIELD(multicast_hops), "Multicast hops", "packets * links", -1, "the union of the routes of each axon"},
  {FIELD(multicast_energy_pj), "Multicast energy", "pJ", -1, "each axon once along that union: links + 1 routers, and the links"},
  {FIELD(multicast_link_load_mean), "Multicast link load, mean", "packets", -1, "over a link when sent so"},
  {FIELD(multicast_link_load_max), "Multicast link load, maximum", "packets", -1, "over the busiest link or port when sent so"},
  {FIELD(connectivity), "Connectivity", "weight", -1, "of each net, times the parts that it touches less one"},
  {FIELD(cut_net), "Cut nets", "weight", -1, "of the nets that touch several parts"},
  {FIELD(edge_cut), "Edge cut", "weight", -1, "of the synapses or edges between parts"},
  {FIELD(synaptic_reuse_mean), "Synaptic reuse, mean", "synapses per axon", 1, "mean over used cores of synapses / distinct inbound axons"},
  {FIELD(balance), "Balance", "1", -1, "largest part / mean part, by size"},
  {COUNT(cores_used), "Cores used", "cores", -1, "parts that hold a neuron"},
  {LONG_COUNT(largest_part), "Largest part", "neurons", 0, "of the fullest core, by size"},
  {LONG_COUNT(most_synapses), "Most synapses on a core", "synapses", 0, "of the core with most"},
  {LONG_COUNT(most_inbound_axons), "Most inbound axons of a core", "axons", 0, "of the core with most"},
  {LONG_COUNT(most_outbound_axons), "Most outbound axons of a core", "axons", 0, "of the core with most"},
  {LONG_COUNT(most_target_cores), "Most target cores of a core", "cores", 0, "that one core sends to"},
  {FIELD(step_ns), "Time step", "ns", -1, "a time step: the busiest core, port or link, and the barrier"},
  {FIELD(core_ns_max), "Busiest core", "ns", -1, "of the busiest core in a step, without contention"},
  {FIELD(barrier_ns), "Barrier", "ns", -1, "between steps, by the tiles in use"},
  {FIELD(energy_step_pj), "Energy of a step", "pJ", -1, "a time step: packets, synapses, neurons, hops, and the way in of inputs outside"},
  {FIELD(energy_packets_pj), "Energy of packets", "pJ", -1, "of a step: packets sent and received"},
  {FIELD(energy_synapses_pj), "Energy of synapses", "pJ", 0, "of a step: the same in every mapping"},
  {FIELD(energy_neurons_pj), "Energy of neurons", "pJ", 0, "of a step: the same in every mapping"},
  {FIELD(port_load_max), "Port load, maximum", "packets", -1, "through the busiest inlet or outlet of a core"},
  {FIELD(multicast_port_load_max), "Multicast port load, maximum", "packets", -1, "the same when an axon's packet leaves its core once"},
  {FIELD(saturation_load), "Saturation load", "steps / ns", 1, "at which the busiest port or link is full"},
  {OF_OUTSIDE(outside_inputs, METRIC_COUNT), "Inputs outside the chip", "neurons", 0, "inputs outside the chip, which take no room on a core"},
  {OF_OUTSIDE(border_packets, METRIC_REAL), "Packets from the border", "packets", 0, "of these inputs, each once from the border to the core where it comes in"},
  {OF_OUTSIDE(border_hops, METRIC_REAL), "Hops from the border", "packets * hops", -1, "of these packets, from the nearest router of the border"},
  {OF_OUTSIDE(border_energy_pj, METRIC_REAL), "Energy from the border", "pJ", -1, "of these packets, routers and links; not in energy_pj"},
  {TEXT(step_limit), "What limits a step", "", 0, "what holds the step up, in words"},
};
enum { METRICS = sizeof table / sizeof *table };

static json_t *value_of(const metric *m, const cm_metrics *metrics)
{
  const void *field = (const char *)metrics + m->offset;
  switch (m->kind) {
    case METRIC_REAL: return json_real(*(const double *)field);
    case METRIC_COUNT: return json_integer(*(const uint32_t *)field);
    case METRIC_LONG_COUNT: return json_integer((json_int_t) * (const uint64_t *)field);
    default: return json_string(field);
  }
}

json_t *cm_metrics_json(const cm_metrics *metrics)
{
  json_t *json = json_object();
  for (size_t i = 0; i < METRICS && json != NULL; i++)
    if (json_object_set_new(json, table[i].name, value_of(&table[i], metrics)) != 0) {
      json_decref(json);
      return NULL;
    }
  return json;
}

bool cm_metric_is_of_interest(const char *name, const json_t *metrics)
{
  for (size_t i = 0; i < METRICS; i++)
    if (strcmp(table[i].name, name) == 0)
      return table[i].where == NULL || json_number_value(json_object_get(metrics, table[i].where)) > 0;
  return true;
}

json_t *cm_metrics_schema(void)
{
  static const char *const types[] = {"number", "integer", "integer", "string"};
  json_t *properties = json_object();
  for (size_t i = 0; i < METRICS; i++) {
    const metric *m = &table[i];
    json_t *one = json_pack("{s:s, s:s}", "type", types[m->kind], "description", m->about);
    if (m->kind != METRIC_TEXT) {
      (void)json_object_set_new(one, "x-label", json_string(m->label));
      (void)json_object_set_new(one, "x-unit", json_string(m->unit));
      (void)json_object_set_new(one, "x-better", json_string(m->better < 0 ? "less" : m->better > 0 ? "more" : "neither"));
      if (m->where != NULL)
        (void)json_object_set_new(one, "x-where", json_string(m->where));
    }
    if (json_object_set_new(properties, m->name, one) != 0) {
      json_decref(properties);
      return NULL;
    }
  }
  return json_pack("{s:s, s:o}", "type", "object", "properties", properties);
}

double cm_figure_step_ns(const cm_metrics *m)
{
  return m->step_ns;
}

double cm_figure_core_ns_max(const cm_metrics *m)
{
  return m->core_ns_max;
}

double cm_figure_energy_step_pj(const cm_metrics *m)
{
  return m->energy_step_pj;
}
