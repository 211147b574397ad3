/* What each time step of a network that ran takes on its mapping, where the metrics know mean rates alone. */
#pragma once

#include "core/mapping/input.h"
#include "core/mapping/mapped.h"
#include "core/mapping/mapping.h"

typedef struct cm_step_by_step {
  double mean_ns, p99_ns, worst_ns; /* time of a step: 99 % of the steps take so long at most */
  uint32_t worst_step;              /* the first of those */
  uint32_t parts;
  cm_peak_at *peak;                 /* [parts * CM_PEAKS] */
} cm_step_by_step;

/* A job's mapping of a directed network, with its metrics, under the spikes that the job has. Cores and ports are counted in every step; where a chip states a rate of
 * links, those steps are measured whole in which links can hold it up and that can be among the slowest 1 %. O(pins + parts reached by all spikes +
 * metrics of such steps). Errors: memory, stops. */
cm_status cm_step_by_step_measure(const cm_map_input *input, const cm_mapping *mapping, cm_run *run, cm_step_by_step *made, cm_error *error);
void cm_step_by_step_free(cm_step_by_step *made); /* harmless on a zeroed one */

/* The report's member "steps" as a new object; NULL when out of memory. */
json_t *cm_step_by_step_json(const cm_step_by_step *made, const cm_mapped *mapped);
