/* Part files as coremap place --part reads them, of three neurons. */
#include "core/partition/part_file.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  char path[64];
  int handle;
  uint32_t *part = NULL, parts = 0;
  old_file(data, size, &handle, path);
  cm_memory_init(&memory, 1 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  if (cm_part_read(path, 3, &run, &part, &parts, &error) == CM_OK) {
    bool met[3] = {false};
    for (int v = 0; v < 3; v++) {
      if (part[v] >= parts || parts > 3)
        abort();
      met[part[v]] = true;
    }
    for (uint32_t p = 0; p < parts; p++)
      if (!met[p])
        abort(); /* no number up to the largest is missing */
    cm_free(part);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  if (memory.used_bytes != 0)
    abort();
  close(handle);
  return 0;
}
