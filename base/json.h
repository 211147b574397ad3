/* JSON when memory is short: jansson tells a refused allocation as a syntax error, or, while something is built, only to
 * callers that look at every step. This counts the refusals. */
#pragma once

#include <jansson.h>

#include "base/status.h"

/* How many allocations jansson was refused in this thread so far. */
uint64_t cm_json_refusals(void);

/* json_loadb, but NULL whenever memory ran out, and then nothing stays allocated. */
json_t *cm_json_loadb(const char *text, size_t size, size_t flags, json_error_t *where);

/* The same of a text that others wrote: NULL, too, where what it holds takes more than `most` bytes of memory, which for a few bytes
 * each of empty arrays is fifty times the text. */
json_t *cm_json_loadb_within(const char *text, size_t size, size_t flags, size_t most, json_error_t *where);

/* json_dumps, but NULL whenever memory ran out: jansson may then give a text that lacks the ends of its keys. The caller
 * frees it. */
char *cm_json_dumps(const json_t *json, size_t flags);

/* Writes what cm_json_dumps prints. 0, or -1 when memory ran out (errno is ENOMEM) or the stream failed. */
int cm_json_dumpf(const json_t *json, FILE *stream, size_t flags);

/* CM_OK when jansson was refused nothing since cm_json_refusals() gave `before`: then what was read or built in between
 * is whole. Else CM_NO_MEMORY, with `what` ("the chip's description") in its text. */
cm_status cm_json_whole(uint64_t before, const char *what, cm_error *error);

/* Adds a value, whose reference is taken, to an object: CM_NO_MEMORY for `what` where it is NULL or finds no room. */
cm_status cm_json_set(json_t *object, const char *name, json_t *value, const char *what, cm_error *error);
cm_status cm_json_append(json_t *list, json_t *value, const char *what, cm_error *error); /* the same to a list */

/* The text of a value, whose reference is taken; NULL where it could not be made. The caller frees it. CM_NO_MEMORY for `what`. */
cm_status cm_json_text(json_t *value, size_t flags, const char *what, char **text, cm_error *error);

/* A text without jansson, piece by piece: *plain bytes of it stand in a JSON string as they are (UTF-8 too), and behind them
 * `escape`, of a byte that does not; "" at the end. Returns the text behind both. */
enum { CM_JSON_ESCAPE_MAX = 7 };
const char *cm_json_piece(const char *text, size_t *plain, char escape[CM_JSON_ESCAPE_MAX]);

/* Writes a text as a JSON string, quotes and all. What the stream failed at, it tells itself. */
void cm_json_put_string(const char *text, FILE *stream);
