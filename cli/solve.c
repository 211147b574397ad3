/* coremap solve: nodes on tiles under constraints. */

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *problem, *output;
} arguments;

static const cli_flag flags[] = {
  {"problem", "FILE", CLI_IN, "the problem, which may also stand alone", CLI_AT(problem)},
  {"output", "FILE", CLI_OUT, "write the answer as JSON", CLI_AT(output)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static int check(void *given)
{
  arguments *a = given;
  if (a->line.count != (a->problem == NULL ? 1 : 0))
    return cli_usage("solve", a->line.count == 0 ? "no problem is named" : "one problem is needed");
  a->problem = a->problem == NULL ? cli_input(a->line.words[0]) : a->problem;
  return -1;
}

/* A node a line, or why there are no places. */
static void print_answer(CM_UNUSED const void *given, const json_t *answer)
{
  const char *node;
  json_t *at;
  const json_t *reason = json_object_get(answer, "reason"), *one;
  size_t i;
  if (reason != NULL) {
    cli_printf(stdout, "impossible: %s\n", cli_text(reason, "words"));
    json_array_foreach(json_object_get(reason, "because"), i, one)
      cli_printf(stdout, "  %s%s\n", cli_text(one, "words"), json_is_true(json_object_get(one, "enough")) ? ": without it there are places" : "");
    return;
  }
  if (json_object_get(answer, "places") == NULL) {
    cli_printf(stdout, "unknown: neither places nor a proof that there are none were found; --effort searches longer\n");
    return;
  }
  json_object_foreach(json_object_get(answer, "places"), node, at)
    cli_printf(stdout, "%s %.0f %.0f\n", node, json_number_value(json_array_get(at, 0)), json_number_value(json_array_get(at, 1)));
  cli_printf(stdout, "%.0f hops%s\n", cli_number(answer, "hops"), json_is_true(json_object_get(answer, "optimal")) ? ", the fewest there are" : "");
}

static cm_status write_answer(const char *path, const char *text, cm_error *error)
{
  cm_file file;
  if (path == NULL)
    return CM_OK;
  CM_TRY(cm_file_create(&file, path, error));
  if (fputs(text, file.stream) >= 0 && fputc('\n', file.stream) >= 0)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return cm_fail(error, CM_IO, "cannot write %s", path);
}

static cm_status solve(void *given, cli_run *cli, json_t **answer, cm_error *error)
{
  const arguments *a = given;
  char *options = NULL, *text = NULL;
  cm_status status = cli_check_options("solve", a->line.options, error);
  CM_THEN(status, cli_json_text(a->line.options, &options, error));
  CM_THEN(status, library_status(coremap_solve_file(a->problem, options, library_on_run, &cli->run, &text, &cli_why), &cli_why, error));
  free(options);
  CM_THEN(status, write_answer(a->output, text, error));
  CM_THEN(status, cli_report(text, answer, error));
  if (status != CM_OK && strncmp(error->where, "/options", 8) != 0)
    cli_place_in_file(a->problem, "/", error);
  return status != CM_OK && strncmp(error->detail, "the problem", 11) == 0 ? cli_name_file(a->problem, status, error) : status;
}

static int judge(CM_UNUSED const void *given, const json_t *answer)
{
  return json_object_get(answer, "places") != NULL ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_solve = {
  .name = "solve", .what = "place nodes on tiles under constraints", .make = solve, .print = print_answer, .judge = judge, .check = check, .most = 1, .size = sizeof(arguments),
  .options = CLI_OPTIONS_SOLVE,
  .usage = "PROBLEM.json [-o PLACES.json] [OPTION...]",
  .about = "Places nodes on an array of tiles so that kinds, memory, channels and constraints hold and hops are few, or proves that there are no\n"
           "places and says which constraints are in the way (docs/reference/constraints.md). Exit status 1: there are none, or it is unknown.",
  .flags = flags};
