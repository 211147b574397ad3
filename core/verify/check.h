/* Independent checks of mappings, and of what stands beside them: limits, metrics, routes, copies and bounds are recomputed from
 * the network with code that shares nothing with what made them (`coremap check`). */
#pragma once

#include <stdio.h>

#include "base/run.h"
#include <jansson.h>

#include "core/chip/occupancy.h"
#include "core/mapping/mapped.h"
#include "core/network/demand.h"
#include "core/network/measured.h"

typedef struct cm_check_result {
  uint64_t violation_count;
  char **violations;       /* [listed] sentences, at most CM_CHECK_LISTED_MAX */
  uint32_t listed;
  bool out_of_memory; /* a sentence or a comparison was lost: cm_check_whole */
} cm_check_result;

enum { CM_CHECK_LISTED_MAX = 1000 };

/* What a mapping, and what stands beside it, is checked against. */
typedef struct cm_check_context {
  const cm_demand *demand;
  const cm_topology *network;    /* that `demand` is of but for copies of neurons; NULL: there are none */
  const cm_chip *chip;
  const cm_occupancy *occupancy; /* NULL: all cores were free but the dead ones */
  const char *network_id;        /* the SHA-256 of the network's file; NULL: unknown */
  cm_run *run;
} cm_check_context;

/* Reads the mapping (CM_VIEW_FULL_JSON) at `path` and checks: every neuron once, parts and cores in range, no core
 * twice, none occupied or broken, every limit, every metric as stated in the file to 1e-6
 * relative; the network's counts and id, the chip, the region,
 * the bound on parts and the neurons' keys. Options, attempts and report only repeating the job can prove. Figures are recomputed only when parts and cores are in range. CM_OK with violations listed, or
 * CM_BAD_MAPPING when the file cannot be understood. */
cm_status cm_check_mapping(const char *path, const cm_check_context *context, cm_check_result *result, cm_error *error);

/* The same on an open stream. */
cm_status cm_check_mapping_stream(FILE *stream, const cm_check_context *context, cm_check_result *result, cm_error *error);

/* Checks a certificate against the network, chip, occupancy and mapping that it speaks of: everything is computed
 * again. What differs is listed as in cm_check_mapping. CM_BAD_MAPPING when a file cannot be understood. */
cm_status cm_certificate_check(const char *path, const char *mapping_path, const cm_check_context *context,
                               cm_check_result *result, cm_error *error);

/* Reads routes (routes.json, docs/explanation/routes.md) at `path` of a mapping that cm_check_mapping has found sound, and checks:
 * every axon (pair of parts) has its key (path) and reaches exactly the cores of its targets, over links that are there,
 * with turns that the stated rule allows, and no router twice; no entry contradicts another or serves nobody; no ring of
 * links waits for itself; and every figure. CM_OK with violations added to `result`, which may hold some (zeroed: none);
 * CM_BAD_MAPPING when a file cannot be understood or says that there are no routes. O(packets' hops * log(entries of a
 * router)). */
cm_status cm_routes_check(const char *path, const char *mapping_path, const cm_check_context *context, cm_check_result *result,
                          cm_error *error);

/* Reads units (export `units`, docs/explanation/neuron-limits.md) at `path` of a mapping that cm_check_mapping has found sound, and checks: no
 * neuron, copy or relay has more inputs or cores than the chip allows; each relay feeds one other, or its neuron, and the
 * synapses that come in by all of them are the network's, each once; each core that a neuron reaches is served by one copy, and
 * no other core is; what stands on a core is what the mapping says. CM_OK with violations added to `result`, which may hold some
 * (zeroed: none); CM_BAD_MAPPING when a file cannot be understood. O(pins log(fan-in) + file). */
cm_status cm_units_check(const char *path, const char *mapping_path, const cm_check_context *context, cm_check_result *result,
                         cm_error *error);

/* Reads a mapping file without its bulk: the members of CM_VIEW_SUMMARY_JSON as a new object. CM_BAD_MAPPING with
 * the byte offset as place, CM_NOT_FOUND. O(file). */
cm_status cm_mapping_read_summary(const char *path, cm_run *run, json_t **summary, cm_error *error);

/* The network with the copies of neurons that a mapping's summary tells of (core/network/copied.h), the caller's; *made NULL where it tells of none.
 * CM_BAD_MAPPING. O(pins log(pins)). */
cm_status cm_mapping_copied(const json_t *summary, const cm_topology *topology, cm_run *run, cm_topology **made, cm_error *error);

/* What a mapping's report says that wider keys cost; NULL: none were widened. */
json_t *cm_report_widened(const json_t *report);

/* Who is where, all in range and no core twice. */
typedef struct cm_mapping_places {
  uint32_t *part; /* [neurons] */
  uint32_t *core; /* [parts] */
  uint32_t parts;
  cm_pacing pacing; /* when cores send; its turn NULL: as fast as they can */
  char tables_rule[16]; /* turn rule of the tables that the report tells of; "": of none */
  uint64_t wider;       /* axons whose keys were widened for them, */
  double dropped;       /* and the packets that cores drop therefore */
} cm_mapping_places;

/* Reads it from a mapping file; the arrays are the caller's (cm_mapping_places_free). CM_BAD_MAPPING when the file is none of a network with so
 * many neurons on this chip, CM_NOT_FOUND. O(file). */
cm_status cm_mapping_read_places(const char *path, uint32_t neurons, const cm_chip *chip, cm_run *run, cm_mapping_places *places,
                                 cm_error *error);
void cm_mapping_places_free(cm_mapping_places *places); /* harmless on zeroed ones */

/* That mapping of a network on a chip; valid as long as all three. */
static inline cm_mapped cm_mapped_at(const cm_mapping_places *p, const cm_demand *demand, const cm_chip *chip)
{
  return (cm_mapped){.demand = demand, .chip = chip, .part = p->part, .parts = p->parts, .core = p->core,
                     .pacing = p->pacing.turn != NULL ? &p->pacing : NULL};
}

/* Reads the spikes that the mapping's rates were measured of; *measured, the caller's, is zeroed where it says nothing of any. CM_BAD_MAPPING,
 * CM_NOT_FOUND. O(file). */
cm_status cm_mapping_read_measured(const char *path, uint32_t neurons, cm_run *run, cm_measured *measured, cm_error *error);

/* CM_NO_MEMORY where something that a check found is not listed. */
cm_status cm_check_whole(const cm_check_result *result, cm_error *error);
void cm_check_result_free(cm_check_result *result);
