#include "core/constraints/constraints_option.h"

#include <string.h>

#include "base/json.h"
#include "core/constraints/constraints.h"

static bool is_kind(const char *name)
{
  for (int k = 0; k < CM_CONSTRAINT_KINDS; k++)
    if (name != NULL && strcmp(name, cm_constraint_kind_names[k]) == 0)
      return true;
  return false;
}

static cm_status read_list(const char *option, const json_t *value, void *field, cm_error *error)
{
  char where[CM_JSON_PLACE_MAX];
  size_t i;
  const json_t *one;
  if (!json_is_array(value) || json_array_size(value) > CM_CONSTRAINTS_MAX)
    return cm_option_refuse(error, option, "a list of at most 4096 constraints");
  json_array_foreach(value, i, one)
    if (!is_kind(json_string_value(json_object_get(one, "kind"))) || json_object_get(one, "of") == NULL)
      return cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/options/%s/%zu", option, i),
                          "%s: expected \"of\", and a \"kind\": pin, not_here, together, apart, adjacent, connected or order", where);
  json_t **kept = field;
  json_decref(*kept);
  *kept = json_incref((json_t *)(uintptr_t)value);
  return CM_OK;
}

static json_t *list_schema(void)
{
  static const char text[] = "{\"type\": \"array\", \"items\": " CM_CONSTRAINT_SCHEMA "}";
  json_error_t trouble;
  return cm_json_loadb(text, sizeof text - 1, 0, &trouble);
}

const cm_option_own cm_option_of_constraints = {"FILE", read_list, list_schema};
