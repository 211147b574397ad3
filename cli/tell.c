/* How commands that find one thing end. */
#include "cli/cli.h"

int cli_tell(cm_status status, json_t *report, bool as_json, void (*print)(const json_t *report), const cm_error *error)
{
  if (status != CM_OK) {
    json_decref(report);
    return cli_fail(error);
  }
  if (as_json)
    cli_print_json(report);
  else
    print(report);
  json_decref(report);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}
