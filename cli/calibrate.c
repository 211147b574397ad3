/* coremap calibrate: a chip's costs from steps that were measured on it. */
#include <math.h>

#include "cli/cli.h"

enum { RUNS_BYTES_MAX = 1 << 28, WORST = 10 };

typedef struct arguments {
  cli_line line;
  const char *chip, *out;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME|FILE", CLI_TEXT, "the chip that was measured; prices that it has above 0 are fitted", CLI_AT(chip), "the one that was measured"},
  {"keep", "PRICE", CLI_BODY_LIST, "leave this one as it is: packet_sent, packet_received, synapse, neuron, spike, barrier, barrier/spike, barrier/packet; again for more"},
  {"output", "FILE", CLI_OUT, "write the chip file with fitted costs there", CLI_AT(out), "where the fitted chip file goes"},
  CLI_QUIET_FLAG,
  CLI_JSON_SAYS("print prices and what is left of every step as JSON"),
  {0}};

static cm_status calibrate(void *given, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_chip *chip = NULL;
  cm_error found;
  char *runs = NULL, *options = NULL, *told = NULL;
  size_t size;
  cm_status status = cli_json_text(a->line.body, &options, error);
  CM_THEN(status, cm_file_read(a->line.file, RUNS_BYTES_MAX, &runs, &size, error));
  CM_THEN(status, cli_chip(a->chip, NULL, NULL, &chip, error));
  if (status == CM_OK && library_status(coremap_calibrate(chip, runs, options, &told, &cli_why), &cli_why, &found) != CM_OK)
    status = cm_fail(error, found.status, "%s: %s", a->line.file, found.detail);
  CM_THEN(status, cli_report(told, report, error));
  CM_THEN(status, cli_keep_json(a->out, json_object_get(*report, "file"), error));
  free(runs);
  free(options);
  coremap_chip_free(chip);
  return status;
}

static int by_error(const void *a, const void *b)
{
  const double x = fabs(cli_number(*(json_t *const *)a, "error")), y = fabs(cli_number(*(json_t *const *)b, "error"));
  return (x < y) - (x > y);
}

static void print_report(CM_UNUSED const void *given, const json_t *report)
{
  const json_t *steps = json_object_get(report, "steps");
  const size_t count = json_array_size(steps);
  json_t *one, **sorted = calloc(count + 1, sizeof *sorted);
  size_t i;
  cli_printf(stdout, "%-32s %14s %14s\n", "price", "ns before", "ns");
  json_array_foreach(json_object_get(report, "prices"), i, one)
    cli_printf(stdout, "%-32s %14.6g %14.6g\n", cli_text(one, "price"), cli_number(one, "was_ns"), cli_number(one, "ns"));
  cli_printf(stdout, "%.0f steps: off by %.2f %% in the mean, %.2f %% at most\n", cli_number(report, "runs"), 100 * cli_number(report, "error_mean"), 100 * cli_number(report, "error_max"));
  cli_printf(stdout, "%-32s %14s %14s %8s\n", count > WORST ? "the worst steps" : "step", "measured ns", "foreseen ns", "off");
  if (sorted == NULL)
    return;
  json_array_foreach(steps, i, one)
    sorted[i] = one;
  if (count > WORST)
    qsort(sorted, count, sizeof *sorted, by_error);
  for (i = 0; i < count && i < WORST; i++)
    cli_printf(stdout, "%-32s %14.6g %14.6g %+7.2f%%\n", cli_text(sorted[i], "run"), cli_number(sorted[i], "measured_ns"), cli_number(sorted[i], "foreseen_ns"), 100 * cli_number(sorted[i], "error"));
  free(sorted);
}

const cli_command cli_command_calibrate = {
  .name = "calibrate", .what = "fit a chip's costs to measured steps or pieces", .make = calibrate, .print = print_report,
  .word = "RUNS.csv", .size = sizeof(arguments),
  .usage = "RUNS.csv --chip NAME|FILE -o FITTED [OPTION...]",
  .about = "Fits what a chip file says that packets, synapses, neurons, spikes and the barrier take to steps that were measured. RUNS.csv has columns run, ns and\n"
           "counts by the names of prices, a line for each core of a run (docs/explanation/step-time.md); or it has the pieces of programs, as tests of\n"
           "coremap emit --pieces write them: rates of operators are fitted to those.",
  .flags = flags};
