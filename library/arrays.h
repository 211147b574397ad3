/* What running a program needs of arrays by name. */
#pragma once

#include <coremap/arrays.h>
#include <jansson.h>

#include "core/operators/tensor.h"

/* The array of a name, as long as the arrays stay as they are; NULL: none. */
const cm_tensor *library_array(const coremap_arrays *arrays, const char *name);

/* The name of the array that came index-th; NULL: fewer came. */
const char *library_array_name(const coremap_arrays *arrays, size_t index);

/* Copies a tensor in. */
cm_status library_arrays_put(coremap_arrays *arrays, const char *name, const cm_tensor *tensor, cm_error *error);

/* Each has what the other had. */
void library_arrays_swap(coremap_arrays *a, coremap_arrays *b);

/* {"name", "type", "dims"}. */
json_t *library_array_json(const char *name, cm_type type, uint32_t rank, const int64_t *dims);
