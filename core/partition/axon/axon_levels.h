/* The levels of a hypergraph, from the network's own to the coarsest, for the multilevel search under core limits. */
#pragma once

#include "core/partition/axon/axon.h"
#include "core/partition/axon/hypergraph.h"

enum { CM_AXON_LEVELS_MAX = 24 };

typedef struct cm_axon_levels {
  uint32_t count;
  cm_hypergraph *graph[CM_AXON_LEVELS_MAX]; /* [0]: the network */
  uint32_t *map[CM_AXON_LEVELS_MAX];        /* map[l]: vertices of level l -> of level l + 1 */
  const cm_demand *demand;
} cm_axon_levels;

/* Level 0; `pack` as in cm_hypergraph_from_topology. O(pins). */
cm_status cm_axon_levels_begin(const cm_demand *demand, bool pack, cm_run *run, cm_axon_levels *levels, cm_error *error);
void cm_axon_levels_free(cm_axon_levels *levels);

/* Lists the inbound nets of a level, with its targets again where they were dropped. O(pins). */
cm_status cm_axon_levels_list(const cm_axon_levels *levels, uint32_t level, cm_run *run, cm_error *error);

/* Drops the coarsest level, when it is no longer needed. */
void cm_axon_levels_drop(cm_axon_levels *levels);

/* Drops all levels but the first and builds new ones, chosen at random by `seed`. `part` [vertices of level 0]: only
 * vertices of the same part merge, and when it returns the array holds the parts of the coarsest level's vertices;
 * NULL: any. Phase "coarsen". O(pins). */
cm_status cm_axon_levels_build(cm_axon_levels *levels, const cm_axon_options *options, uint64_t seed, uint32_t *part,
                               cm_run *run, cm_error *error);
