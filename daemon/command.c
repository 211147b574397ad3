#include "daemon/command.h"

int cm_command_wrong(const char *command, const char *what, const char *word)
{
  (void)fprintf(stderr, "coremapd: %s%s; coremapd %s --help says more\n", what, word, command);
  return EXIT_USAGE;
}

int cm_command_fail(const cm_error *error)
{
  (void)fprintf(stderr, "coremapd: %s\n", error->detail);
  return error->status == CM_BAD_OPTION ? EXIT_USAGE : EXIT_FAILURE;
}
