/* Lines of a check's report. */
#include "storage/check_report.h"

#include <stdarg.h>

void cm_checking_say(const cm_checking *c, const char *format, ...)
{
  char line[1400];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  c->report->say(c->report->user, line);
}

void cm_checking_fault(cm_checking *c, const char *format, ...)
{
  char line[1200];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  c->faults++;
  cm_checking_say(c, "FAULT %s", line);
}
