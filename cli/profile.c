/* coremap profile: a network that runs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/cli.h"

typedef struct arguments {
  const char *network, *format, *input, *poisson, *rates, *spikes;
  json_t *flags; /* options that are given */
  bool json, quiet;
} arguments;

enum { INPUT = 1, POISSON, SPIKES, FORMAT };

static const cli_flag flags[] = {
  CLI_STIMULUS_FLAGS(INPUT, POISSON),
  {"output", "FILE", CLI_OUTPUT, "write spikes a step of every neuron there, a table that --rates takes"},
  {"spikes", "FILE", SPIKES, "write all spikes there, a line STEP,NEURON each, as simulate --spikes takes them"},
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},
  CLI_QUIET_FLAG,
  {"json", NULL, CLI_JSON, "print the whole report as JSON"},
  {0}};

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_profile, argc, argv)) != -1;) {
    switch (flag) {
      case INPUT: a->input = cli_input(optarg); break;
      case POISSON:
        if (!cli_take_poisson(a->flags, optarg, &a->poisson))
          return cli_usage("profile", "--poisson %s is no finite number", optarg);
        break;
      case CLI_OUTPUT: a->rates = cli_output(optarg); break;
      case SPIKES: a->spikes = cli_output(optarg); break;
      case FORMAT: a->format = optarg; break;
      case CLI_QUIET: a->quiet = true; break;
      case CLI_JSON: a->json = true; break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage("profile", "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      default: return cli_ended(flag);
    }
  }
  if (optind + 1 != argc)
    return cli_usage("profile", optind == argc ? "NETWORK is missing" : "one NETWORK is expected");
  a->network = cli_input(argv[optind]);
  return -1;
}

static cm_status write_files(const arguments *a, const coremap_profile *profile, cm_error *error)
{
  coremap_error *why = NULL;
  cm_status status = CM_OK;
  if (a->rates != NULL)
    status = library_status(coremap_profile_write(profile, "rates", a->rates, &why), &why, error);
  if (status == CM_OK && a->spikes != NULL)
    status = library_status(coremap_profile_write(profile, "spikes", a->spikes, &why), &why, error);
  return status;
}

static cm_status profile_network(const arguments *a, cli_run *cli, json_t **report, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_profile *profile = NULL;
  coremap_error *why = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->input}, {"poisson_file", a->poisson}, {NULL, NULL}};
  cm_status status = cli_file_options("profile", a->flags, files, &options, error);
  CM_THEN(status, cli_network(a->network, a->format, false, &cli->run, &network, error));
  if (status == CM_OK) { /* nobody else reads the network */
    free(options);
    options = NULL;
    (void)json_object_set_new(a->flags, "alone", json_true());
    status = cli_json_text(a->flags, &options, error);
  }
  CM_THEN(status, library_status(coremap_profile_run(network, options, library_on_run, &cli->run, &profile, &why), &why, error));
  CM_THEN(status, write_files(a, profile, error));
  CM_THEN(status, library_status(coremap_profile_report(profile, &text, &why), &why, error));
  if (status == CM_OK)
    *report = library_json(text);
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

static void print_report(const json_t *report)
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

static int profile_command(int argc, char **argv)
{
  arguments a = {.flags = json_object()};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0) {
    json_decref(a.flags);
    return parsed;
  }
  cli_run cli;
  cm_error error;
  json_t *report = NULL;
  cli_run_begin(&cli, a.quiet);
  cm_status status = profile_network(&a, &cli, &report, &error);
  cli_run_end(&cli);
  json_decref(a.flags);
  return cli_tell(status, report, a.json, print_report, &error);
}

const cli_command cli_command_profile = {
  .name = "profile", .what = "run a network: rates, peaks and spikes of its neurons", .run = profile_command, .reads = true,
  .options = CLI_OPTIONS_PROFILE, .usage = "NETWORK --steps N [--input SPIKES | --poisson HZ|FILE] [-o RATES] [OPTION...]",
  .about = "Runs a network whose file says how its neurons behave, and prints how often they spike (docs/explanation/running.md).\n"
           "A file does not say how long a step is, nor how it is taken: --dt and --semantics do. Same input, options and seed: same spikes.",
  .flags = flags};
