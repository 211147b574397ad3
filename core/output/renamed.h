/* Mapping files of the version before, in the names of now. */
#pragma once

#include <jansson.h>

#include "base/status.h"

/* Gives options and members of the report in a mapping file without its bulk the names that they have now; metrics have theirs as
 * soon as the file is read (cm_metrics_rename). Errors: CM_BAD_OPTION (an option stands there by both names), memory. */
cm_status cm_mapping_rename(json_t *summary, cm_error *error);
