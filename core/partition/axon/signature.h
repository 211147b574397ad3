/* An order in which neurons that take their inputs from the same places stand together, also where no two share many
 * sources: what matters is which kinds of neurons reach them, not which neurons. */
#pragma once

#include "core/partition/synapses.h"

/* Fills order [vertices]. Every neuron begins with a random vector; three times each becomes the sum of its sources'
 * vectors, less the mean over all neurons, at unit length (power iteration on the network, whose leading directions
 * tell kinds of neurons apart). Then all are split by the mean of the coordinate that varies most, and so on. The same
 * for any number of threads. O(pins) and 32 bytes a vertex. */
cm_status cm_order_by_sources(const cm_synapses *synapses, uint64_t seed, cm_run *run, uint32_t *order,
                              cm_error *error);
