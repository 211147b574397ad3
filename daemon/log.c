#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

cm_status cm_log_open(const char *path, cm_error *error)
{
  if (path[0] == '\0')
    return CM_OK;
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (file < 0)
    return cm_fail_errno(error, errno, "cannot open the log", path);
  bool moved = dup2(file, STDERR_FILENO) >= 0;
  int why = errno;
  (void)close(file);
  return moved ? CM_OK : cm_fail_errno(error, why, "cannot log to", path);
}
