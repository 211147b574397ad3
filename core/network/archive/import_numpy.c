/* Arrays of NumPy: a square matrix (.npy), row to column; sparse matrices of scipy and arrays under the usual names (.npz).
 *
 * Happy path: the members' headers say what there is, then their elements are read beside each other, a slice at a time, into
 * edges. What can fail: shapes that are no network, lists of different lengths, indices out of range, damaged data. */
#include <math.h>
#include <string.h>

#include "core/network/archive/archive.h"
#include "core/network/archive/npy.h"
#include "core/network/archive/numpy.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"

/* ---- sparse matrices of scipy ---- */

/* Rows and columns of the matrix. */
static cm_status read_shape(cm_numpy *n, cm_error *error)
{
  cm_array shape;
  uint64_t size[2] = {0, 1};
  CM_TRY(cm_numpy_open_list(n, "shape", true, &shape, error));
  cm_status status = shape.npy.count == 2 ? cm_npy_indices(&shape.npy, &shape.stream, 2, size, error)
                                          : cm_bytes_bad(&shape.stream, "two numbers are expected", error);
  if (status == CM_OK && size[0] != size[1]) {
    cm_npy rectangle = {.rank = 2, .dim = {size[0], size[1]}};
    status = cm_numpy_refuse_shape(&rectangle, &shape.stream, error);
  }
  cm_bytes_close(&shape.stream);
  return status == CM_OK ? cm_numpy_vertices(n, size[0], error) : status;
}

/* csr and csc: where each row (column) ends comes first, as the entries do not say what row they are of. */
static cm_status read_compressed(cm_numpy *n, bool by_columns, cm_array *pointer, cm_array *index, cm_array *data,
                                 cm_error *error)
{
  uint64_t at = 0, end = 0, held = 0, used = 0, other[CM_NPY_SLICE];
  double value[CM_NPY_SLICE];
  uint32_t size = n->made->vertex_count;
  if (pointer->npy.count != size + UINT64_C(1))
    return cm_bytes_bad(&pointer->stream, "one more number than rows of the matrix is expected", error);
  CM_TRY(cm_npy_indices(&pointer->npy, &pointer->stream, 1, &at, error));
  CM_TRY(cm_numpy_lengths(index, data, error));
  if (at != 0)
    return cm_bytes_bad(&pointer->stream, "it does not begin with 0", error);
  for (uint32_t row = 0; row < size; row++) {
    CM_TRY(cm_npy_indices(&pointer->npy, &pointer->stream, 1, &end, error));
    if (end < at || end > index->npy.count)
      return cm_bytes_bad(&pointer->stream, "its numbers do not ascend to the number of entries", error);
    for (; at < end; at++, used++) {
      if (used == held) {
        held = index->npy.count - at < CM_NPY_SLICE ? index->npy.count - at : CM_NPY_SLICE;
        used = 0;
        CM_TRY(cm_npy_indices(&index->npy, &index->stream, held, other, error));
        CM_TRY(cm_npy_reals(&data->npy, &data->stream, held, value, error));
        CM_TRY(cm_run_check(n->run, error));
      }
      if (other[used] >= size)
        return cm_bytes_bad(&index->stream, "an index is outside the matrix", error);
      if (!isfinite(value[used]))
        return cm_bytes_bad(&data->stream, "a weight is infinite or undefined", error);
      uint32_t from = by_columns ? (uint32_t)other[used] : row, to = by_columns ? row : (uint32_t)other[used];
      CM_TRY(cm_entries_add(&n->entries, from, to, value[used], -1, error));
    }
  }
  CM_TRY(cm_bytes_end(&pointer->stream, error));
  CM_TRY(cm_bytes_end(&index->stream, error));
  return cm_bytes_end(&data->stream, error);
}

static cm_status read_scipy(cm_numpy *n, const char *format, cm_error *error)
{
  cm_array list[3] = {{.stream.name = NULL}};
  bool coordinates = strcmp(format, "coo") == 0;
  const char *const names[] = {coordinates ? "row" : "indptr", coordinates ? "col" : "indices", "data"};
  if (!coordinates && strcmp(format, "csr") != 0 && strcmp(format, "csc") != 0) {
    (void)cm_fail(error, CM_BAD_NETWORK, "NumPy: the file is a sparse matrix of scipy in the layout %.20s; csr, csc and coo are "
                  "read. This line converts it: python3 -c \"import scipy.sparse as s; s.save_npz('net.npz', "
                  "s.load_npz('FILE').tocsr())\"", format);
    return cm_fail_at(error, "format.npy");
  }
  cm_status status = read_shape(n, error);
  for (int i = 0; i < 3 && status == CM_OK; i++)
    status = cm_numpy_open_list(n, names[i], true, &list[i], error);
  if (status == CM_OK)
    status = coordinates ? cm_numpy_pairs(n, list, n->made->vertex_count, error)
                         : read_compressed(n, format[2] == 'c', &list[0], &list[1], &list[2], error);
  for (int i = 0; i < 3; i++)
    cm_bytes_close(&list[i].stream);
  return status;
}

/* ---- files ---- */

static cm_status read_archive(cm_numpy *n, cm_source *source, cm_error *error)
{
  char format[CM_NPY_TEXT_MAX];
  cm_array array;
  CM_TRY(cm_archive_open(&n->archive, source, n->limits, n->run, error));
  cm_status status = CM_OK;
  if (cm_numpy_has(n, "format") && cm_numpy_has(n, "data")) {
    status = cm_numpy_open(n, "format", &array, error);
    if (status == CM_OK) {
      status = array.npy.count == 1 ? cm_npy_text(&array.npy, &array.stream, format, error)
                                    : cm_bytes_bad(&array.stream, "one text is expected", error);
      cm_bytes_close(&array.stream);
    }
    CM_THEN(status, read_scipy(n, format, error));
  } else
    status = cm_numpy_named(n, error);
  cm_archive_close(&n->archive);
  return status;
}

cm_status cm_import_numpy(const cm_reading_of *in, cm_error *error)
{
  cm_source *source = in->source;
  cm_numpy n = {.limits = in->limits, .run = in->run, .memory = in->run->memory, .source = source, .made = in->made,
                .entries = {.memory = in->run->memory, .run = in->run, .limit = in->limits->pins_max}};
  cm_bytes stream = {.source = source, .name = "NumPy array"};
  cm_npy npy;
  cm_weights_as_asked(&n.entries.weight, source);
  n.made->directed = true;
  bool archive = source->end - source->at >= 2 && memcmp(source->at, "PK", 2) == 0;
  cm_status status = archive ? read_archive(&n, source, error) : cm_npy_open(&stream, &npy, error);
  if (!archive && status == CM_OK)
    status = cm_numpy_dense(&n, &npy, &stream, NULL, error);
  CM_THEN_IF(status, !n.closed, cm_entries_close(&n.entries, n.made, error));
  cm_entries_free(&n.entries);
  return status;
}
