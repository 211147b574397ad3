/* Where the daemon's messages go. */
#pragma once

#include "base/status.h"

/* Makes standard error this file, appended to, made when it is not there; "": leaves it. Called again it opens the file
 * anew, so that it can have been renamed meanwhile. */
cm_status cm_log_open(const char *path, cm_error *error);
