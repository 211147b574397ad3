/* Arrays of NumPy: those of an archive by name, and the square matrix that one is. */
#include <math.h>
#include <stdio.h>

#include "core/network/archive/archive.h"
#include "core/network/archive/npy.h"
#include "core/network/archive/numpy.h"
#include "core/network/formats/entries.h"
#include "core/network/import_limits.h"

cm_status cm_numpy_vertices(cm_numpy *n, uint64_t count, cm_error *error)
{
  if (count > n->limits->vertices_max)
    return cm_over_limit("neurons", count, n->limits->vertices_max, error);
  n->made->vertex_count = (uint32_t)count;
  n->made->size_total = count;
  return CM_OK;
}

cm_status cm_numpy_refuse_shape(const cm_npy *npy, const cm_bytes *stream, cm_error *error)
{
  char shape[100] = "", what[700];
  for (int i = 0, used = 0; i < npy->rank && used < (int)sizeof shape; i++)
    used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%llu", i > 0 ? " x " : "", (unsigned long long)npy->dim[i]);
  if (npy->rank == 2)
    (void)snprintf(what, sizeof what,
                   "its shape is %s; a matrix of a network is square, row to column. This line makes one of two populations of "
                   "it, the first sending to the second: python3 -c \"import numpy, scipy.sparse as s; a = numpy.load('FILE'); "
                   "s.save_npz('net.npz', s.bmat([[s.coo_matrix((len(a),) * 2), a], [None, s.coo_matrix((a.shape[1],) * 2)]], "
                   "'csr'))\"", shape);
  else
    (void)snprintf(what, sizeof what, "it has %d dimension%s%s%s; a square matrix, row to column, is expected, or, as .npz, "
                   "arrays pre and post", npy->rank, npy->rank == 1 ? "" : "s", npy->rank > 0 ? ": " : "", shape);
  return cm_bytes_bad(stream, what, error);
}

cm_status cm_numpy_dense(cm_numpy *n, const cm_npy *npy, cm_bytes *stream, cm_array *delay, cm_error *error)
{
  double values[CM_NPY_SLICE], delay_ms[CM_NPY_SLICE];
  uint64_t size = npy->rank == 2 ? npy->dim[0] : 0, row = 0, column = 0;
  if (npy->rank != 2 || npy->dim[0] != npy->dim[1] || !cm_npy_numbers(npy))
    return cm_numpy_refuse_shape(npy, stream, error);
  if (delay != NULL && (delay->npy.rank != 2 || delay->npy.dim[0] != size || delay->npy.dim[1] != size ||
                        delay->npy.columns_first != npy->columns_first || !cm_npy_numbers(&delay->npy)))
    return cm_bytes_bad(&delay->stream, "numbers in the shape and order of the weights are expected", error);
  CM_TRY(cm_numpy_vertices(n, size, error));
  for (uint64_t at = 0; at < npy->count; at += CM_NPY_SLICE) {
    size_t count = npy->count - at < CM_NPY_SLICE ? (size_t)(npy->count - at) : CM_NPY_SLICE;
    if (cm_npy_reals(npy, stream, count, values, error) != CM_OK || cm_run_check(n->run, error) != CM_OK ||
        (delay != NULL && cm_npy_reals(&delay->npy, &delay->stream, count, delay_ms, error) != CM_OK))
      return error->status;
    for (size_t i = 0; i < count; i++) {
      bool synapse = values[i] != 0 && !isnan(values[i]);
      uint32_t from = (uint32_t)(npy->columns_first ? column : row), to = (uint32_t)(npy->columns_first ? row : column);
      if (isinf(values[i]))
        return cm_bytes_bad(stream, "a weight is infinite", error);
      if (synapse && delay != NULL && !(delay_ms[i] >= 0 && isfinite(delay_ms[i])))
        return cm_bytes_bad(&delay->stream, "a delay is negative, infinite or undefined", error);
      CM_TRY_IF(synapse, cm_entries_add(&n->entries, from, to, values[i], delay != NULL ? delay_ms[i] : -1, error));
      if (++column == size) {
        column = 0;
        row++;
      }
    }
  }
  CM_TRY_IF(delay != NULL, cm_bytes_end(&delay->stream, error));
  return cm_bytes_end(stream, error);
}

bool cm_numpy_has(const cm_numpy *n, const char *name)
{
  return zip_name_locate(n->archive.zip, cm_say("%s.npy", name).text, 0) >= 0;
}

cm_status cm_numpy_open(cm_numpy *n, const char *name, cm_array *array, cm_error *error)
{
  char member[CM_NUMPY_NAME_MAX + 8];
  (void)snprintf(member, sizeof member, "%s.npy", name);
  zip_int64_t at = zip_name_locate(n->archive.zip, member, 0);
  cm_array made = {0};
  if (at < 0) {
    (void)cm_fail(error, CM_BAD_NETWORK, "NumPy: array %s is missing", name);
    return cm_fail_at(error, "%s", member);
  }
  CM_TRY(cm_archive_stream(&n->archive, (uint64_t)at, &made.stream, error));
  if (cm_npy_open(&made.stream, &made.npy, error) != CM_OK ||
      (made.npy.count > cm_archive_bytes(&n->archive, (uint64_t)at) / made.npy.size &&
       cm_bytes_bad(&made.stream, "it is shorter than its header says", error) != CM_OK)) {
    cm_bytes_close(&made.stream);
    return error->status;
  }
  *array = made;
  return CM_OK;
}

cm_status cm_numpy_open_list(cm_numpy *n, const char *name, bool numbers, cm_array *array, cm_error *error)
{
  CM_TRY(cm_numpy_open(n, name, array, error));
  if (array->npy.rank == 1 && (!numbers || cm_npy_numbers(&array->npy)))
    return CM_OK;
  (void)cm_bytes_bad(&array->stream, numbers ? "a list of numbers is expected" : "a list is expected", error);
  cm_bytes_close(&array->stream);
  return error->status;
}

cm_status cm_numpy_lengths(const cm_array *a, const cm_array *b, cm_error *error)
{
  if (a->npy.count == b->npy.count)
    return CM_OK;
  (void)cm_fail(error, CM_BAD_NETWORK, "NumPy: %.60s has %llu numbers, %.60s has %llu: they must have as many", a->stream.name,
                (unsigned long long)a->npy.count, b->stream.name, (unsigned long long)b->npy.count);
  return cm_fail_at(error, "%.80s", b->stream.name);
}
