/* The metrics of a mapping: what each is, and how files, reports and forms tell it. docs/how-to/metrics.md defines them; measuring is
 * core/measure's, and once more core/verify's. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { CM_STEP_LIMIT_MAX = 192 };

/* Mapping files of older versions lack what came later. */
typedef enum cm_metrics_age { CM_SINCE_FIRST, CM_SINCE_STEPS, CM_SINCE_PORTS, CM_SINCE_BORDER, CM_SINCE_PACING } cm_metrics_age;

typedef struct cm_metrics {
#define REAL(name, ...) double name;
#define COUNT(name, ...) uint32_t name;
#define LONG_COUNT(name, ...) uint64_t name;
#define TEXT(name, ...) char name[CM_STEP_LIMIT_MAX];
#include "core/metrics/metrics.def"
#undef REAL
#undef COUNT
#undef LONG_COUNT
#undef TEXT
} cm_metrics;

/* One used core. */
typedef struct cm_core_load {
  uint64_t neurons, synapses, inbound_axons, outbound_axons, target_cores, source_cores; /* as in cm_limits */
  double traffic_in, traffic_out; /* packets that end here, and start here, from and to other cores */
  double receive_ns, send_ns;     /* of a time step */
} cm_core_load;

/* Metrics as a JSON object, names as in cm_metrics; NULL when out of memory. */
json_t *cm_metrics_json(const cm_metrics *metrics);

/* Gives metrics of a mapping file or certificate of the version before the names and meanings that they have now; all of its objects
 * "metrics", those of scenarios too. False: no memory. */
bool cm_metrics_rename(json_t *object);

/* Whether a text of JSON has a metric by its name of the version before. */
bool cm_metrics_have_old_names(const char *text);

/* Whether a metric says anything there: what is about inputs outside the chip does where there are some. O(metrics). */
bool cm_metric_is_of_interest(const char *name, const json_t *metrics);

/* The JSON schema of that object: types, units (`x-unit`), which way is better (`x-better`), and what each is; NULL when out of memory. */
json_t *cm_metrics_schema(void);

/* A figure that something aims at. */
typedef double cm_metric_figure(const cm_metrics *metrics);
double cm_figure_step_ns(const cm_metrics *metrics);
double cm_figure_core_ns_max(const cm_metrics *metrics);
double cm_figure_energy_step_pj(const cm_metrics *metrics);
