/* ONNX models: whatever the bytes, a reason, or a model that goes through shapes, permutations and back to bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/permute/permutations.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

/* A failure has a reason, and one that the bytes can be blamed for. */
static void check_failure(cm_status status, const cm_error *error)
{
  demand(status == error->status && error->detail[0] != '\0', "a failure without a reason");
  demand(status != CM_INTERNAL && status != CM_NO_MEMORY, error->detail);
}

static void compile(cm_model *model, cm_run *run, cm_error *error)
{
  cm_model *made;
  json_t *report;
  uint8_t *bytes;
  size_t size;
  cm_status status = cm_permutations_optimise(model, run, &made, &report, error);
  if (status != CM_OK) {
    check_failure(status, error);
    return;
  }
  demand(cm_permutation_bytes(made) <= cm_permutation_bytes(model), "more bytes than before");
  json_decref(report);
  status = cm_onnx_write_memory(made, &bytes, &size, error);
  if (status == CM_OK)
    cm_free(bytes);
  else
    check_failure(status, error);
  cm_model_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_model *model;
  cm_memory_init(&memory, 256 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  run.deadline = cm_now() + 5;
  cm_status status = cm_onnx_read_memory(data, size, &run, &model, &error);
  if (status == CM_OK) {
    status = cm_infer(model, &run, &error);
    if (status == CM_OK)
      compile(model, &run, &error);
    else
      check_failure(status, &error);
    cm_model_free(model);
  } else
    check_failure(status, &error);
  demand(memory.used_bytes == 0, "bytes are still on the account");
  return 0;
}
