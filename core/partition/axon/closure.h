/* Whether a network has anything to coarsen by: neurons that share more sources than chance has them share. */
#pragma once

#include "core/partition/axon/hypergraph.h"

/* Whether it may have nothing: synapses are a hundredth of the possible ones at least, and not few. Of targets only those are possible
 * that take room: other populations and inputs that stand outside are sources. O(vertices). */
bool cm_may_lack_clusters(const cm_demand *demand);

/* Whether it has nothing, where it may: two targets of a neuron have other sources in common hardly more often than chance has it (a
 * cortical microcircuit: 1.3 times, a reservoir of 16384 neurons and fan-out 1024: 6 times). Of the demand's level 0, whose targets are
 * not packed; lists its inbound nets. O(pins of a vertex) for each of 8192 pairs. */
cm_status cm_lacks_clusters(const cm_demand *demand, cm_hypergraph *graph, cm_run *run, bool *lacks, cm_error *error);
