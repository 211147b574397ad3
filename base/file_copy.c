/* Copies of files, and what does for them. What can fail: no room, files that cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { COPY_BYTES = 1 << 20 };

static cm_status copy_bytes(int source, int target, const char *to, cm_error *error)
{
  char *buffer = malloc(COPY_BYTES);
  ssize_t got = 0;
  if (buffer == NULL)
    return cm_whole(false, to, error);
  cm_status status = CM_OK;
  while (status == CM_OK && (got = read(source, buffer, COPY_BYTES)) > 0)
    for (ssize_t done = 0, put; status == CM_OK && done < got; done += put)
      if ((put = write(target, buffer + done, (size_t)(got - done))) < 0)
        status = cm_fail_errno(error, errno, "cannot write", to);
  CM_THEN_IF(status, got < 0, cm_fail_errno(error, errno, "cannot read what goes to", to));
  CM_THEN_IF(status, fsync(target) != 0, cm_fail_errno(error, errno, "cannot sync", to));
  free(buffer);
  return status;
}

cm_status cm_file_copy(const char *from, const char *to, unsigned mode, cm_error *error)
{
  int source = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (source < 0)
    return cm_fail_errno(error, errno, "cannot open", from);
  int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  cm_status status = target < 0 ? cm_fail_errno(error, errno, "cannot create", to) : copy_bytes(source, target, to, error);
  if (target >= 0)
    (void)close(target);
  (void)close(source);
  return status;
}

cm_status cm_file_take(const char *from, const char *to, cm_error *error)
{
  if (link(from, to) == 0)
    return CM_OK;
  return errno == EXDEV || errno == EPERM || errno == EMLINK ? cm_file_copy(from, to, 0666, error) : cm_fail_errno(error, errno, "cannot take", from);
}
