#include "storage/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cm_log(const char *format, ...)
{
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *p = line; *p != '\0'; p++) /* names of files may hold anything */
    if ((unsigned char)*p < 0x20 || *p == 0x7f)
      *p = '?';
  (void)fprintf(stderr, "coremapd: %s\n", line);
}
