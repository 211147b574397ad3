/* coremap schedule: when and where each task of a published scheduling problem runs. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

typedef struct arguments {
  const char *file, *output, *trace;
  json_t *flags; /* options that are given */
  bool json, quiet;
} arguments;

enum { TIMELINE = 1 };

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUTPUT, "write the schedule as JSON"},
  {"timeline", "FILE", TIMELINE, "write what runs when, as Chrome trace JSON"},
  {"trace", "FILE", TIMELINE, NULL},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_schedule, argc, argv)) != -1;) {
    switch (flag) {
      case CLI_OUTPUT: a->output = cli_output(optarg); break;
      case TIMELINE: a->trace = cli_output(optarg); break;
      case CLI_JSON: a->json = true; break;
      case CLI_QUIET: a->quiet = true; break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage("schedule", "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      default: return cli_ended(flag);
    }
  }
  if (optind + 1 != argc)
    return cli_usage("schedule", optind == argc ? "no file is named" : "one file is needed");
  a->file = cli_input(argv[optind]);
  return -1;
}

static cm_status write_file(const coremap_timetable *made, const char *what, const char *path, cm_error *error)
{
  coremap_error *why = NULL;
  return path == NULL ? CM_OK : library_status(coremap_timetable_write(made, what, path, &why), &why, error);
}

static void print_table(const arguments *a, const json_t *s)
{
  cli_printf(stdout, "workload     %s (%s), %s, %s\n", a->file, cli_text(s, "format"),
         cli_count(cli_number(s, "tasks"), "task").text, cli_count(cli_number(s, "arcs"), "arc").text);
  if (json_is_integer(json_object_get(s, "units")))
    cli_printf(stdout, "processors   %.0f\n", cli_number(s, "units"));
  else
    cli_printf(stdout, "resources    %.0f\n", cli_number(s, "resources"));
  cli_printf(stdout, "makespan     %" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(s, "makespan")));
  cli_printf(stdout, "lower bound  %" JSON_INTEGER_FORMAT " (%s)\n", json_integer_value(json_object_get(s, "lower_bound")),
         json_is_true(json_object_get(s, "optimal")) ? "met: this is optimal" : "not met");
  cli_printf(stdout, "schedules    %" JSON_INTEGER_FORMAT " made\n", json_integer_value(json_object_get(s, "schedules")));
}

/* On standard output: all of it, or a table. */
static cm_status print_made(const arguments *a, const coremap_timetable *made, cm_error *error)
{
  char *text;
  coremap_error *why = NULL;
  CM_TRY(library_status(coremap_timetable_text(made, a->json ? "schedule" : "summary", &text, &why), &why, error));
  if (a->json) {
    cli_printf(stdout, "%s", text);
    coremap_text_free(text);
    return CM_OK;
  }
  json_t *summary = library_json(text);
  print_table(a, summary);
  json_decref(summary);
  return CM_OK;
}

static int schedule(const arguments *a)
{
  cm_error error;
  cli_run cli;
  coremap_timetable *made = NULL;
  coremap_error *why = NULL;
  char *options = NULL;
  cli_run_begin(&cli, a->quiet);
  cm_status status = cli_rename_options("schedule", a->flags, &error);
  CM_THEN(status, cli_json_text(a->flags, &options, &error));
  CM_THEN(status, library_status(coremap_timetable_make(a->file, options, library_on_run, &cli.run, &made, &why), &why, &error));
  free(options);
  CM_THEN(status, write_file(made, "schedule", a->output, &error));
  CM_THEN(status, write_file(made, "timeline", a->trace, &error));
  cli_run_end(&cli);
  CM_THEN(status, print_made(a, made, &error));
  coremap_timetable_free(made);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

static int schedule_command(int argc, char **argv)
{
  arguments a = {.flags = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = schedule(&a);
  json_decref(a.flags);
  return status;
}

const cli_command cli_command_schedule = {
  .name = "schedule", .what = "schedule tasks on processors or resources", .run = schedule_command,
  .usage = "FILE [OPTION...]",
  .about = "Schedules tasks that wait for each other, for the least time until all are done. FILE is a standard task graph\n"
           "(.stg, with --processors), a heterogeneous graph with communication, or a PSPLIB project (.sm, .rcp); it is\n"
           "recognised by content. Every schedule is verified before it is shown.",
  .flags = flags, .options = CLI_OPTIONS_SCHEDULE};
