/* Populations that share no core with others: how many a part holds, and the network of one alone. */
#pragma once

#include "core/limits/limits.h"

/* Whether the limit on populations can be broken in this network at all. O(1). */
static inline bool cm_populations_limited(const cm_topology *topology, const cm_limits *limits)
{
  return limits->populations != 0 && topology->population_of != NULL && topology->population_count > limits->populations;
}

/* Distinct populations of each part: count [parts]. O(vertices + parts + populations). */
cm_status cm_count_populations(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                               uint32_t *count, cm_error *error);

/* The part with most populations where that breaks the limit: use and limit of *violation, and how many parts do; its
 * resource means nothing. No broken parts where the limit is kept, or says nothing. */
cm_status cm_check_populations(const cm_topology *topology, const cm_limits *limits, const uint32_t *part, uint32_t parts,
                               cm_run *run, cm_violation *violation, cm_error *error);

/* The refusal of parts that break the limit, CM_LIMIT_BROKEN; CM_OK where they keep it. */
cm_status cm_refuse_populations(const cm_topology *topology, const cm_limits *limits, const uint32_t *part, uint32_t parts,
                                cm_run *run, cm_error *error);

/* The network by populations of its neurons, those without neurons left out. */
typedef struct cm_population_split {
  const cm_demand *demand;
  const uint32_t *of;     /* [vertices] population of each */
  uint32_t count;         /* populations that have neurons */
  uint32_t *number;       /* [count] of each, ascending */
  uint32_t *member_first; /* [count + 1] */
  uint32_t *member;       /* [vertices] neurons by population, ascending */
  uint64_t *pin_first;    /* [count + 1] */
  uint64_t *pin;          /* [pins] by the population of the target, in the order of the network */
  uint32_t *pin_net;      /* [pins] the net of each */
  uint32_t *local;        /* [vertices] scratch */
} cm_population_split;

/* By populations of [vertices], which has to stay, each below `populations`. O(vertices + pins); 12 bytes a pin. */
cm_status cm_population_split_open(const cm_demand *demand, const uint32_t *of, uint32_t populations, cm_run *run,
                                   cm_population_split *split, cm_error *error);
void cm_population_split_free(cm_population_split *split); /* harmless on a zeroed one */

/* One population's neurons with every synapse that they receive. Sources elsewhere are vertices of size 0 that receive
 * nothing, so that inbound axons count as in the whole network; the connectivity of a partition is that of the whole
 * network less a constant, wherever these are put. */
typedef struct cm_population_network {
  cm_topology *topology; /* without names and populations */
  cm_demand demand;      /* of it */
  uint32_t *origin;      /* [vertices] vertex of the whole network, ascending */
} cm_population_network;

/* The network of population split->number[i]; `sources` false: without sources from elsewhere and their synapses (of
 * undirected networks it is never otherwise). O(its vertices + its pins). */
cm_status cm_population_network_make(cm_population_split *split, uint32_t i, bool sources, cm_run *run,
                                     cm_population_network *network, cm_error *error);
void cm_population_network_free(cm_population_network *network); /* harmless on a zeroed one */
