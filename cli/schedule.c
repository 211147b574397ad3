/* coremap schedule: when and where each task of a published scheduling problem runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/schedule/read.h"
#include "core/schedule/trace.h"

typedef struct arguments {
  const char *file, *output, *trace;
  uint32_t processors;
  uint64_t seed;
  double time_limit;
  cm_schedule_options options;
  bool json, quiet;
} arguments;

static const struct {
  const char *name;
  cm_schedule_method method;
} methods[] = {{"search", CM_SCHEDULE_SEARCH},
               {"list", CM_SCHEDULE_LIST},
               {"rank", CM_SCHEDULE_RANK},
               {"sample", CM_SCHEDULE_SAMPLE}};
enum { METHODS = sizeof methods / sizeof *methods };

static bool read_method(const char *name, cm_schedule_method *method)
{
  for (size_t i = 0; i < METHODS; i++)
    if (strcmp(name, methods[i].name) == 0) {
      *method = methods[i].method;
      return true;
    }
  return false;
}

enum { PROCESSORS = 1, METHOD, SCHEDULES, TIME_LIMIT, SEED, TIMELINE };

static const cli_flag flags[] = {
  {"processors", "N", PROCESSORS, "identical processors of a standard task graph"},
  {"method", "search|list|rank|sample", METHOD,
   "search unless given; list: by height, HEFT where processors differ; the baselines rank (upward rank alone) and sample (the "
   "best of random orders with a bias to height)"},
  {"schedules", "N", SCHEDULES,
   "how many schedules search and sample may make; unless given, up to 400000, fewer for large workloads: about a second"},
  {"time-limit", "X", TIME_LIMIT, "seconds; what is found by then is the result"},
  {"seed", "N", SEED, "same file, options and seed: same bytes out, unless the time limit cuts"},
  {"output", "FILE", CLI_OUTPUT, "write the schedule as JSON"},
  {"timeline", "FILE", TIMELINE, "write what runs when, as Chrome trace JSON"},
  {"trace", "FILE", TIMELINE, NULL},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int set(arguments *a, int flag, const char *value)
{
  char *end;
  switch (flag) {
  case PROCESSORS:
    return cli_whole32(value, 1, CM_PROCESSORS_MAX, &a->processors)
             ? -1
             : cli_usage("schedule", "--processors is 1 to %d, not \"%s\"", CM_PROCESSORS_MAX, value);
  case METHOD:
    return read_method(value, &a->options.method)
             ? -1
             : cli_usage("schedule", "--method is search, list, rank or sample, not \"%s\"", value);
  case SCHEDULES:
    return cli_whole(value, 1, UINT64_MAX, &a->options.schedules)
             ? -1
             : cli_usage("schedule", "--schedules is at least 1, not \"%s\"", value);
  case TIME_LIMIT:
    a->time_limit = strtod(value, &end);
    return *end == '\0' && a->time_limit > 0
             ? -1
             : cli_usage("schedule", "--time-limit is in seconds, not \"%s\"", value);
  case SEED:
    return cli_whole(value, 0, UINT64_MAX, &a->seed)
             ? -1
             : cli_usage("schedule", "--seed is a whole number, not \"%s\"", value);
  case CLI_OUTPUT: a->output = cli_output(value); return -1;
  case TIMELINE: a->trace = cli_output(value); return -1;
  case CLI_JSON: a->json = true; return -1;
  case CLI_QUIET: a->quiet = true; return -1;
  default: return cli_ended(flag);
  }
}

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_schedule, argc, argv)) != -1;) {
    int status = set(a, flag, optarg);
    if (status >= 0)
      return status;
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
  cm_workload *workload = NULL;
  cm_schedule *made = NULL;
  const char *format;
  cli_run_begin(&cli, a->quiet);
  cli.run.seed = a->seed;
  cm_run_phase(&cli.run, "read");
  cm_status status = cm_workload_read(a->file, a->processors, &cli.memory, &workload, &format, &error);
  if (status == CM_OK) {
    cm_run_phase(&cli.run, "schedule");
    cli.run.deadline = a->time_limit > 0 ? cm_now() + a->time_limit : 0;
    status = cm_schedule_make(workload, &a->options, &cli.run, &made, &error);
  }
  if (status == CM_OK && (status = cm_schedule_check(workload, made, &cli.memory, &error)) == CM_OK &&
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
  arguments a = {.seed = 1, .options = cm_schedule_defaults()};
  int status = parse(argc, argv, &a);
  return status < 0 ? schedule(&a) : status;
}

const cli_command cli_command_schedule = {
  .name = "schedule", .what = "schedule tasks on processors or resources", .run = schedule_command,
  .usage = "FILE [OPTION...]",
  .about = "Schedules tasks that wait for each other, for the least time until all are done. FILE is a standard task graph\n"
           "(.stg, with --processors), a heterogeneous graph with communication, or a PSPLIB project (.sm, .rcp); it is\n"
           "recognised by content. Every schedule is verified before it is shown.",
  .flags = flags};
