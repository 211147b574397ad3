/* The files of a job folder that come from the other side: job.json, which a confined child reads, and result.json,
 * which its server reads. The first byte says which. */
#include <sys/stat.h>

#include "daemon/job/work.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static void make_folder(void)
{
  (void)snprintf(folder, sizeof folder, "/tmp/cm-fuzz-work-XXXXXX");
  if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  char path[96];
  if (size == 0)
    return 0;
  if (folder[0] == '\0')
    make_folder();
  bool job = data[0] % 2 == 0;
  (void)snprintf(path, sizeof path, "%s/%s", folder, job ? CM_WORK_JOB : CM_WORK_RESULT);
  FILE *stream = fopen(path, "wb");
  if (stream == NULL || fwrite(data + 1, 1, size - 1, stream) != size - 1 || fclose(stream) != 0)
    abort();
  cm_status status;
  if (job) {
    cm_work_job read = {0};
    status = cm_work_read(folder, &read, &error);
    if (status == CM_OK && (read.threads < 1 || cm_work_describe(folder, &read, &error) != CM_OK))
      abort();
    cm_work_job_clear(&read);
  } else {
    cm_work_result read = {0};
    status = cm_work_result_read(folder, &read, &error);
    if (status == CM_OK && read.status != CM_OK && read.why.status != read.status)
      abort();
    cm_work_result_clear(&read);
  }
  if (status != CM_OK && (status == CM_INTERNAL || error.status != status || error.detail[0] == '\0'))
    abort();
  return 0;
}
