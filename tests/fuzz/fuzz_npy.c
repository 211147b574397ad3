/* Tensors as coremap run --input reads them: .npy, a member of .npz, raw elements. The first byte says which type is
 * expected. What was read is written, as .npy and raw, and read again: it is the same. */
#include "base/file.h"
#include "core/operators/tensor_file.h"
#include "old.h"

enum { RANK = 2 };
static const int64_t dims[RANK] = {2, 3};
static char folder[64];

static void remove_folder(void)
{
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static void demand_same(const cm_tensor *tensor, const char *path, cm_memory *memory)
{
  cm_error error;
  cm_tensor *again;
  if (cm_tensor_read(path, &(cm_tensor_wanted){"x", 0, tensor->type, RANK, dims}, memory, &again, &error) != CM_OK ||
      memcmp(again->data, tensor->data, (size_t)tensor->count * cm_type_bytes(tensor->type)) != 0)
    abort();
  cm_tensor_free(again);
  if (unlink(path) != 0)
    abort();
}

static void write_and_read(const cm_tensor *tensor, cm_memory *memory)
{
  static const char *const raw[] = {[CM_FLOAT] = "x.f32", [CM_INT64] = "x.i64", [CM_INT8] = "x.i8", [CM_BOOL] = "x.b8",
                                    [CM_DOUBLE] = "x.f64", [CM_UINT8] = "x.u8", [CM_INT16] = "x.i16", [CM_UINT16] = "x.u16",
                                    [CM_INT32] = "x.i32", [CM_UINT32] = "x.u32", [CM_UINT64] = "x.u64", [CM_FLOAT16] = "x.f16"};
  cm_error error;
  char path[96];
  if (folder[0] == '\0') {
    snprintf(folder, sizeof folder, "/dev/shm/cm-fuzz-npy-XXXXXX");
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
      abort();
  }
  snprintf(path, sizeof path, "%s/x.npy", folder);
  if (cm_tensor_write_npy(tensor, path, &error) != CM_OK)
    abort();
  if (tensor->type == CM_BFLOAT16) /* written as float32: another NaN may come back */
    return;
  demand_same(tensor, path, memory);
  if (cm_tensor_write_raw(tensor, folder, "x", &error) != CM_OK)
    abort();
  snprintf(path, sizeof path, "%s/%s", folder, raw[tensor->type]);
  demand_same(tensor, path, memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const cm_type types[] = {CM_FLOAT, CM_INT64, CM_INT8, CM_BOOL, CM_DOUBLE, CM_UINT8, CM_INT16, CM_UINT16, CM_INT32,
                                  CM_UINT32, CM_UINT64, CM_FLOAT16, CM_BFLOAT16};
  enum { TYPES = sizeof types / sizeof *types };
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_tensor *tensor = NULL;
  char path[64];
  int handle;
  if (size == 0)
    return 0;
  old_file(data + 1, size - 1, &handle, path);
  cm_memory_init(&memory, 64 << 20);
  if (cm_tensor_read(path, &(cm_tensor_wanted){"x", 0, types[data[0] % TYPES], RANK, dims}, &memory, &tensor, &error) == CM_OK) {
    if (tensor->count != 6)
      abort();
    write_and_read(tensor, &memory);
    cm_tensor_free(tensor);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  if (memory.used_bytes != 0)
    abort();
  close(handle);
  return 0;
}
