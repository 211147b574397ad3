/* Reading stored operator tests and models' reference outputs. */
#pragma once

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "unit.h"

enum { ONNX_VALUES_MAX = 16 };

/* Reads input_N.pb or output_N.pb; NULL when there is none. `like`: the value whose kind it has. */
static inline cm_tensor *onnx_read_pb(const char *folder, const char *kind, size_t number, const cm_value *like)
{
  char path[2 * CM_PATH_MAX], *bytes;
  size_t size;
  cm_error error;
  cm_tensor *tensor;
  struct stat about;
  snprintf(path, sizeof path, "%.1900s/%s_%zu.pb", folder, kind, number);
  if (stat(path, &about) != 0 || about.st_size == 0)
    return NULL;
  ck_ok(cm_file_read(path, 1 << 28, &bytes, &size, &error));
  ck_ok(cm_onnx_read_tensor(bytes, size, like->shape.type == CM_SEQUENCE, NULL, &tensor, &error));
  free(bytes);
  return tensor;
}
