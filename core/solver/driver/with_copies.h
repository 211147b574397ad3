/* Mapping with copies of neurons, where what leaves these is limited (core/limits/leaving.h). */
#pragma once

#include "core/mapping/input.h"
#include "core/mapping/mapping.h"
#include "core/solver/driver/under_constraints.h"

/* Maps; where the search leaves neurons with too many synapses, maps the network with copies of them beside what came nearest (core/placement/copy_leaving.h): the
 * mapping then is of its own `copied`, and report.leaving.copies has them. Refusals say what copies would do. Not for given parts, old mappings, profiles and sets
 * of mappings. Errors as of `map`. */
cm_status cm_map_with_copies(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error);
