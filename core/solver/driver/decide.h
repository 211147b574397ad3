/* Whether a small network has any mapping under constraints: neuron by neuron, whatever parts methods make. */
#pragma once

#include "core/solver/driver/into_areas.h"

enum { CM_DECIDED_MAX = 64 }; /* neurons; of more a search hardly ends */

/* Parts on their cores, of a job with areas, whose chip `input` has; `plain`: the job's own. part NULL: it has too many neurons, or no core. The caller's: cm_moved_clear. Errors: CM_LIMIT_BROKEN: there are
 * none, a proof, with constraints and limits of which none can be left out, or that all were tried; or none were found, in words that say "unknown"; memory, cancelled. */
cm_status cm_decide_small(const cm_map_input *input, const cm_chip *plain, cm_run *run, cm_moved *made, cm_error *error);
