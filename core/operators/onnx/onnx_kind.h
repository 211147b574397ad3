/* How files with models begin, for onnx_file.c and onnx_kind.c. */
#pragma once

#include <zip.h>

#include "base/status.h"

enum { CM_ONNX_FIRST_BYTES = 4 };

/* The first bytes of a file, zeros where it ends before; whether they are a zip's. */
cm_status cm_onnx_first_bytes(const char *path, uint8_t bytes[CM_ONNX_FIRST_BYTES], cm_error *error);
bool cm_onnx_begins_zip(const uint8_t bytes[CM_ONNX_FIRST_BYTES]);

/* Opens a zip. CM_BAD_NETWORK: it is damaged. */
cm_status cm_onnx_open_zip(const char *path, zip_t **zip, cm_error *error);

/* The member that is a model: the only one whose name ends so; NULL when there is none, *several when there are more. */
const char *cm_onnx_model_member(zip_t *zip, bool *several);
