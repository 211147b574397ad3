/* The metrics of a mapping: what each is, and how files, reports and forms tell it. docs/metrics.md defines them; measuring is
 * core/mapping/measure's, and once more core/verify's. */
#ifndef CM_METRICS_METRICS_H
#define CM_METRICS_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { CM_STEP_LIMIT_MAX = 192 };

/* Totals of section 8. Weights are in the network's own unit (scale divided out), energy in pJ, latency in ns. */
typedef struct cm_metrics {
  double energy_pj;
  double latency_mean_ns, latency_max_ns;
  double congestion_mean, congestion_max; /* expected packets through a core under random minimal routing; of another interconnect than a plain mesh
                                             on their ways */
  double link_load_mean;                  /* over the links between routers, under the chip's own routing */
  double link_load_max;                   /* of a link, or of a core's inlet or outlet */
  double hop_traffic;                     /* sum over axons and target cores of w * d; undirected: over edges */
  double edge_hop_traffic;                /* sum over synapses (or edges) of weight * d */
  /* An axon's packet sent once along the union of its routes; undirected: as above. */
  double multicast_hops;                  /* sum over axons of w * links of the union */
  double multicast_energy_pj;             /* (links + 1) routers and the links */
  double multicast_link_load_mean, multicast_link_load_max;
  double connectivity, cut_net, edge_cut;
  double synaptic_reuse_mean;             /* mean over used cores of synapses / distinct inbound axons */
  double balance;                         /* largest part / mean part, by size */
  uint32_t cores_used;
  uint64_t largest_part, most_synapses, most_inbound_axons, most_outbound_axons, most_target_cores;
  /* One time step, by the chip's costs (docs/step-time.md). */
  double step_ns;                         /* the busiest core, port or link, and the barrier */
  double core_ns_max, barrier_ns;         /* of the busiest core, without contention; between steps */
  double energy_step_pj;                  /* all of the next three and of the hops */
  double energy_packets_pj, energy_synapses_pj, energy_neurons_pj;
  double port_load_max;                   /* packets through the busiest inlet or outlet of a core */
  double multicast_port_load_max;         /* the same when an axon's packet leaves its core once */
  double saturation_load;                 /* steps a ns at which the busiest port or link is full */
  /* Inputs outside the chip: how many, their packets, and what these do between the border and the core where they come in. */
  uint32_t outside_inputs;
  double border_packets, border_hops, border_energy_pj;
  char step_limit[CM_STEP_LIMIT_MAX];     /* what holds the step up, in words */
} cm_metrics;

/* One used core. */
typedef struct cm_core_load {
  uint64_t neurons, synapses, inbound_axons, outbound_axons, target_cores; /* as in cm_limits */
  double traffic_in, traffic_out; /* packets that end here, and start here, from and to other cores */
  double receive_ns, send_ns;     /* of a time step */
} cm_core_load;

/* Metrics as a JSON object, names as in cm_metrics; NULL when out of memory. */
json_t *cm_metrics_json(const cm_metrics *metrics);

/* Whether a metric says anything there: what is about inputs outside the chip does where there are some. O(metrics). */
bool cm_metric_is_of_interest(const char *name, const json_t *metrics);

/* The JSON schema of that object: types, units (`x-unit`), which way is better (`x-better`) and what each is; NULL when out
 * of memory. */
json_t *cm_metrics_schema(void);

/* A figure that something aims at. */
typedef double cm_metric_figure(const cm_metrics *metrics);
double cm_figure_step_ns(const cm_metrics *metrics);
double cm_figure_core_ns_max(const cm_metrics *metrics);
double cm_figure_energy_step_pj(const cm_metrics *metrics);

#endif
