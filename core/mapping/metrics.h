/* Metrics of a mapping, as docs/mapping-formats.md defines them. */
#ifndef CM_MAPPING_METRICS_H
#define CM_MAPPING_METRICS_H

#include "core/mapping/mapping.h"

/* Computes all metrics of vertex -> part -> core. `detail` arrays are allocated on run->memory and owned by the
 * caller (cm_metrics_detail_free). Deterministic for any thread count. Opens no phase; checks cancel.
 * O(pins + sum over flows of their length + routers) time, where flows are the pairs of parts that talk; 230
 * bytes a router and thread, of which it uses at most 8, fewer on a chip of millions of routers. */
cm_status cm_metrics_compute(const cm_topology *topology, const cm_chip *chip, const uint32_t *part,
                             uint32_t part_count, const uint32_t *core, cm_run *run, cm_metrics *metrics,
                             cm_metrics_detail *detail, cm_error *error);
void cm_metrics_detail_free(cm_metrics_detail *detail);

/* Metrics as a JSON object, names as in cm_metrics; NULL when out of memory. */
json_t *cm_metrics_json(const cm_metrics *metrics);

/* Whether a metric says anything there: what is about inputs outside the chip does where there are some. O(metrics). */
bool cm_metric_is_of_interest(const char *name, const json_t *metrics);

/* The JSON schema of that object: types, units (`x-unit`), which way is better (`x-better`) and what each is; NULL when out
 * of memory. */
json_t *cm_metrics_schema(void);

#endif
