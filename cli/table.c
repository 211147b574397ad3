#include "cli/table.h"

#include "base/foreign.h"
#include "cli/cli.h"

enum { CELL_MAX = 200, COLUMNS_MAX = 12 };

/* Texts by their names, such as labels. */
static void pairs(const json_t *object, char text[CELL_MAX])
{
  const char *name;
  json_t *value;
  char whole[CELL_MAX] = "";
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
    (void)snprintf(whole + strlen(whole), CELL_MAX - strlen(whole), "%s%s=%s", whole[0] != '\0' ? "," : "", name,
                   json_is_string(value) ? json_string_value(value) : "");
  (void)cm_foreign_copy(whole, CM_FOREIGN_LINE, text, CELL_MAX);
}

/* What a member is as text, in one line. */
static void cell(const json_t *row, const cli_column *column, char text[CELL_MAX])
{
  const json_t *value = json_object_get(row, column->member);
  text[0] = '\0';
  if (json_is_string(value)) /* cut between two characters */
    (void)cm_foreign_copy(json_string_value(value), CM_FOREIGN_LINE, text, column->cut > 0 && column->cut < CELL_MAX ? column->cut + 1 : CELL_MAX);
  else if (json_is_integer(value))
    (void)snprintf(text, CELL_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else if (json_is_real(value))
    (void)snprintf(text, CELL_MAX, "%.6g", json_real_value(value));
  else if (json_is_true(value))
    (void)snprintf(text, CELL_MAX, "yes");
  else if (json_is_object(value))
    pairs(value, text);
}

/* Characters, not bytes: of UTF-8. */
static int characters(const char *text)
{
  int count = 0;
  for (; *text != '\0'; text++)
    count += ((unsigned char)*text & 0xc0) != 0x80;
  return count;
}

void cli_print_table(const json_t *rows, const cli_column *columns, size_t count, const char *empty)
{
  int width[COLUMNS_MAX] = {0};
  char text[CELL_MAX];
  size_t i;
  const json_t *row;
  if (json_array_size(rows) == 0) {
    cli_puts(empty);
    return;
  }
  for (size_t c = 0; c < count; c++) {
    width[c] = characters(columns[c].title);
    json_array_foreach(rows, i, row)
    {
      cell(row, &columns[c], text);
      width[c] = characters(text) > width[c] ? characters(text) : width[c];
    }
  }
  fputs(cli_paint(stdout, CLI_BOLD), stdout);
  for (size_t c = 0; c < count; c++)
    cli_printf(stdout, "%s%*s", columns[c].title, c + 1 < count ? width[c] - characters(columns[c].title) + 2 : 0, "");
  fputs(cli_paint(stdout, CLI_PLAIN), stdout);
  fputc('\n', stdout);
  json_array_foreach(rows, i, row)
  {
    for (size_t c = 0; c < count; c++) {
      cell(row, &columns[c], text);
      bool number = json_is_number(json_object_get(row, columns[c].member)), state = strcmp(columns[c].member, "state") == 0;
      int gap = width[c] - characters(text);
      fputs(state ? cli_paint(stdout, cli_state_colour(text)) : "", stdout);
      cli_printf(stdout, "%*s%s", number ? gap : 0, "", text);
      fputs(state ? cli_paint(stdout, CLI_PLAIN) : "", stdout);
      cli_printf(stdout, "%*s", c + 1 < count ? (number ? 0 : gap) + 2 : 0, "");
    }
    putchar('\n');
  }
}
