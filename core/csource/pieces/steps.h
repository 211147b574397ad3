/* Internal to core/csource. */
#pragma once

#include "core/csource/text/writer.h"

/* Writes what all instructions do into the lanes of the code. Errors: CM_BAD_NETWORK (an operator of which C is not written, with its node),
 * memory, CM_CANCELLED. */
cm_status cm_c_steps(cm_c_writer *w, cm_error *error);
