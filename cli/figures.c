/* Numbers with their nouns, and sizes, as reports say them. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

cli_phrase cli_count(double number, const char *one)
{
  cli_phrase made;
  const size_t length = strlen(one);
  if (number == 1)
    (void)snprintf(made.text, sizeof made.text, "1 %s", one);
  else if (length > 1 && one[length - 1] == 'y' && strchr("aeiou", one[length - 2]) == NULL)
    (void)snprintf(made.text, sizeof made.text, "%.0f %.*sies", number, (int)(length - 1), one);
  else
    (void)snprintf(made.text, sizeof made.text, "%.0f %ss", number, one);
  return made;
}

cli_phrase cli_size(double bytes)
{
  cli_phrase made;
  if (bytes < 1024)
    return cli_count(bytes, "byte");
  bool large = bytes >= 1e4 * 1024;
  (void)snprintf(made.text, sizeof made.text, "%.1f %s", bytes / (large ? 1024 * 1024 : 1024), large ? "MB" : "KB");
  return made;
}
