/* Tensors as coremap run --input reads them: .npy, a member of .npz, raw elements. The first byte says which type is
 * expected. */
#include "core/operators/tensor_file.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const cm_type types[] = {CM_FLOAT, CM_INT64, CM_INT8, CM_BOOL};
  static const int64_t dims[] = {2, 3};
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_tensor *tensor = NULL;
  char path[64];
  int handle;
  if (size == 0)
    return 0;
  old_file(data + 1, size - 1, &handle, path);
  cm_memory_init(&memory, 64 << 20);
  if (cm_tensor_read(path, "x", 0, types[data[0] % 4], 2, dims, &memory, &tensor, &error) == CM_OK) {
    if (tensor->count != 6)
      abort();
    cm_tensor_free(tensor);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  if (memory.used_bytes != 0)
    abort();
  close(handle);
  return 0;
}
