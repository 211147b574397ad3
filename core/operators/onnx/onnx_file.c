/* ONNX files: a model alone, one with its data in files beside it, or a zip with both. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_external.h"

enum { FIRST_BYTES = 4 };

/* The first bytes of a file, zeros where it ends before. */
static cm_status first_bytes(const char *path, uint8_t bytes[FIRST_BYTES], cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  memset(bytes, 0, FIRST_BYTES);
  int failed = fread(bytes, 1, FIRST_BYTES, stream) < FIRST_BYTES && ferror(stream) != 0 ? errno : 0;
  (void)fclose(stream);
  return failed == 0 ? CM_OK : cm_fail_errno(error, failed, "cannot read", path);
}

static bool begins_zip(const uint8_t bytes[FIRST_BYTES])
{
  return memcmp(bytes, "PK\3\4", FIRST_BYTES) == 0;
}

/* Opens a zip. CM_BAD_NETWORK: it is damaged. */
static cm_status open_zip(const char *path, zip_t **zip, cm_error *error)
{
  int reason;
  *zip = zip_open(path, ZIP_RDONLY, &reason);
  if (*zip != NULL)
    return CM_OK;
  zip_error_t cause;
  zip_error_init_with_code(&cause, reason);
  int code = zip_error_code_system(&cause);
  bool machine = zip_error_system_type(&cause) == ZIP_ET_SYS && code != 0;
  zip_error_fini(&cause);
  return reason == ZIP_ER_MEMORY ? cm_fail(error, CM_NO_MEMORY, "out of memory for %s", path)
         : machine               ? cm_fail_errno(error, code, "cannot open", path)
                                 : cm_fail(error, CM_BAD_NETWORK, "%s is a damaged zip", path);
}

/* The member that is a model: the only one whose name ends so; NULL when there is none, *several when there are more. */
static const char *model_member(zip_t *zip, bool *several)
{
  static const char ending[] = ".onnx";
  const char *found = NULL;
  zip_int64_t count = zip_get_num_entries(zip, 0);
  *several = false;
  for (zip_int64_t i = 0; i < count; i++) {
    const char *name = zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_GUESS);
    size_t length = name != NULL ? strlen(name) : 0;
    if (length < sizeof ending || strcmp(name + length - (sizeof ending - 1), ending) != 0 ||
        strncmp(name, "__MACOSX/", 9) == 0)
      continue;
    *several = found != NULL;
    found = name;
  }
  return found;
}

static cm_status read_zip(const char *path, cm_run *run, cm_model **made, cm_error *error)
{
  enum { PREFIX_MAX = 1000 };
  bool several;
  char prefix[PREFIX_MAX + 1];
  zip_t *zip;
  if (open_zip(path, &zip, error) != CM_OK)
    return error->status;
  const char *name = model_member(zip, &several), *slash = name != NULL ? strrchr(name, '/') : NULL;
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
  if (status == CM_OK)
    status = cm_onnx_read_bytes(bytes, size, &source, run, made, error);
  cm_external_end(&source);
  cm_free(bytes);
  (void)zip_discard(zip);
  return status;
}

static cm_status read_file(const char *path, bool beside, cm_run *run, cm_model **made, cm_error *error)
{
  char *bytes, folder[CM_PATH_MAX];
  uint8_t first[FIRST_BYTES];
  size_t size;
  if (first_bytes(path, first, error) != CM_OK)
    return error->status;
  if (begins_zip(first))
    return read_zip(path, run, made, error);
  const char *slash = strrchr(path, '/');
  size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  if (cm_path(folder, error, "%.*s", length > 0 ? (int)length : 1, length > 0 ? path : ".") != CM_OK ||
      cm_file_read(path, CM_ONNX_BYTES_MAX, &bytes, &size, error) != CM_OK)
    return error->status;
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

cm_status cm_onnx_looks_like(const char *path, bool *looks, cm_error *error)
{
  uint8_t b[FIRST_BYTES];
  if (first_bytes(path, b, error) != CM_OK)
    return error->status;
  if (begins_zip(b)) {
    bool several;
    zip_t *zip;
    cm_status status = open_zip(path, &zip, error);
    *looks = status == CM_OK && model_member(zip, &several) != NULL;
    if (status == CM_OK)
      (void)zip_discard(zip);
    return status == CM_BAD_NETWORK ? CM_OK : status;
  }
  /* Field 1 (ir_version) as a small number, then another field of ModelProto: every known exporter writes this. */
  *looks = b[0] == 0x08 && b[1] >= 1 && b[1] < 64 &&
           (b[2] == 0x12 || b[2] == 0x1a || b[2] == 0x22 || b[2] == 0x28 || b[2] == 0x32 || b[2] == 0x3a || b[2] == 0x42);
  return CM_OK;
}
