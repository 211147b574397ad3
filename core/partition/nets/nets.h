/* Partitioning for least connectivity into a given number of parts of limited size: multilevel, by the nets themselves. For
 * hypergraphs of small nets (circuits, sparse networks) and wherever the number of parts is given.
 * docs/explanation/axon-partitioning.md explains the method and its sources. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

typedef struct cm_nets_options {
  uint64_t most;     /* size that a part may have */
  uint32_t parts;    /* exactly so many; none is empty where there are vertices enough */
  uint32_t starts;   /* complete first partitions, each refined to the end before the best is chosen */
  uint32_t attempts, tries; /* of every bisection of the first partition (cm_net_initial_options) */
  uint32_t attempts_few;    /* 0, or those of three starts of four: with many attempts all find the same first bisections */
  uint32_t rounds;   /* of refinement on a level */
  uint32_t loose_rounds;
  bool thorough;     /* rounds search from all borders again, not only where something has moved */
  uint32_t cycles;   /* times at most that the result is coarsened inside its parts and refined again */
  uint32_t unions;   /* times that two of the partitions are combined */
  double flow_reach;     /* of cm_net_flow, which follows on every level of unions and cycles; 0: it does not */
  uint32_t flow_rounds;
  double coarse_vertices; /* of the coarsest level, a part */
  const struct cm_nets_options *below; /* a smaller effort whose result is a start too, so that more effort is never worse:
                                          limits and seed are those here. NULL: none */
  uint64_t seed;
} cm_nets_options;

/* Fills part [vertices]. *excess: by how much parts are over `most`, together: not 0 only where no way was found.
 * Phases "coarsen", "starts", "refine". O((starts + cycles + unions) * pins * levels). */
cm_status cm_partition_nets(const cm_demand *demand, const cm_nets_options *options, cm_run *run, uint32_t *part,
                            uint64_t *excess, cm_error *error);
