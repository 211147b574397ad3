/* JSON when memory is short: jansson tells a refused allocation as a syntax error, or, while something is built, only to
 * callers that look at every step. This counts the refusals. */
#ifndef CM_BASE_JSON_H
#define CM_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "core/base/status.h"

/* How many allocations jansson was refused in this thread so far. */
uint64_t cm_json_refusals(void);

/* json_loadb, but NULL whenever memory ran out: jansson may then give an object whose texts lack characters. */
json_t *cm_json_loadb(const char *text, size_t size, size_t flags, json_error_t *where);

/* CM_OK when jansson was refused nothing since cm_json_refusals() gave `before`: then what was read or built in between
 * is whole. Else CM_NO_MEMORY, with `what` ("the chip's description") in its text. */
cm_status cm_json_whole(uint64_t before, const char *what, cm_error *error);

#endif
