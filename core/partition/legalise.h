/* The last resort for a partition that breaks limits or has too many parts: moves of single vertices until all
 * limits are kept, those on outbound axons and target cores too, which no method keeps by itself
 * (docs/explanation/axon-partitioning.md). */
#pragma once

#include "core/limits/limits.h"

typedef struct cm_legalise_options {
  cm_limits limits;
  uint32_t parts_max;
  bool exact; /* the number of parts stays as it is: none is opened, none emptied */
  uint64_t seed;
  double *looks; /* gets the number of synapses looked at; NULL: nobody asks */
} cm_legalise_options;

/* Changes part [vertices] with numbers below *parts; gaps in the numbers are closed. No part comes to
 * hold more populations than the limits allow that did not before. Simulated annealing on the sum
 * of all relative excesses, about the parts that break a limit; stops when there are none (*legal) or after looking
 * at some 8 times as many synapses as there are. Dissolving parts that are too many looks at as many again, or
 * where that is not enough at one place for every vertex that moves. What is left is no worse than what was given. Memory: 4 bytes a
 * synapse, 24 a pair of neuron and part reached. */
cm_status cm_legalise(const cm_demand *demand, const cm_legalise_options *options, cm_run *run, uint32_t *part,
                      uint32_t *parts, bool *legal, cm_error *error);
