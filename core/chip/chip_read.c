/* What the readers of a chip's parts share: refusals with a place, whole numbers within a range. */

#include <inttypes.h>

#include "base/json.h"
#include "core/chip/chip_read.h"
#include "core/chip/json.h"

cm_status cm_chip_bad(cm_error *error, const char *where, const char *what)
{
  return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %s", where, what);
}

cm_status cm_chip_read_whole(const json_t *value, const char *where, int64_t least, int64_t most, int64_t *number,
                             cm_error *error)
{
  if (!json_is_integer(value))
    return cm_chip_bad(error, where, "expected a whole number");
  json_int_t given = json_integer_value(value);
  if (given < least || given > most)
    return cm_json_fail(error, CM_BAD_CHIP, where,
                        "%s: %" JSON_INTEGER_FORMAT " is out of range; %" PRId64 " to %" PRId64
                        " are possible",
                        where, given, least, most);
  *number = given;
  return CM_OK;
}
