/* An independent check of routes: every packet is carried over the stated tables or paths, hop by hop, by code that shares
 * nothing with what made them. */
#ifndef CM_VERIFY_ROUTES_CHECK_H
#define CM_VERIFY_ROUTES_CHECK_H

#include "core/verify/check.h"

/* Reads routes (routes.json, docs/routes.md) at `path` of a mapping that cm_check_mapping has found sound, and checks:
 * every axon (pair of parts) has its key (path) and reaches exactly the cores of its targets, over links that are there,
 * with turns that the stated rule allows, and no router twice; no entry contradicts another or serves nobody; no ring of
 * links waits for itself; and every figure. CM_OK with violations added to `result`, which may hold some (zeroed: none);
 * CM_BAD_MAPPING when a file cannot be understood or says that there are no routes. O(packets' hops * log(entries of a
 * router)). */
cm_status cm_routes_check(const char *path, const char *mapping_path, const cm_topology *topology, const cm_chip *chip,
                          cm_run *run, cm_check_result *result, cm_error *error);

#endif
