/* What the commands for users and tokens print. */
#include "daemon/admin_words.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

int cm_admin_wrong(const char *what, const char *word)
{
  (void)fprintf(stderr, "coremapd: %s%s; coremapd user --help says more\n", what, word);
  return EXIT_USAGE;
}

int cm_admin_fail(const cm_error *error)
{
  (void)fprintf(stderr, "coremapd: %s\n", error->detail);
  return error->status == CM_BAD_OPTION ? EXIT_USAGE : EXIT_FAILURE;
}

int cm_admin_print(json_t *list, const char *name)
{
  json_t *body = json_pack("{s:o}", name, list);
  bool printed = body != NULL && cm_json_dumpf(body, stdout, JSON_INDENT(2)) == 0 && puts("") >= 0;
  json_decref(body);
  return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}
