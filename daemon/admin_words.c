/* What the commands for users and tokens print. */
#include "daemon/admin_words.h"

#include "base/json.h"

int cm_admin_print(json_t *list, const char *name)
{
  json_t *body = json_pack("{s:o}", name, list);
  bool printed = body != NULL && cm_json_dumpf(body, stdout, JSON_INDENT(2)) == 0 && puts("") >= 0;
  json_decref(body);
  return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}
