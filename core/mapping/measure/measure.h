/* Metrics of a mapping, as docs/mapping-formats.md defines them. */
#ifndef CM_MAPPING_MEASURE_H
#define CM_MAPPING_MEASURE_H

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/mapping/measure/window.h"
#include "core/metrics/metrics.h"
#include "core/network/topology.h"

typedef struct cm_metrics_detail {
  cm_core_load *core;   /* [part_count] by part */
  cm_window window;     /* the routers that have any traffic */
  double *congestion;   /* [routers of the window], row by row */
  double *link_load;    /* [routers of the window * CM_DIRECTIONS] by router, cm_direction; [links] of another interconnect */
} cm_metrics_detail;

/* Expected packets through the router of a core of the chip. */
double cm_congestion_at(const cm_metrics_detail *detail, const cm_chip *chip, uint32_t core);

/* Load of the link that leaves router (x, y) of a plain mesh or torus. */
double cm_link_load_at(const cm_metrics_detail *detail, uint32_t x, uint32_t y, cm_direction direction);

/* Computes all metrics of vertex -> part -> core. `detail` arrays are allocated on run->memory and owned by the
 * caller (cm_metrics_detail_free). Deterministic for any thread count. Opens no phase; checks cancel.
 * O(pins + sum over flows of their length + routers) time, where flows are the pairs of parts that talk; 230
 * bytes a router and thread, of which it uses at most 8, fewer on a chip of millions of routers. */
cm_status cm_metrics_compute(const cm_topology *topology, const cm_chip *chip, const uint32_t *part,
                             uint32_t part_count, const uint32_t *core, cm_run *run, cm_metrics *metrics,
                             cm_metrics_detail *detail, cm_error *error);
void cm_metrics_detail_free(cm_metrics_detail *detail);

#endif
