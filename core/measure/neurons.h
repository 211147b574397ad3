/* Neurons that a chip's limits on single neurons make more of: relays and copies (docs/explanation/neuron-limits.md). */
#ifndef CM_MEASURE_NEURONS_H
#define CM_MEASURE_NEURONS_H

#include <jansson.h>

#include "base/run.h"
#include "core/network/topology.h"

/* What was added for the report, a new object: `routes` "unicast" where neurons reach few cores, and so have no trees, `relays`, how many neurons were `copied` and how many `copies` there are besides;
 * NULL where the chip limits no single neurons. O(pins). */
cm_status cm_neurons_json(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run, json_t **json, cm_error *error);

#endif
