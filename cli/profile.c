/* coremap profile: a network that runs. */

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *format, *input, *poisson, *rates, *spikes;
} arguments;

static const cli_flag flags[] = {
  CLI_STIMULUS_FLAGS(CLI_AT(input), CLI_AT(poisson)),
  {"output", "FILE", CLI_OUT, "write spikes a step of every neuron there, a table that --rates takes", CLI_AT(rates)},
  {"spikes", "FILE", CLI_OUT, "write all spikes there, a line STEP,NEURON each, as simulate --spikes takes them", CLI_AT(spikes)},
  {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, CLI_AT(format)},
  CLI_QUIET_FLAG,
  CLI_JSON_SAYS("print the whole report as JSON"),
  {0}};

static cm_status write_files(const arguments *a, const coremap_profile *profile, cm_error *error)
{
  cm_status status = CM_OK;
  if (a->rates != NULL)
    status = library_status(coremap_profile_write(profile, "rates", a->rates, &cli_why), &cli_why, error);
  CM_THEN_IF(status, a->spikes != NULL, library_status(coremap_profile_write(profile, "spikes", a->spikes, &cli_why), &cli_why, error));
  return status;
}

static cm_status profile_network(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_network *network = NULL;
  coremap_profile *profile = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->input}, {"poisson_file", a->poisson}, {NULL, NULL}};
  cm_status status = cli_file_options("profile", a->line.options, files, &options, error);
  CM_THEN(status, cli_network(a->line.file, a->format, false, &cli->run, &network, error));
  free(options);
  options = NULL;
  (void)json_object_set_new(a->line.options, "alone", json_true()); /* nobody else reads the network */
  CM_THEN(status, cli_json_text(a->line.options, &options, error));
  CM_THEN(status, library_status(coremap_profile_run(network, options, library_on_run, &cli->run, &profile, &cli_why), &cli_why, error));
  CM_THEN(status, write_files(a, profile, error));
  CM_THEN(status, library_status(coremap_profile_report(profile, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
  free(options);
  coremap_profile_free(profile);
  coremap_network_free(network);
  return status;
}

/* ---- for people ---- */

static void print_neurons(const char *what, const json_t *told)
{
  cli_printf(stdout, "%s: %.0f, %.0f of them silent; %.0f spikes, %.4g a step in the mean", what, cli_number(told, "neurons"),
             cli_number(told, "silent"), cli_number(told, "spikes"), cli_number(told, "rate"));
  if (json_object_get(told, "rate_hz") != NULL)
    cli_printf(stdout, " (%.4g Hz)", cli_number(told, "rate_hz"));
  cli_printf(stdout, ", %.4g at most\n", cli_number(told, "largest_rate"));
}

/* A character for each box, by how full the fullest is. */
static void print_raster(const json_t *rows)
{
  static const char shades[] = " .:-=+*#%@";
  const size_t darkest = sizeof shades - 2;
  size_t r, c;
  double most = 1;
  const json_t *row, *box;
  json_array_foreach(rows, r, row)
    json_array_foreach(row, c, box)
      most = json_number_value(box) > most ? json_number_value(box) : most;
  json_array_foreach(rows, r, row) {
    char line[256] = "";
    json_array_foreach(row, c, box) {
      const double spikes = json_number_value(box);
      if (c + 1 < sizeof line)
        line[c] = shades[spikes > 0 ? 1 + (size_t)(spikes / most * (double)(darkest - 1)) : 0];
    }
    cli_printf(stdout, "|%s|\n", line);
  }
}

static void print_report(CM_UNUSED const void *given, const json_t *report)
{
  size_t i;
  const json_t *one, *peak = json_object_get(report, "peak");
  cli_printf(stdout, "%.0f steps", cli_number(report, "steps"));
  if (cli_number(report, "dt") > 0)
    cli_printf(stdout, " of %g s", cli_number(report, "dt"));
  cli_printf(stdout, ", semantics %s; %.0f synaptic events\n", cli_text(report, "semantics"), cli_number(report, "synaptic_events"));
  print_neurons("inputs", json_object_get(report, "inputs"));
  print_neurons("neurons", json_object_get(report, "neurons"));
  json_array_foreach(json_object_get(report, "populations"), i, one)
    print_neurons(cli_text(one, "name"), one);
  cli_printf(stdout, "spikes in a step: %.4g in the mean, %.0f in 99 %% of them, %.0f at most, in step %.0f\n", cli_number(peak, "mean"),
             cli_number(peak, "p99"), cli_number(peak, "worst"), cli_number(peak, "step"));
  if (json_object_get(report, "note") != NULL)
    cli_printf(stdout, "note: %s\n", cli_text(report, "note"));
  print_raster(json_object_get(report, "raster"));
}

const cli_command cli_command_profile = {
  .name = "profile", .what = "run a network: rates, peaks and spikes of its neurons", .make = profile_network, .print = print_report, .word = "network", .size = sizeof(arguments), .reads = true,
  .options = CLI_OPTIONS_PROFILE, .usage = "NETWORK --steps N [--input SPIKES | --poisson HZ|FILE] [-o RATES] [OPTION...]",
  .about = "Runs a network whose file says how its neurons behave, and prints how often they spike (docs/explanation/running.md).\n"
           "A file does not say how long a step is, nor how it is taken: --dt and --semantics do. Same input, options and seed: same spikes.",
  .flags = flags};
