/* What one time step of a mapping takes and costs, by the chip's own prices (docs/explanation/step-time.md). */
#pragma once

#include "core/mapping/mapping.h"

/* Fills the step figures of *metrics from those that are there (energy of hops, loads of links) and from the loads of
 * the parts, of which detail->core gets the times. O(pins + parts + links). Errors: memory. */
cm_status cm_step_measure(const cm_mapped *mapped, cm_run *run, cm_metrics *metrics, cm_metrics_detail *detail, cm_error *error);

/* The tiles of the chip's barrier that hold one of these cores. O(parts + tiles). Errors: memory. */
cm_status cm_tiles_in_use(const cm_chip *chip, const uint32_t *core, uint32_t parts, cm_memory *memory, uint32_t *tiles,
                          cm_error *error);
