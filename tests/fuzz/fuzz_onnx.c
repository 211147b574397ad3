/* ONNX models, alone, beside a file of weights, and in a zip: whatever the bytes, a reason, or a model that goes through
 * shapes, permutations and back to bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/permute/permutations.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
  demand(cm_copy_bytes(made) <= cm_copy_bytes(model), "more bytes than before");
  json_decref(report);
  status = cm_onnx_write_memory(made, &bytes, &size, error);
  if (status == CM_OK)
    cm_free(bytes);
  else
    check_failure(status, error);
  cm_model_free(made);
}

static char folder[64], file_path[96];

static void remove_folder(void)
{
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *stream = fopen(path, "wbe");
  demand(stream != NULL && fwrite(bytes, 1, size, stream) == size && fclose(stream) == 0, "no file");
}

/* A folder in memory with what a model may keep its data in: weights, sub/weights, and a link to the first. */
static void make_folder(void)
{
  static const char weights[64];
  char path[96];
  snprintf(folder, sizeof folder, "/dev/shm/cm-fuzz-onnx-XXXXXX");
  demand(mkdtemp(folder) != NULL && atexit(remove_folder) == 0, "no folder");
  snprintf(file_path, sizeof file_path, "%s/model.onnx", folder);
  snprintf(path, sizeof path, "%s/weights", folder);
  write_file(path, weights, sizeof weights);
  snprintf(path, sizeof path, "%s/link", folder);
  demand(symlink("weights", path) == 0, "no link");
  snprintf(path, sizeof path, "%s/sub/weights", folder);
  path[strlen(folder) + 4] = '\0';
  cm_error error;
  demand(cm_folder_make(path, &error) == CM_OK, "no folder in it");
  path[strlen(folder) + 4] = '/';
  write_file(path, weights, sizeof weights);
}

static void use(cm_status status, cm_model *model, cm_run *run, cm_error *error)
{
  if (status != CM_OK) {
    check_failure(status, error);
    return;
  }
  status = cm_infer(model, run, error);
  if (status == CM_OK)
    compile(model, run, error);
  else
    check_failure(status, error);
  cm_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_model *model;
  bool looks;
  if (folder[0] == '\0')
    make_folder();
  cm_memory_init(&memory, 256 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  run.deadline = cm_now() + 5;
  cm_status status = cm_onnx_read_memory(data, size, &run, &model, &error);
  use(status, model, &run, &error);
  if (status != CM_OK) { /* a zip, or a model whose data is elsewhere */
    write_file(file_path, data, size);
    demand(cm_onnx_looks_like(file_path, &looks, &error) == CM_OK, error.detail);
    status = cm_onnx_read_beside(file_path, &run, &model, &error);
    use(status, model, &run, &error);
  }
  demand(memory.used_bytes == 0, "bytes are still on the account");
  return 0;
}
