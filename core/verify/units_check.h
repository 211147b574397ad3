/* An independent check of copies and relays: every synapse is made exactly once. */
#ifndef CM_VERIFY_UNITS_CHECK_H
#define CM_VERIFY_UNITS_CHECK_H

#include "core/verify/check.h"

/* Reads units (export `units`, docs/neuron-limits.md) at `path` of a mapping that cm_check_mapping has found sound, and checks: no
 * neuron, copy or relay has more inputs or cores than the chip allows; each relay feeds one other, or its neuron, and the
 * synapses that come in by all of them are the network's, each once; each core that a neuron reaches is served by one copy, and
 * no other core is; what stands on a core is what the mapping says. CM_OK with violations added to `result`, which may hold some
 * (zeroed: none); CM_BAD_MAPPING when a file cannot be understood. O(pins log(fan-in) + file). */
cm_status cm_units_check(const char *path, const char *mapping_path, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                         cm_check_result *result, cm_error *error);

#endif
