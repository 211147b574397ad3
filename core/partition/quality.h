/* What a partition costs, before it has a place. */
#pragma once

#include "core/limits/limits.h"

/* In the network's own unit of weight. Undirected: all three are the edge cut. */
typedef struct cm_quality {
  double connectivity; /* sum over axons of rate * (parts reached besides the source's) */
  double cut_net;      /* sum of the rates of axons that leave their part */
  double edge_cut;     /* sum of the weights of synapses between parts */
} cm_quality;

cm_quality cm_quality_of(const cm_topology *topology, const cm_cuts *cuts);

/* Counts from scratch: part [vertices] with numbers below `parts`. O(pins + parts). */
cm_status cm_quality_compute(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                             cm_quality *quality, cm_error *error);
