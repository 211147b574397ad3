/* coremap partition: the partition stage alone, without a place on a chip. */

#include "cli/job.h"

static const cli_flag flags[] = {
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file: its limits, a part a core at most",
                      "a bare grid of cores without limits: one part a core"),
  CLI_JOB_LEVELS_FLAGS,
  CLI_JOB_PART_FLAG,
  {"fixed", "FILE", CLI_IN, "with --parts: a line a neuron, the part that it belongs to or -1 (a .fix file of hMETIS)", CLI_JOB_AT(fixed)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static void print_limits(const json_t *limits)
{
  const char *name;
  json_t *limit;
  json_object_foreach((json_t *)(uintptr_t)limits, name, limit) {
    char shown[40];
    cli_printf(stdout, "limit       %s: at most %.0f of %.0f in a part, mean %.1f %%\n", cli_job_words(name, shown), cli_number(limit, "most"),
           cli_number(limit, "limit"), 100 * cli_number(limit, "mean_use"));
  }
}

static void print_table(const cli_job *job, const json_t *made)
{
  cli_job_print_inputs(job);
  cli_job_print_parts(made);
  cli_job_print_attempts(json_object_get(made, "attempts"));
  cli_job_print_numbers(made);
  print_limits(json_object_get(made, "limits"));
  cli_job_print_cost(job);
}

static cm_status make(cli_job *job, coremap_partition **made, cm_error *error)
{
  char *options = NULL;
  cm_status status = cli_job_open(job, &options, error);
  CM_THEN(status, library_status(coremap_partition_make(job->network, job->chip, options, library_on_run, &job->cli.run, made, &cli_why), &cli_why, error));
  free(options);
  return status;
}

static int partition(void *given)
{
  cli_job *job = given;
  coremap_partition *made = NULL;
  cm_error error;
  char *text = NULL;
  cm_status status = make(job, &made, &error);
  cli_run_end(&job->cli);
  CM_THEN_IF(status, job->part != NULL, library_status(coremap_partition_write(made, job->part, &cli_why), &cli_why, &error));
  CM_THEN(status, library_status(coremap_partition_about(made, &text, &cli_why), &cli_why, &error));
  coremap_partition_free(made);
  if (status != CM_OK) {
    cli_job_close(job);
    return cli_fail(&error);
  }
  json_t *about = library_json(text);
  if (job->line.json) {
    (void)json_object_del(about, "shown");
    cli_job_print_json(job, about);
  } else {
    print_table(job, about);
    json_decref(about);
  }
  cli_job_close(job);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_partition = {
  .name = "partition", .what = "cut a network into parts, without placing them", .run = partition, .check = cli_job_check, .word = "network", .size = sizeof(cli_job), .reads = true,
  .options = CLI_OPTIONS_PARTITION,
  .usage = "NETWORK [--chip NAME|FILE | --mesh WxH] [OPTION...]",
  .about = "Cuts a network into parts that keep the limits of a core, and stops there: no region, no placement. Without a\n"
           "chip the limit is --max-part-size, or the number of parts is --parts. FILE - is standard input, or output.",
  .flags = flags};
