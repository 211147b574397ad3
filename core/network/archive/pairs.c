#include "core/network/pairs.h"

#include "core/network/archive/npy.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"
#include "core/network/recognise.h"

static cm_status read_rows(cm_bytes *stream, const cm_npy *npy, cm_run *run, cm_pair_take take, void *user, cm_error *error)
{
  uint64_t values[CM_NPY_SLICE];
  if (npy->rank != 2 || npy->dim[1] != 2 || !cm_npy_numbers(npy))
    return cm_bytes_bad(stream, "two columns of whole numbers are expected", error);
  if (npy->columns_first && npy->dim[0] > 1)
    return cm_bytes_bad(stream, "its columns lie one after the other (Fortran order): save numpy.ascontiguousarray of it", error);
  for (uint64_t at = 0; at < npy->count; at += CM_NPY_SLICE) {
    size_t count = npy->count - at < CM_NPY_SLICE ? (size_t)(npy->count - at) : CM_NPY_SLICE;
    CM_TRY(cm_npy_indices(npy, stream, count, values, error));
    CM_TRY(cm_run_check(run, error));
    for (size_t i = 0; i < count; i += 2)
      CM_TRY(take(user, (at + i) / 2, values[i], values[i + 1], error));
  }
  return CM_OK;
}

cm_status cm_pairs_read(const char *path, cm_run *run, cm_pair_take take, void *user, bool *is_npy, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_source source;
  cm_npy npy;
  *is_npy = false;
  CM_TRY(cm_source_open(&source, path, &limits, run, error));
  cm_status status = CM_OK;
  if (cm_is_numpy(source.at, (size_t)(source.end - source.at))) {
    cm_bytes stream = {.source = &source, .name = "array"};
    *is_npy = true;
    status = cm_npy_open(&stream, &npy, error);
    CM_THEN(status, read_rows(&stream, &npy, run, take, user, error));
  }
  cm_source_close(&source);
  return status;
}
