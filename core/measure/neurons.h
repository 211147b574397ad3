/* Neurons that a chip's limits on single neurons make more of: relays and copies (docs/explanation/neuron-limits.md). */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/mapping/mapped.h"

/* What was added for the report, a new object: `routes` "unicast" where neurons reach few cores, and so have no trees, `relays`, how many neurons were `copied` and how many `copies` there are besides;
 * NULL where the chip limits no single neurons. O(pins). */
cm_status cm_neurons_json(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, json_t **json, cm_error *error);

/* What leaves neurons of a mapping (core/limits/leaving.h): refuses one that breaks the chip's limits, CM_LIMIT_BROKEN; *json, a new object, has
 * `near_synapses_most` and `far_synapses_most` of one neuron, NULL where the chip has no such limits. O(pins). */
cm_status cm_leaving_json(const cm_mapped *mapped, cm_run *run, json_t **json, cm_error *error);
