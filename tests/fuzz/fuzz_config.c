/* Configuration files of the daemon: settings within their bounds, or a reason with its line. */
#include "daemon/config.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_config config, again;
  char path[64];
  char program[] = "coremapd", flag[] = "--config";
  int handle;
  old_file(data, size, &handle, path);
  char *words[] = {program, flag, path};
  if (cm_config_read(3, words, &config, &error) == CM_OK) {
    if (config.threads < 1 || config.workers < 1 || config.workers > 64 || config.min_rate < 1 || config.listen[0] == '\0' ||
        config.head_timeout < 1 || strlen(config.data) >= sizeof config.data)
      abort();
    if (cm_config_read(1, words, &again, &error) != CM_OK)
      abort();
    for (const char *name = NULL; (name = cm_config_needs_restart(&again, &config, name)) != NULL;)
      ;
    cm_config_take(&again, &config);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  close(handle);
  return 0;
}
