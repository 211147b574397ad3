/* The mapping: which neuron runs on which core, with its metrics and what made it. */
#ifndef CM_MAPPING_MAPPING_H
#define CM_MAPPING_MAPPING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/run.h"
#include "core/chip/region.h"
#include "core/mapping/window.h"
#include "core/network/topology.h"
#include "core/partition/bound.h"

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

typedef struct cm_metrics_detail {
  cm_core_load *core;   /* [part_count] by part */
  cm_window window;     /* the routers that have any traffic */
  double *congestion;   /* [routers of the window], row by row */
  double *link_load;    /* [routers of the window * CM_DIRECTIONS] by router, cm_direction; [links] of another interconnect */
} cm_metrics_detail;

/* Expected packets through the router of a core of the chip. */
double cm_congestion_at(const cm_metrics_detail *detail, const cm_chip *chip, uint32_t core);

/* Load of the link that leaves router (x, y) of a plain mesh or torus. */
double cm_link_load_at(const cm_metrics_detail *detail, uint32_t x, uint32_t y, cm_direction direction);

/* One try of the partition stage (retried when a limit broke). */
typedef struct cm_attempt {
  uint64_t capacity;      /* effective core capacity */
  uint32_t parts;
  double edge_cut;
  uint32_t levels;        /* coarsened levels */
  uint32_t levels_available; /* of them, matched along the heaviest edges available, because the heaviest did not do */
  bool coarsening_cached; /* true: taken from the cache, no coarsening was done */
  bool only;              /* no other partition keeps the terms: a part a neuron, nothing was searched */
  bool by_axons;          /* made by the method for axons, which keeps more limits, then refined for objective edge */
  bool moved;             /* single moves after the method made it legal */
  char broken[160];       /* "" when legal, else the first broken limit in words */
} cm_attempt;

enum { CM_ATTEMPTS_MAX = 16 };

/* Attempts as a JSON array; `how` says too what came from the cache, which is no part of a result. NULL when out of
 * memory. */
json_t *cm_attempts_json(const cm_attempt *attempts, uint32_t count, bool how);

typedef struct cm_mapping {
  uint32_t vertex_count, part_count;
  uint32_t *part;  /* [vertex_count] part of each neuron */
  uint32_t *core;  /* [part_count] core number of each part */
  cm_region *region;
  cm_metrics metrics;
  cm_metrics_detail detail;
  cm_attempt attempts[CM_ATTEMPTS_MAX];
  uint32_t attempt_count;
  cm_bound bound;  /* how few parts the limits allow */
  json_t *options; /* the options that shape a result, as resolved */
  /* Objective pareto: all mappings of the set; the chosen one's arrays are this mapping's own. Else none. */
  struct cm_mapping **points;
  uint32_t point_count, point_chosen;
  /* Of a network whose rates vary: the metrics in every scenario, and which of them the objective was about. */
  uint32_t scenario_count;
  cm_metrics *scenario; /* [scenario_count] */
  bool scenarios_worst; /* the worst; else their mean */
  json_t *report;  /* what the stages want to tell: placement costs before and after, merged counts, ... */
} cm_mapping;

/* The bound as JSON: parts, limit (null: none), per_core, reason. NULL when out of memory. */
json_t *cm_bound_json(const cm_bound *bound);

/* A figure of the metrics, as the objective sees it: of a network whose rates vary that of the worst scenario, or their mean. */
typedef double cm_metric_figure(const cm_metrics *metrics);
double cm_mapping_aimed(const cm_mapping *mapping, cm_metric_figure *figure);
double cm_figure_step_ns(const cm_metrics *metrics);
double cm_figure_core_ns_max(const cm_metrics *metrics);
double cm_figure_energy_step_pj(const cm_metrics *metrics);

void cm_mapping_free(cm_mapping *mapping); /* NULL is allowed */

#endif
