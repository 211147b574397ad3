/* Candidates on chips that limit what leaves a neuron, and what links and routers carry. */
#pragma once

#include "core/mapping/candidate.h"

/* What a candidate knows of its parts, anew. O(pins). Errors: memory, a stop. */
cm_status cm_candidate_count_anew(cm_candidate *candidate, cm_error *error);

/* Makes a candidate with places keep these limits, where it does not: parts change places across clusters, then neurons their parts, unless the caller gave
 * these; all other limits stay kept. CM_LIMIT_BROKEN names the worst neuron that is left; nothing where the chip has no such limits. Other
 * errors: memory, a stop. */
cm_status cm_candidate_keep_leaving(cm_candidate *candidate, cm_error *error);

/* Makes a candidate with places keep limits on circuits (core/limits/circuits.h): parts change places, or go to free cores beside. CM_LIMIT_BROKEN names the worst
 * link or router that is left; nothing where the chip has no such limits. Other errors: memory, a stop. */
cm_status cm_candidate_keep_circuits(cm_candidate *candidate, cm_error *error);
