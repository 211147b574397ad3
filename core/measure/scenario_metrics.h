/* Measures of a mapping by the scenarios of its network, whose rates vary over time (docs/explanation/step-time.md). */
#pragma once

#include "core/mapping/input.h"

#include "core/mapping/mapping.h"

/* Fills mapping->scenario with the metrics of every scenario of the network; of one without scenarios takes the option from
 * the mapping's. Errors: memory, stops. O(scenarios * metrics). */
cm_status cm_scenarios_measure(const cm_map_input *input, cm_run *run, cm_mapping *mapping, cm_error *error);

/* The mapping file's member "scenarios" as a new object; NULL when out of memory. There must be scenarios. */
json_t *cm_scenarios_json(const cm_mapping *mapping, const cm_topology *topology);
