/* coremap show operators: the table of operators as docs/reference/operators.md has it. */
#include <stdio.h>

#include "cli/cli.h"

static void print_row(const json_t *o)
{
  const json_t *until = json_object_get(o, "until"), *second = json_object_get(o, "second");
  cli_printf(stdout, "| %s | %.0f", cli_text(o, "name"), cli_number(o, "since"));
  if (until != NULL)
    cli_printf(stdout, " to %.0f", json_number_value(until));
  else
    cli_printf(stdout, " on");
  cli_printf(stdout, " | %s", cli_text(o, "types"));
  if (second != NULL)
    cli_printf(stdout, "; second: %s", json_string_value(second));
  cli_printf(stdout, " | %s | %s |\n", cli_text(o, "cut"), json_is_true(json_object_get(o, "permutations")) ? "yes" : "no");
}

void cli_show_operators(void)
{
  const json_t *o;
  size_t i;
  fputs("| operator | opsets | types of its inputs | cut along | permutations pass |\n", stdout);
  fputs("| --- | --- | --- | --- | --- |\n", stdout);
  json_array_foreach(cli_table("operators"), i, o)
    print_row(o);
}
