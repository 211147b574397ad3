/* coremap solve: nodes on tiles under constraints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

typedef struct arguments {
  const char *problem, *output;
  json_t *flags; /* options that are given */
  bool json, quiet;
} arguments;

enum { PROBLEM = 1 };

static const cli_flag flags[] = {
  {"problem", "FILE", PROBLEM, "the problem, which may also stand alone"},
  {"output", "FILE", CLI_OUTPUT, "write the answer as JSON"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_solve, argc, argv)) != -1;) {
    switch (flag) {
      case PROBLEM: a->problem = cli_input(optarg); break;
      case CLI_OUTPUT: a->output = cli_output(optarg); break;
      case CLI_JSON: a->json = true; break;
      case CLI_QUIET: a->quiet = true; break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage("solve", "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      default: return cli_ended(flag);
    }
  }
  if (optind + (a->problem == NULL ? 1 : 0) != argc)
    return cli_usage("solve", optind == argc ? "no problem is named" : "one problem is needed");
  if (a->problem == NULL)
    a->problem = cli_input(argv[optind]);
  return -1;
}

/* A node a line, or why there are no places. */
static void print_answer(const json_t *answer)
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

static int solve(const arguments *a)
{
  cm_error error;
  cli_run cli;
  coremap_error *why = NULL;
  char *options = NULL, *text = NULL;
  json_t *answer = NULL;
  cli_run_begin(&cli, a->quiet);
  cm_status status = cli_check_options("solve", a->flags, &error);
  CM_THEN(status, cli_json_text(a->flags, &options, &error));
  CM_THEN(status, library_status(coremap_solve_file(a->problem, options, library_on_run, &cli.run, &text, &why), &why, &error));
  free(options);
  CM_THEN(status, write_answer(a->output, text, &error));
  cli_run_end(&cli);
  if (status != CM_OK) {
    if (strncmp(error.where, "/options", 8) != 0)
      cli_place_in_file(a->problem, "/", &error);
    if (strncmp(error.detail, "the problem", 11) == 0)
      (void)cli_name_file(a->problem, status, &error);
    return cli_fail(&error);
  }
  answer = library_json(text);
  const bool placed = json_object_get(answer, "places") != NULL;
  if (a->json)
    cli_print_json(answer);
  else
    print_answer(answer);
  json_decref(answer);
  return fflush(stdout) == 0 && placed ? EXIT_DONE : EXIT_REFUSED;
}

static int solve_command(int argc, char **argv)
{
  arguments a = {.flags = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = solve(&a);
  json_decref(a.flags);
  return status;
}

const cli_command cli_command_solve = {
  .name = "solve", .what = "place nodes on tiles under constraints", .run = solve_command, .options = CLI_OPTIONS_SOLVE,
  .usage = "PROBLEM.json [-o PLACES.json] [OPTION...]",
  .about = "Places nodes on an array of tiles so that kinds, memory, channels and constraints hold and hops are few, or proves that there are no\n"
           "places and says which constraints are in the way (docs/reference/constraints.md). Exit status 1: there are none, or it is unknown.",
  .flags = flags};
