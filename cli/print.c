#include "cli/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/json.h"
#include "cli/table.h"

void cli_printf(FILE *stream, const char *format, ...)
{
  char *text;
  va_list arguments;
  va_start(arguments, format);
  const int size = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (size < 0)
    return;
  cm_foreign_print(text, (size_t)size, CM_FOREIGN_LINES, stream);
  free(text);
}

void cli_puts(const char *text)
{
  cli_printf(stdout, "%s\n", text != NULL ? text : "");
}

void cli_print_head(const char *command)
{
  (void)fputs(cli_paint(stderr, CLI_RED), stderr);
  (void)fprintf(stderr, "coremap%s%s:", command != NULL ? " " : "", command != NULL ? command : "");
  (void)fprintf(stderr, "%s ", cli_paint(stderr, CLI_PLAIN));
}

int cli_write_json(const json_t *json, size_t flags, FILE *stream)
{
  char *text = cm_json_dumps(json, flags);
  if (text == NULL)
    return -1;
  cm_foreign_print(text, strlen(text), CM_FOREIGN_LINES, stream); /* where an escape stands, a string is: it is one of JSON's */
  free(text);
  return fputc('\n', stream) == EOF ? -1 : 0;
}

void cli_print_file(FILE *from, FILE *stream)
{
  char *line = NULL;
  size_t room = 0;
  rewind(from);
  for (ssize_t size; (size = getline(&line, &room, from)) > 0;)
    cm_foreign_print(line, (size_t)size, CM_FOREIGN_LINES, stream);
  free(line);
}
