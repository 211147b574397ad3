/* Arrays of NumPy as they lie in files (.npy): a header, then elements, read as a stream. */
#pragma once

#include "core/network/archive/archive.h"

#include <stdbool.h>

#include "base/status.h"

enum { CM_NPY_RANK_MAX = 8, CM_NPY_TYPE_MAX = 16, CM_NPY_SLICE = 4096, CM_NPY_TEXT_MAX = 1024 };

typedef struct cm_npy {
  char type[CM_NPY_TYPE_MAX]; /* as NumPy writes it: "<f8" */
  char kind;                  /* 'b', 'i', 'u', 'f': numbers; 'S', 'U': texts */
  unsigned size;              /* bytes of an element */
  bool swap;                  /* of the other byte order */
  bool columns_first;         /* Fortran order */
  int rank;
  uint64_t dim[CM_NPY_RANK_MAX];
  uint64_t count;             /* of elements */
} cm_npy;

/* Reads the header; the stream stands at the first element afterwards. CM_BAD_NETWORK: no array, or one of elements that are
 * neither numbers nor texts. */
cm_status cm_npy_open(cm_bytes *stream, cm_npy *npy, cm_error *error);

static inline bool cm_npy_numbers(const cm_npy *npy)
{
  return npy->kind != 'S' && npy->kind != 'U';
}

/* The next `count` (at most CM_NPY_SLICE) elements as doubles, or as whole numbers of 0 and more; only of numbers. */
cm_status cm_npy_reals(const cm_npy *npy, cm_bytes *stream, size_t count, double *values, cm_error *error);
cm_status cm_npy_indices(const cm_npy *npy, cm_bytes *stream, size_t count, uint64_t *values, cm_error *error);

/* The next element as text in UTF-8, NUL-terminated, numbers as decimals; of numbers only whole ones. */
cm_status cm_npy_text(const cm_npy *npy, cm_bytes *stream, char text[CM_NPY_TEXT_MAX], cm_error *error);
