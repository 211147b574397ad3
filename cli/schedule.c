/* coremap schedule: when and where each task of a published scheduling problem runs. */

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *output, *timeline;
} arguments;

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUT, "write the schedule as JSON", CLI_AT(output)},
  {"timeline", "FILE", CLI_OUT, "write what runs when, as Chrome trace JSON", CLI_AT(timeline)},
  {"trace", "FILE", CLI_OUT, NULL, CLI_AT(timeline)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static cm_status write_file(const coremap_timetable *made, const char *what, const char *path, cm_error *error)
{
  return path == NULL ? CM_OK : library_status(coremap_timetable_write(made, what, path, &cli_why), &cli_why, error);
}

static void print_table(const void *given, const json_t *s)
{
  const cli_line *line = given;
  cli_printf(stdout, "workload     %s (%s), %s, %s\n", line->file, cli_text(s, "format"),
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

static cm_status schedule(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_timetable *made = NULL;
  char *options = NULL, *text = NULL;
  cm_status status = cli_rename_options("schedule", a->line.options, error);
  CM_THEN(status, cli_json_text(a->line.options, &options, error));
  CM_THEN(status, library_status(coremap_timetable_make(a->line.file, options, library_on_run, &cli->run, &made, &cli_why), &cli_why, error));
  free(options);
  CM_THEN(status, write_file(made, "schedule", a->output, error));
  CM_THEN(status, write_file(made, "timeline", a->timeline, error));
  CM_THEN(status, library_status(coremap_timetable_text(made, a->line.json ? "schedule" : "summary", &text, &cli_why), &cli_why, error));
  coremap_timetable_free(made);
  if (status == CM_OK && a->line.json) { /* as it stands */
    cli_printf(stdout, "%s", text);
    coremap_text_free(text);
  } else
    CM_THEN(status, cli_report(text, report, error));
  return status;
}

const cli_command cli_command_schedule = {
  .name = "schedule", .what = "schedule tasks on processors or resources", .make = schedule, .print = print_table,
  .word = "file", .size = sizeof(arguments),
  .usage = "FILE [OPTION...]",
  .about = "Schedules tasks that wait for each other, for the least time until all are done. FILE is a standard task graph\n"
           "(.stg, with --processors), a heterogeneous graph with communication, or a PSPLIB project (.sm, .rcp); it is\n"
           "recognised by content. Every schedule is verified before it is shown.",
  .flags = flags, .options = CLI_OPTIONS_SCHEDULE};
