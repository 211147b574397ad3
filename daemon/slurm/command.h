/* A program that is started with words and whose words are read: no shell, no wait beyond a time. */
#pragma once

#include "base/status.h"

/* The standard output of a program that ends well, `words` ended by NULL; the caller frees. CM_IO: it cannot be started, ends badly (its
 * last line of standard error is quoted), or was killed after `seconds`. */
cm_status cm_command_run(const char *const *words, double seconds, char **output, cm_error *error);
