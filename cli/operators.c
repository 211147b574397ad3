/* coremap show operators: the table of operators as docs/reference/operators.md has it. */

#include "cli/cli.h"

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
  const json_t *of_a = json_object_get(a, name), *of_b = json_object_get(b, name);
  return of_a == of_b || (of_a != NULL && of_b != NULL && json_equal(of_a, of_b));
}

/* Whether two operators differ in name and opsets alone: they share a line. */
static bool alike(const json_t *a, const json_t *b)
{
  return same_member(a, b, "types") && same_member(a, b, "second") && same_member(a, b, "cut") && same_member(a, b, "permutations");
}

static void print_name(const json_t *o, bool first)
{
  const json_t *until = json_object_get(o, "until");
  const double since = cli_number(o, "since");
  cli_printf(stdout, "%s%s", first ? "| " : ", ", cli_text(o, "name"));
  if (since > 1)
    cli_printf(stdout, " %.0f", since);
  if (until != NULL)
    cli_printf(stdout, " to %.0f", json_number_value(until));
}

/* Operators of others, some in a line, with their domain in front. */
static void print_rewrites(void)
{
  enum { ROW = 12 };
  const json_t *r, *before = NULL;
  size_t i;
  unsigned in_row = 0;
  json_array_foreach(cli_table("rewrites"), i, r) {
    const bool first = before == NULL || !same_member(before, r, "domain") || in_row == ROW;
    if (first)
      cli_printf(stdout, "%s| %s: ", before != NULL ? " | of what they stand for | | |\n" : "", cli_text(r, "domain")[0] != '\0' ? cli_text(r, "domain") : "ai.onnx");
    cli_printf(stdout, "%s%s", first ? "" : ", ", cli_text(r, "name"));
    in_row = first ? 1 : in_row + 1;
    before = r;
  }
  fputs(" | of what they stand for | | |\n", stdout);
}

void cli_show_operators(void)
{
  const json_t *table = cli_table("operators"), *second;
  const size_t count = json_array_size(table);
  fputs("| operators, with the opset that they begin with beyond 1 | types of their inputs | cut along | permutations pass |\n", stdout);
  fputs("| --- | --- | --- | --- |\n", stdout);
  for (size_t i = 0, j; i < count; i++) {
    const json_t *o = json_array_get(table, i);
    for (j = 0; j < i && !alike(json_array_get(table, j), o); j++)
      ;
    if (j < i)
      continue; /* in the line of that one */
    for (j = i; j < count; j++)
      if (alike(json_array_get(table, j), o))
        print_name(json_array_get(table, j), j == i);
    cli_printf(stdout, " | %s", cli_text(o, "types"));
    if ((second = json_object_get(o, "second")) != NULL)
      cli_printf(stdout, "; second: %s", json_string_value(second));
    cli_printf(stdout, " | %s | %s |\n", cli_text(o, "cut"), json_is_true(json_object_get(o, "permutations")) ? "yes" : "no");
  }
  print_rewrites();
}
