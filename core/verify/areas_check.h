/* Whether a mapping keeps pins of populations: neuron by neuron, by the list alone. */
#ifndef CM_VERIFY_AREAS_CHECK_H
#define CM_VERIFY_AREAS_CHECK_H

#include "core/constraints/population_areas.h"
#include "core/mapping/mapped.h"

/* Errors: CM_LIMIT_BROKEN names the first neuron that lies where it may not. O(constraints * neurons). */
cm_status cm_areas_check(const cm_mapped *mapped, const cm_topology *topology, const cm_constraints *constraints, cm_error *error);

#endif
