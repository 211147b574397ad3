/* The last proof: a mapping is what its options make of its input. */
#pragma once

#include "core/verify/check.h"

/* Maps again with the options that the mapping at `path` states, and compares all of it: options, attempts, report and
 * sentences too, which no look at the mapping itself can prove. `scratch_folder`: for what is needed on the way. CM_OK
 * with violations added to `result`, which may hold some (zeroed: none). CM_BAD_MAPPING when the file cannot be
 * understood; CM_BAD_OPTION for one that was made from an older mapping; and the errors of cm_map. */
cm_status cm_check_again(const char *path, const cm_check_context *context, const char *scratch_folder, cm_check_result *result,
                         cm_error *error);
