#include "base/status.h"

#include <errno.h>
#include <stdarg.h>

static const struct {
  const char *code;
  const char *title;
} words[] = {
  [CM_OK] = {"ok", "No error"},
  [CM_BAD_NETWORK] = {"bad-network", "The network cannot be read"},
  [CM_BAD_CHIP] = {"bad-chip", "The chip description cannot be used"},
  [CM_BAD_OCCUPANCY] = {"bad-occupancy", "The occupancy cannot be used"},
  [CM_BAD_OPTION] = {"bad-option", "An option cannot be used"},
  [CM_BAD_MAPPING] = {"bad-mapping", "The mapping cannot be read"},
  [CM_BAD_REQUEST] = {"bad-request", "The request cannot be understood"},
  [CM_NEURON_TOO_LARGE] = {"neuron-too-large", "A neuron alone exceeds a core limit"},
  [CM_NO_ROOM] = {"no-room", "Not enough free cores"},
  [CM_NO_ROUTE] = {"no-route", "The turn rule allows no route"},
  [CM_LIMIT_BROKEN] = {"limit-broken", "No mapping within the core limits was found"},
  [CM_TOO_LARGE] = {"too-large", "The input exceeds a maximum"},
  [CM_MEMORY_LIMIT] = {"memory-limit", "The memory limit is too small"},
  [CM_TIME_LIMIT] = {"time-limit", "The time limit ran out"},
  [CM_CANCELLED] = {"cancelled", "The job was cancelled"},
  [CM_NOT_FOUND] = {"not-found", "There is no such thing"},
  [CM_QUOTA_USED] = {"quota", "A quota is used up"},
  [CM_CONFLICT] = {"conflict", "The present state forbids this"},
  [CM_DAMAGED] = {"damaged", "Stored data does not match its checksum"},
  [CM_NO_MEMORY] = {"no-memory", "The machine has no memory left"},
  [CM_DISK_FULL] = {"disk-full", "The disk has no room left"},
  [CM_IO] = {"io", "Input or output failed"},
  [CM_INTERNAL] = {"internal", "An internal error"},
};

static size_t known(cm_status status)
{
  size_t i = (size_t)status;
  return i < sizeof words / sizeof *words ? i : (size_t)CM_INTERNAL;
}

const char *cm_status_code(cm_status status)
{
  return words[known(status)].code;
}

const char *cm_status_title(cm_status status)
{
  return words[known(status)].title;
}

cm_status cm_fail(cm_error *error, cm_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(error->detail, sizeof error->detail, format, arguments);
  va_end(arguments);
  error->status = status;
  error->where[0] = '\0';
  error->limit_name = NULL;
  error->figure_count = 0;
  error->cause = 0;
  return status;
}

void cm_fail_more(cm_error *error, const char *format, ...)
{
  size_t used = strlen(error->detail);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(error->detail + used, sizeof error->detail - used, format, arguments);
  va_end(arguments);
}

cm_status cm_fail_at(cm_error *error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(error->where, sizeof error->where, format, arguments);
  va_end(arguments);
  return error->status;
}

cm_phrase cm_say(const char *format, ...)
{
  cm_phrase made;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(made.text, sizeof made.text, format, arguments);
  va_end(arguments);
  return made;
}

void cm_error_figure(cm_error *error, const char *name, uint64_t value)
{
  for (size_t i = 0; i < error->figure_count; i++)
    if (strcmp(error->figures[i].name, name) == 0) {
      error->figures[i].value = value;
      return;
    }
  if (error->figure_count < CM_ERROR_FIGURES_MAX)
    error->figures[error->figure_count++] = (cm_figure){name, value};
}

cm_status cm_fail_errno(cm_error *error, int errnum, const char *what, const char *path)
{
  cm_status status = errnum == ENOSPC || errnum == EDQUOT ? CM_DISK_FULL
                     : errnum == ENOMEM                   ? CM_NO_MEMORY
                     : errnum == ENOENT                   ? CM_NOT_FOUND
                                                          : CM_IO;
  char reason[128];
  cm_fail(error, status, "%s %s: %s", what, path, strerror_r(errnum, reason, sizeof reason));
  error->cause = errnum;
  return status;
}

bool cm_error_passes(const cm_error *error)
{
  switch (error->status) {
  case CM_NO_MEMORY:
  case CM_DISK_FULL:
    return true;
  case CM_IO:
    break;
  default:
    return false;
  }
  switch (error->cause) {
  case 0: /* a library said no more than that it failed */
  case EIO:
  case EAGAIN:
  case EINTR:
  case EBUSY:
  case EMFILE:
  case ENFILE:
  case ENOBUFS:
  case ESTALE:
    return true;
  default:
    return false;
  }
}
