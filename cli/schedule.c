/* coremap schedule: when and where each task of a published scheduling problem runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "base/file.h"
#include "core/schedule/request.h"

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

static cm_status write_file(const char *path, const cm_schedule *schedule, const char *trace_name, cm_memory *memory,
                            cm_error *error)
{
  cm_file file = {0};
  if (path == NULL)
    return CM_OK;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  cm_status status = trace_name != NULL ? cm_schedule_write_trace(schedule, trace_name, memory, file.stream, error)
                                        : cm_schedule_write_json(schedule, file.stream, error);
  if (status == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return status;
}

static void print_table(const arguments *a, const char *format, const cm_workload *w, const cm_schedule *s)
{
  printf("workload     %s (%s), %u tasks, %llu arcs\n", a->file, format, s->task_count,
         (unsigned long long)w->dag->arc_count);
  if (s->unit_count > 0)
    printf("processors   %u\n", s->unit_count);
  else
    printf("resources    %u\n", w->resource_count);
  printf("makespan     %llu\n", (unsigned long long)s->makespan);
  printf("lower bound  %llu (%s)\n", (unsigned long long)s->lower_bound,
         s->makespan == s->lower_bound ? "met: this is optimal" : "not met");
  printf("schedules    %llu made\n", (unsigned long long)s->generated);
}

static int schedule(const arguments *a)
{
  cm_error error;
  cli_run cli;
  cm_schedule_request request;
  cm_workload *workload = NULL;
  cm_schedule *made = NULL;
  const char *format;
  cli_run_begin(&cli, a->quiet);
  cm_status status = cm_schedule_request_read(a->flags, &request, &error);
  if (status == CM_OK && (status = cm_schedule_file(a->file, &request, &cli.run, &workload, &format, &made, &error)) == CM_OK &&
      (status = write_file(a->output, made, NULL, &cli.memory, &error)) == CM_OK)
    status = write_file(a->trace, made, a->file, &cli.memory, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a->json)
    status = cm_schedule_write_json(made, stdout, &error);
  else if (status == CM_OK)
    print_table(a, format, workload, made);
  cm_schedule_free(made);
  cm_workload_free(workload);
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
