/* What mappings are compared by beside what their job pays. */
#pragma once

#include "base/run.h"
#include "core/mapping/mapped.h"

/* How long a step takes, the load at which it saturates, and the synapses of the core that takes longest. */
typedef struct cm_haste {
  double step_ns, saturation;
  uint64_t synapses;
} cm_haste;

/* Of a mapping. O(cm_metrics_compute). Errors: memory. */
cm_status cm_measure_haste(const cm_mapped *mapped, cm_run *run, cm_haste *found, cm_error *error);
