/* Writes texts and numbers of a mapping's views: reals as short as they read back the same. */
#include "core/output/view_writer.h"

#include <stdio.h>
#include <stdlib.h>

void cm_view_put_text(cm_view_writer *w, const char *text)
{
  (void)fputs(text, w->stream);
}

void cm_view_put_count(cm_view_writer *w, uint64_t value)
{
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  (void)fwrite(digits + first, 1, sizeof digits - first, w->stream);
}

void cm_view_put_real(cm_view_writer *w, double value)
{
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value)
      break;
  }
  cm_view_put_text(w, text);
}
