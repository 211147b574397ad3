/* coremap: why a call failed.
 *
 * A function that can fail returns 0, or -1 and says why: *error is then the caller's, who frees it with
 * coremap_error_free. `error` may be NULL for a caller who does not ask. On failure nothing else is changed, and nothing
 * is ever printed. */
#ifndef COREMAP_ERROR_H
#define COREMAP_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_error coremap_error;

/* A stable code: "bad-network", "bad-chip", "bad-option", "no-room", "memory-limit", "cancelled", "not-found", ... */
const char *coremap_error_code(const coremap_error *error);

/* What failed, where, and what would be right: one line of English. */
const char *coremap_error_detail(const coremap_error *error);

/* The place: "byte 17", "line 3", "neuron 5", "/options/preset"; "" when there is none. */
const char *coremap_error_place(const coremap_error *error);

/* A number that explains the error, by its name ("needed", "free"). 1: *value has it; 0: there is none of that name. */
int coremap_error_figure(const coremap_error *error, const char *name, uint64_t *value);

void coremap_error_free(coremap_error *error); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
