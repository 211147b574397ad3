/* Placement against contention: parts change cores so that no link holds packets for long, under the chip's own routing
 * (docs/explanation/placement.md). */
#pragma once

#include "base/run.h"
#include "core/partition/flows.h"
#include "core/placement/task.h"

typedef struct cm_links_budget {
  double looks, swaps; /* links that may be looked at, and swaps a part that may be tried; above 0 */
} cm_links_budget;

typedef struct cm_links_result {
  bool done;             /* false: the chip has too many links to keep, nothing was changed */
  double before, after;  /* time that the busiest link holds packets, in ns times the scale of the weights */
  uint64_t swaps;
} cm_links_result;

/* Improves core [flows->parts], distinct cores of the region, by swaps with each other and moves to its empty cores. The
 * busiest link never holds packets longer than before. The effort is counted in links that are looked at: the result
 * depends on the input and the seed alone. Phase "links". O(budget->looks + links of the chip). Errors: memory, stops. */
cm_status cm_place_by_links(const cm_flows *flows, const cm_place_task *task, const cm_links_budget *budget, uint32_t *core,
                            cm_links_result *result, cm_error *error);
