/* What the files of the reader of NumPy's arrays share. */
#pragma once

#include "core/network/archive/npy.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

enum { CM_NUMPY_NAME_MAX = 120 };

typedef struct cm_numpy {
  cm_source *source;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  cm_entries entries;
  bool closed;        /* `made` is whole: its vertices had names, the entries are used up */
  cm_archive archive; /* .npz only */
} cm_numpy;

/* An array of the archive, with its header read. */
typedef struct cm_array {
  cm_bytes stream;
  cm_npy npy;
} cm_array;

/* Sets the number of neurons, within the limits. */
cm_status cm_numpy_vertices(cm_numpy *n, uint64_t count, cm_error *error);

/* CM_BAD_NETWORK: an array that is no square matrix; says its shape and what to do. */
cm_status cm_numpy_refuse_shape(const cm_npy *npy, const cm_bytes *stream, cm_error *error);

/* Entries of a square matrix, row to column: 0 and NaN are no synapse. `delay`: a matrix of milliseconds beside it, or NULL. */
cm_status cm_numpy_dense(cm_numpy *n, const cm_npy *npy, cm_bytes *stream, cm_array *delay, cm_error *error);

/* Whether the archive has an array of that name; opens it, or one of one dimension (of `numbers`); cm_bytes_close. */
bool cm_numpy_has(const cm_numpy *n, const char *name);
cm_status cm_numpy_open(cm_numpy *n, const char *name, cm_array *array, cm_error *error);
cm_status cm_numpy_open_list(cm_numpy *n, const char *name, bool numbers, cm_array *array, cm_error *error);

/* CM_BAD_NETWORK unless two arrays have as many elements. */
cm_status cm_numpy_lengths(const cm_array *a, const cm_array *b, cm_error *error);

/* Entries of lists beside each other: source, target, weight of neurons 0 to count - 1. */
cm_status cm_numpy_pairs(cm_numpy *n, cm_array list[3], uint64_t count, cm_error *error);

/* An archive of arrays under the usual names: a matrix, or lists of sources and targets. */
cm_status cm_numpy_named(cm_numpy *n, cm_error *error);
