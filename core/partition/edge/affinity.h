/* Partitioning of networks with far more synapses than vertices times parts: nothing is coarsened. What is kept is
 * how strongly every vertex is tied to every part; vertices go, and change places, where that gains most. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

typedef struct cm_affinity_options {
  uint32_t parts;
  uint64_t most;         /* a part's size is at most this: hard */
  uint32_t split_sweeps; /* visits of all vertices after each doubling of the parts, at most */
  uint32_t sweeps;       /* with all parts, at most */
  uint32_t more_sweeps;  /* up to so many times as many in networks that are small beside the largest, where sweeps are
                            cheap; those are annealed. 0, 1: no more */
  uint64_t seed;
} cm_affinity_options;

/* Networks of fewer synapses fit as graphs. */
#define CM_AFFINITY_LARGE (UINT64_C(1) << 27)

/* Whether this way suits: a directed network whose graph would be large and much larger than the table of ties; with
 * `small` also one of half a million synapses or more in which two targets of a neuron are hardly more likely to be
 * connected than any two neurons, so that coarsening would find nothing. O(1) looks. */
bool cm_affinity_suits(const cm_topology *topology, uint32_t parts, bool small);

/* Fills part [vertices] with numbers 0 .. options->parts - 1, no part above options->most, for little weight
 * between parts. The parts are doubled from a few on: each is dealt out in two at random, then every vertex moves
 * to the part that it is tied to most, or, where that is full, changes places with the one of its members that
 * gains most by it, or, annealed, does not lose more than a random number allows. Proposals of a batch of vertices are
 * made from a snapshot in parallel, carried out in order, and the ties of all vertices corrected in parallel: the same
 * for any number of threads. Memory: 4 bytes a synapse (8 where weights are many) and 4 per vertex and part. O(sweeps * vertices * (parts + size of a part) + pins per
 * move). CM_LIMIT_BROKEN when sizes do not fit. Phases "index", "refine". */
cm_status cm_partition_by_affinity(const cm_demand *demand, const cm_affinity_options *options, cm_run *run,
                                uint32_t *part, cm_error *error);
