/* When cores send, as SANA-FE can be told: the order of a core's neurons is that of the mappings, and a wait is the time of a unit of its own. */
#pragma once

#include "base/run.h"
#include "core/mapping/mapped.h"

enum { CM_SANAFE_WAITS = 32 };

typedef struct cm_sanafe_pacing {
  uint32_t *order; /* [neurons] by part and turn; NULL: no pacing */
  uint8_t *wait;   /* [neurons] before each, below CM_SANAFE_WAITS, in units of wait_ns */
  double wait_ns;
} cm_sanafe_pacing;

/* Waits are those of a step in which every neuron fires once. The caller frees. O(pins). Errors: memory. */
cm_status cm_sanafe_pacing_make(const cm_mapped *mapped, cm_run *run, cm_sanafe_pacing *pacing, cm_error *error);
void cm_sanafe_pacing_free(cm_sanafe_pacing *pacing); /* harmless on a zeroed one */
