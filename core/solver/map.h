/* The pipeline from topology to mapping: one call for the command line and the server. */
#pragma once

#include "core/mapping/input.h"
#include "core/mapping/mapping.h"

/* Maps a topology on a chip. The caller owns *mapping. A mapping that is returned breaks no limit. Errors:
 * CM_NEURON_TOO_LARGE, CM_NO_ROOM, CM_LIMIT_BROKEN, CM_BAD_OPTION, memory, I/O and run errors. */
cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);
