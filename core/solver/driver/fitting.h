/* Mappings whose routing tables fit the chip's routers. */
#pragma once

#include "core/mapping/candidate.h"

/* As cm_best_candidate; where the chip limits the entries of tables and axons are multicast, one whose tables fit: where those
 * of the cheapest do not, places are chosen for the fewest links of trees, then parts spread over more routers. *told: the tables
 * and what was tried, for the report; NULL where there is no such limit, or no routes around dead links. CM_LIMIT_BROKEN (the
 * least most entries of a router as figure "entries") when nothing fits; else as cm_best_candidate. */
cm_status cm_fitting_candidate(const cm_map_input *input, cm_run *run, cm_candidate *candidate, json_t **told, cm_error *error);

/* The same for a mapping that is made already: fits or CM_LIMIT_BROKEN. */
cm_status cm_fitting_check(const cm_map_input *input, const cm_mapping *mapping, cm_run *run, json_t **told, cm_error *error);
