/* Errors as application/problem+json (RFC 9457). */
#pragma once

#include <jansson.h>

#include "base/status.h"

/* The HTTP status that a status code is answered with. */
unsigned cm_problem_status(cm_status status);

/* {type, title, status, code, detail, where, + figures}; NULL when out of memory. The same object is the "problem"
 * of a failed job. */
json_t *cm_problem_json(const cm_error *error);

/* A problem that is HTTP's own. `detail` may be NULL. */
json_t *cm_problem_plain(unsigned status, const char *code, const char *title, const char *detail);
