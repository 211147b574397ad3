/* Reading stored operator tests and models' reference outputs. */
#ifndef CM_TESTS_UNIT_ONNX_H
#define CM_TESTS_UNIT_ONNX_H

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

/* Runs one test folder (model.onnx, test_data_set_0); the text of what is wrong, or "". */
static inline const char *onnx_run_test(const char *folder, cm_run *run)
{
  static char text[1200];
  char path[2 * CM_PATH_MAX];
  cm_error error;
  cm_model *model;
  cm_tensor *inputs[ONNX_VALUES_MAX] = {0}, *outputs[ONNX_VALUES_MAX] = {0};
  text[0] = '\0';
  snprintf(path, sizeof path, "%.1500s/model.onnx", folder);
  if (cm_onnx_read(path, run, &model, &error) != CM_OK || cm_infer(model, run, &error) != CM_OK) {
    snprintf(text, sizeof text, "%s", error.detail);
    return text;
  }
  ck_assert(model->input_count <= ONNX_VALUES_MAX && model->output_count <= ONNX_VALUES_MAX);
  snprintf(path, sizeof path, "%.1500s/test_data_set_0", folder);
  for (size_t i = 0; i < model->input_count; i++)
    inputs[i] = onnx_read_pb(path, "input", i, &model->values[model->inputs[i]]);
  if (cm_evaluate(model, inputs, run, outputs, &error) != CM_OK)
    snprintf(text, sizeof text, "%s", error.detail);
  for (size_t i = 0; i < model->output_count && text[0] == '\0'; i++) {
    cm_tensor *expected = onnx_read_pb(path, "output", i, &model->values[model->outputs[i]]);
    int64_t at = expected != NULL ? cm_tensor_deviates(outputs[i], expected, 1e-3, 1e-7) : -1;
    if (at != -1)
      snprintf(text, sizeof text,
               "output %zu deviates at element %lld: %g instead of %g (%s rank %u, expected %s rank %u)", i,
               (long long)at, at >= 0 ? cm_tensor_number(outputs[i], (uint64_t)at) : NAN,
               at >= 0 ? cm_tensor_number(expected, (uint64_t)at) : NAN, cm_type_name(outputs[i]->type),
               outputs[i]->rank, cm_type_name(expected->type), expected->rank);
    cm_tensor_free(expected);
  }
  for (size_t i = 0; i < ONNX_VALUES_MAX; i++) {
    cm_tensor_free(inputs[i]);
    cm_tensor_free(outputs[i]);
  }
  cm_model_free(model);
  return text;
}

#endif
