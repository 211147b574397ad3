/* Fields of placement problems. What can fail: they are of another kind, or out of range; too many names; memory. */
#include <string.h>

#include "core/constraints/problem_reading.h"

cm_status cm_problem_bad(const char *where, const char *expected, cm_error *error)
{
  return cm_json_fail(error, CM_BAD_OPTION, where, "%s: expected %s", where, expected);
}

/* A member that is a whole number; `*number` keeps its value where it is not there. */
cm_status cm_problem_whole(const json_t *object, const char *group, const char *name, json_int_t most, uint64_t *number, cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  char where[CM_JSON_PLACE_MAX];
  if (value == NULL)
    return CM_OK;
  (void)cm_json_place(where, "%s/%s", group, name);
  if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > most)
    return cm_json_fail(error, CM_BAD_OPTION, where, "%s: expected a whole number, 0 to %" JSON_INTEGER_FORMAT, where, most);
  *number = (uint64_t)json_integer_value(value);
  return CM_OK;
}

cm_status cm_problem_intern(const cm_problem_reading *r, cm_problem_names of, const char *name, uint32_t *number, cm_error *error)
{
  for (*number = 0; *number < *of.count; ++*number)
    if (strcmp((*of.list)[*number], name) == 0)
      return CM_OK;
  if (*of.count == of.most)
    return cm_fail(error, CM_TOO_LARGE, "more than %u names of one sort", of.most);
  CM_TRY_IF(*of.list == NULL, CM_NEW(r->memory, *of.list, of.most, error));
  CM_TRY(CM_NEW(r->memory, (*of.list)[*of.count], strlen(name) + 1, error));
  memcpy((*of.list)[*of.count], name, strlen(name) + 1);
  ++*of.count;
  return CM_OK;
}
