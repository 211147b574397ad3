#include "core/base/option.h"

cm_status cm_option_refuse(cm_error *error, const char *name, const char *expected)
{
  (void)cm_fail(error, CM_BAD_OPTION, "option %s: expected %s", name, expected);
  return cm_fail_at(error, "/options/%s", name);
}

cm_status cm_option_flag(const char *name, const json_t *value, bool *flag, cm_error *error)
{
  if (!json_is_boolean(value))
    return cm_option_refuse(error, name, "true or false");
  *flag = json_is_true(value);
  return CM_OK;
}
