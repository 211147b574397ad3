/* The certificate of a mapping: what went in, what came out, every limit with its worst use, every metric, and lower
 * bounds on hops and energy with the gap: what somebody else can check. docs/reference/certificate.md defines each figure. */
#pragma once

#include "core/chip/occupancy.h"
#include "core/mapping/mapped.h"
#include "core/metrics/metrics.h"
#include "core/verify/check.h"

/* What any placement of these parts on the usable cores costs at least. Units as in cm_metrics. */
typedef struct cm_bounds {
  double hop_traffic, energy_pj, multicast_hops, multicast_energy_pj;
} cm_bounds;

/* Lower bounds for the parts of a mapping, wherever they are, `usable` [cores of the chip] telling which cores a part may have.
 * O(pins + pairs of parts that talk * log + usable cores * radius^2), the radius being that of the disc of cores which
 * the most talkative part would fill; from a stated amount of work on, the disc of an endless chip counts instead. */
cm_status cm_bounds_compute(const cm_mapped *mapped, const uint8_t *usable, cm_run *run, cm_bounds *bounds, cm_error *error);

/* What any partition of a directed network on so many cores costs in a time step, without the barrier; of an undirected
 * network 0. */
typedef struct cm_step_bounds {
  double core_ns_max, energy_step_pj;
  double step_ns; /* with the least barrier and all spikes, where the barrier prices those or packets; else 0 */
} cm_step_bounds;

/* O(pins). Errors: memory. Proofs: docs/explanation/step-time.md. */
cm_status cm_step_bounds_compute(const cm_demand *demand, const cm_costs *costs, uint32_t cores, cm_memory *memory,
                                 cm_step_bounds *bounds, cm_error *error);

/* A mapping that is certified; everything is the caller's. */
typedef struct cm_certified {
  cm_mapped mapped;
  const cm_metrics *metrics;
  const cm_core_load *load;    /* [parts] */
  const cm_metrics *scenario;  /* [scenarios of the network] */
  json_t *options;             /* as resolved; NULL: none are told */
  json_t *widened;             /* what wider keys cost, of the report's tables; NULL: none were widened */
} cm_certified;

/* Writes the certificate of a mapping. */
cm_status cm_certificate_write(const cm_certified *made, const cm_check_context *context, FILE *stream, cm_error *error);
