#include "cli/print.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/json.h"
#include "cli/cli.h"

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

const char *cli_paint(FILE *stream, cli_colour colour)
{
  static const char *const escapes[] = {[CLI_PLAIN] = "\033[0m", [CLI_BOLD] = "\033[1m",   [CLI_RED] = "\033[31m",
                                        [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m", [CLI_BLUE] = "\033[34m",
                                        [CLI_DIM] = "\033[2m"};
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  bool wanted = isatty(fileno(stream)) == 1 && (no == NULL || no[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0;
  return wanted ? escapes[colour] : "";
}

cli_colour cli_state_colour(const char *state)
{
  static const struct {
    const char *state;
    cli_colour colour;
  } colours[] = {{"done", CLI_GREEN}, {"failed", CLI_RED}, {"running", CLI_YELLOW}, {"queued", CLI_BLUE}, {"cancelled", CLI_DIM}};
  for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
    if (strcmp(state, colours[i].state) == 0)
      return colours[i].colour;
  return CLI_PLAIN;
}

void cli_print_json(const json_t *report)
{
  (void)cli_write_json(report, JSON_INDENT(1) | JSON_REAL_PRECISION(15), stdout);
}

cm_phrase cli_count(double number, const char *one)
{
  const size_t length = strlen(one);
  if (number == 1)
    return cm_say("1 %s", one);
  if (length > 1 && one[length - 1] == 'y' && strchr("aeiou", one[length - 2]) == NULL)
    return cm_say("%.0f %.*sies", number, (int)(length - 1), one);
  return cm_say("%.0f %ss", number, one);
}

cm_phrase cli_size(double bytes)
{
  if (bytes < 1024)
    return cli_count(bytes, "byte");
  const bool large = bytes >= 1e4 * 1024;
  return cm_say("%.1f %s", bytes / (large ? 1024 * 1024 : 1024), large ? "MB" : "KB");
}
