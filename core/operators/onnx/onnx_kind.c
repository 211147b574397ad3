/* Whether a file is a model: known without taking it apart. */
#include "core/operators/onnx/onnx_kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/operators/onnx/onnx.h"

cm_status cm_onnx_first_bytes(const char *path, uint8_t bytes[CM_ONNX_FIRST_BYTES], cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  memset(bytes, 0, CM_ONNX_FIRST_BYTES);
  int failed = fread(bytes, 1, CM_ONNX_FIRST_BYTES, stream) < CM_ONNX_FIRST_BYTES && ferror(stream) != 0 ? errno : 0;
  (void)fclose(stream);
  return failed == 0 ? CM_OK : cm_fail_errno(error, failed, "cannot read", path);
}

bool cm_onnx_begins_zip(const uint8_t bytes[CM_ONNX_FIRST_BYTES])
{
  return memcmp(bytes, "PK\3\4", CM_ONNX_FIRST_BYTES) == 0;
}

cm_status cm_onnx_open_zip(const char *path, zip_t **zip, cm_error *error)
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
  return reason == ZIP_ER_MEMORY ? cm_whole(false, path, error)
         : machine               ? cm_fail_errno(error, code, "cannot open", path)
                                 : cm_fail(error, CM_BAD_NETWORK, "%s is a damaged zip", path);
}

const char *cm_onnx_model_member(zip_t *zip, bool *several)
{
  static const char ending[] = ".onnx";
  const char *found = NULL;
  zip_int64_t count = zip_get_num_entries(zip, 0);
  *several = false;
  for (zip_int64_t i = 0; i < count; i++) {
    const char *name = zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_GUESS);
    size_t length = name != NULL ? strlen(name) : 0;
    if (length < sizeof ending || strcmp(name + length - (sizeof ending - 1), ending) != 0 || strncmp(name, "__MACOSX/", 9) == 0)
      continue;
    *several = found != NULL;
    found = name;
  }
  return found;
}

cm_status cm_onnx_looks_like(const char *path, bool *looks, cm_error *error)
{
  uint8_t b[CM_ONNX_FIRST_BYTES];
  CM_TRY(cm_onnx_first_bytes(path, b, error));
  if (cm_onnx_begins_zip(b)) {
    bool several;
    zip_t *zip;
    cm_status status = cm_onnx_open_zip(path, &zip, error);
    *looks = status == CM_OK && cm_onnx_model_member(zip, &several) != NULL;
    if (status == CM_OK)
      (void)zip_discard(zip);
    return status == CM_BAD_NETWORK ? CM_OK : status;
  }
  /* Field 1 (ir_version) as a small number, then another field of ModelProto: every known exporter writes this. */
  *looks = b[0] == 0x08 && b[1] >= 1 && b[1] < 64 &&
           (b[2] == 0x12 || b[2] == 0x1a || b[2] == 0x22 || b[2] == 0x28 || b[2] == 0x32 || b[2] == 0x3a || b[2] == 0x42);
  return CM_OK;
}
