#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The digits that the text begins with; `end` is what follows. */
static bool digits(const char *text, const char **end, uint64_t *value)
{
  char *after;
  errno = 0;
  unsigned long long number = strtoull(text, &after, 10);
  if (text[0] < '0' || text[0] > '9' || errno != 0)
    return false;
  *end = after;
  *value = number;
  return true;
}

bool cm_whole_parse(const char *text, uint64_t *value)
{
  const char *end;
  uint64_t number;
  if (!digits(text, &end, &number) || *end != '\0')
    return false;
  *value = number;
  return true;
}

bool cm_bytes_parse(const char *text, uint64_t *value)
{
  static const char units[] = "KMGT";
  const char *end;
  uint64_t number;
  double fraction = 0;
  if (!digits(text, &end, &number))
    return false;
  if (*end == '.') {
    size_t length = strspn(end + 1, "0123456789");
    fraction = strtod(end, NULL);
    end += 1 + length;
  }
  const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
  if (unit != NULL) {
    unsigned shift = 10 * (unsigned)(unit - units + 1);
    if (number > UINT64_MAX >> shift)
      return false;
    number <<= shift;
    fraction = ldexp(fraction, (int)shift);
    end++;
    if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
      end += strlen(end);
  }
  if (*end != '\0' || __builtin_add_overflow(number, (uint64_t)fraction, &number))
    return false;
  *value = number;
  return true;
}
