/* Independent checks of mappings, and of what stands beside them: limits, metrics, routes, copies and bounds are recomputed from
 * the network with code that shares nothing with what made them (`coremap check`). */
#ifndef CM_VERIFY_CHECK_H
#define CM_VERIFY_CHECK_H

#include <stdio.h>

#include "base/run.h"
#include <jansson.h>

#include "core/chip/occupancy.h"
#include "core/network/topology.h"

typedef struct cm_check_result {
  uint64_t violation_count;
  char **violations;       /* [listed] sentences, at most CM_CHECK_LISTED_MAX */
  uint32_t listed;
} cm_check_result;

enum { CM_CHECK_LISTED_MAX = 1000 };

/* Reads the mapping (CM_VIEW_FULL_JSON) at `path` and checks: every neuron once, parts and cores in range, no core
 * twice, none occupied or broken (occupancy may be NULL), every limit, every metric as stated in the file to 1e-6
 * relative; the network's counts and id (`network_id`, the SHA-256 of its file; NULL: unknown), the chip, the region,
 * the bound on parts and the neurons' keys. Options, attempts and report only repeating the job can prove. Figures are recomputed only when parts and cores are in range. CM_OK with violations listed, or
 * CM_BAD_MAPPING when the file cannot be understood. */
cm_status cm_check_mapping(const char *path, const cm_topology *topology, const cm_chip *chip,
                           const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                           cm_check_result *result, cm_error *error);

/* The same on an open stream. */
cm_status cm_check_mapping_stream(FILE *stream, const cm_topology *topology, const cm_chip *chip,
                                  const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                                  cm_check_result *result, cm_error *error);

/* Checks a certificate against the network, chip, occupancy and mapping that it speaks of: everything is computed
 * again. What differs is listed as in cm_check_mapping. CM_BAD_MAPPING when a file cannot be understood. */
cm_status cm_certificate_check(const char *path, const char *mapping_path, const cm_topology *topology,
                               const cm_chip *chip, const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                               cm_check_result *result, cm_error *error);

/* Reads routes (routes.json, docs/routes.md) at `path` of a mapping that cm_check_mapping has found sound, and checks:
 * every axon (pair of parts) has its key (path) and reaches exactly the cores of its targets, over links that are there,
 * with turns that the stated rule allows, and no router twice; no entry contradicts another or serves nobody; no ring of
 * links waits for itself; and every figure. CM_OK with violations added to `result`, which may hold some (zeroed: none);
 * CM_BAD_MAPPING when a file cannot be understood or says that there are no routes. O(packets' hops * log(entries of a
 * router)). */
cm_status cm_routes_check(const char *path, const char *mapping_path, const cm_topology *topology, const cm_chip *chip,
                          cm_run *run, cm_check_result *result, cm_error *error);

/* Reads units (export `units`, docs/neuron-limits.md) at `path` of a mapping that cm_check_mapping has found sound, and checks: no
 * neuron, copy or relay has more inputs or cores than the chip allows; each relay feeds one other, or its neuron, and the
 * synapses that come in by all of them are the network's, each once; each core that a neuron reaches is served by one copy, and
 * no other core is; what stands on a core is what the mapping says. CM_OK with violations added to `result`, which may hold some
 * (zeroed: none); CM_BAD_MAPPING when a file cannot be understood. O(pins log(fan-in) + file). */
cm_status cm_units_check(const char *path, const char *mapping_path, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                         cm_check_result *result, cm_error *error);

/* Reads a mapping file without its bulk: the members of CM_VIEW_SUMMARY_JSON as a new object. CM_BAD_MAPPING with
 * the byte offset as place, CM_NOT_FOUND. O(file). */
cm_status cm_mapping_read_summary(const char *path, cm_run *run, json_t **summary, cm_error *error);

/* Reads who is where from a mapping file: (*part)[neurons] and (*core)[*parts], all in range and no core twice; both are
 * the caller's (cm_free). CM_BAD_MAPPING when the file is none of a network with so many neurons on this chip,
 * CM_NOT_FOUND. O(file). */
cm_status cm_mapping_read_places(const char *path, uint32_t neurons, const cm_chip *chip, cm_run *run, uint32_t **part,
                                 uint32_t *parts, uint32_t **core, cm_error *error);

void cm_check_result_free(cm_check_result *result);

#endif
