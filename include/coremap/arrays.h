/* coremap: arrays of numbers by name, as programs take and give them. */
#ifndef COREMAP_ARRAYS_H
#define COREMAP_ARRAYS_H

#include <coremap/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_arrays coremap_arrays;

/* Room for arrays, none yet; the caller's. Errors: no-memory. */
int coremap_arrays_new(coremap_arrays **arrays, coremap_error **error);

/* Copies an array: its elements row by row, as this machine has them in memory. `type` is a type's name in ONNX ("float32", "uint8",
 * "int64", "bool", ...; types narrower than a byte take one each), dims[rank] its shape; rank 0 is one element. One that had the name
 * goes. O(bytes). Errors: bad-request (no such type, more than 8 dims), too-large, no-memory. */
int coremap_arrays_put(coremap_arrays *arrays, const char *name, const char *type, size_t rank, const uint64_t *dims, const void *elements,
                       coremap_error **error);

/* The elements of an array, and their *bytes (NULL: not asked); until it is put again, or all are replaced or freed. NULL: none has
 * the name. */
const void *coremap_arrays_elements(const coremap_arrays *arrays, const char *name, uint64_t *bytes);

/* [{"name", "type", "dims"}], in the order in which they came; the caller's. */
int coremap_arrays_about(const coremap_arrays *arrays, char **json, coremap_error **error);

void coremap_arrays_free(coremap_arrays *arrays); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
