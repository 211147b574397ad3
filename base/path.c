/* Paths made of parts. */
#include "base/file.h"

#include <stdarg.h>

bool cm_path_ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), last = strlen(ending);
  return length >= last && strcmp(path + length - last, ending) == 0;
}

cm_status cm_path(char *path, cm_error *error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(path, CM_PATH_MAX, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= CM_PATH_MAX)
    return cm_fail(error, CM_IO, "a path is longer than %d bytes", CM_PATH_MAX - 1);
  return CM_OK;
}
