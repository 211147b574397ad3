/* Metrics of a mapping, as docs/reference/mapping-formats.md defines them. */
#pragma once

#include "base/run.h"
#include "core/mapping/detail.h"
#include "core/mapping/mapped.h"

/* Computes all metrics of a mapping. `detail` arrays are allocated on run->memory and owned by the
 * caller (cm_metrics_detail_free). Deterministic for any thread count. Opens no phase; checks cancel.
 * O(pins + sum over flows of their length + routers) time, where flows are the pairs of parts that talk; 230
 * bytes a router and thread, of which it uses at most 8, fewer on a chip of millions of routers. */
cm_status cm_metrics_compute(const cm_mapped *mapped, cm_run *run, cm_metrics *metrics, cm_metrics_detail *detail,
                             cm_error *error);
