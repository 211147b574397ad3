/* ONNX files: a model alone, one with its data in files beside it, or a zip with both. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_external.h"
#include "core/operators/onnx/onnx_kind.h"

static cm_status read_zip(const char *path, cm_run *run, cm_model **made, cm_error *error)
{
  enum { PREFIX_MAX = 1000 };
  bool several;
  char prefix[PREFIX_MAX + 1];
  zip_t *zip;
  CM_TRY(cm_onnx_open_zip(path, &zip, error));
  const char *name = cm_onnx_model_member(zip, &several), *slash = name != NULL ? strrchr(name, '/') : NULL;
  size_t length = slash != NULL ? (size_t)(slash - name) + 1 : 0;
  uint8_t *bytes = NULL;
  uint64_t size = 0;
  cm_status status = CM_OK;
  if (name == NULL || several || length > PREFIX_MAX)
    status = cm_fail(error, CM_BAD_NETWORK, "the zip should hold one model, a member whose name ends with .onnx");
  else {
    memcpy(prefix, name, length);
    prefix[length] = '\0';
    status = cm_external_member(zip, name, CM_ONNX_BYTES_MAX, run, &bytes, &size, error);
  }
  cm_external source = {.folder = -1, .zip = zip, .prefix = prefix};
  CM_THEN(status, cm_onnx_read_bytes(bytes, size, &source, run, made, error));
  cm_external_end(&source);
  cm_free(bytes);
  (void)zip_discard(zip);
  return status;
}

static cm_status read_file(const char *path, bool beside, cm_run *run, cm_model **made, cm_error *error)
{
  char *bytes, folder[CM_PATH_MAX];
  uint8_t first[CM_ONNX_FIRST_BYTES];
  size_t size;
  CM_TRY(cm_onnx_first_bytes(path, first, error));
  if (cm_onnx_begins_zip(first))
    return read_zip(path, run, made, error);
  const char *slash = strrchr(path, '/');
  size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  CM_TRY(cm_path(folder, error, "%.*s", length > 0 ? (int)length : 1, length > 0 ? path : "."));
  CM_TRY(cm_file_read(path, CM_ONNX_BYTES_MAX, &bytes, &size, error));
  cm_external source = {.folder = beside ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1};
  cm_status status = cm_onnx_read_bytes(bytes, size, &source, run, made, error);
  if (source.folder >= 0)
    (void)close(source.folder);
  free(bytes);
  return status;
}

cm_status cm_onnx_read(const char *path, cm_run *run, cm_model **made, cm_error *error)
{
  return read_file(path, false, run, made, error);
}

cm_status cm_onnx_read_beside(const char *path, cm_run *run, cm_model **made, cm_error *error)
{
  return read_file(path, true, run, made, error);
}
