/* Partitioning of networks with far more synapses than vertices times parts: nothing is coarsened. What is kept is
 * how strongly every vertex is tied to every part; vertices go, and change places, where that gains most. */
#ifndef CM_PARTITION_PROFILE_H
#define CM_PARTITION_PROFILE_H

#include "core/base/run.h"
#include "core/network/topology.h"

typedef struct cm_profile_options {
  uint32_t parts;
  uint64_t most;         /* a part's size is at most this: hard */
  uint32_t split_sweeps; /* visits of all vertices after each doubling of the parts, at most */
  uint32_t sweeps;       /* with all parts, at most */
  uint64_t seed;
} cm_profile_options;

/* Whether this way suits: a directed network whose graph would be large and much larger than the table of ties. */
bool cm_profile_suits(const cm_topology *topology, uint32_t parts);

/* Fills part [vertices] with numbers 0 .. options->parts - 1, no part above options->most, for little weight
 * between parts. The parts are doubled from a few on: each is dealt out in two at random, then every vertex moves
 * to the part that it is tied to most, or, where that is full, changes places with the one of its members that
 * gains most by it. Proposals of a batch of vertices are made from a snapshot in parallel, carried out in order,
 * and the ties of all vertices corrected in parallel: the same for any number of threads. Memory: 4 bytes a synapse
 * (8 where weights are many) and 4 per vertex and part. O(sweeps * vertices * (parts + size of a part) + pins per
 * move). CM_LIMIT_BROKEN when sizes do not fit. Phases "index", "refine". */
cm_status cm_partition_profiles(const cm_topology *topology, const cm_profile_options *options, cm_run *run,
                                uint32_t *part, cm_error *error);

#endif
