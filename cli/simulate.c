/* coremap simulate: a mapped network in motion. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

typedef struct arguments {
  cli_mapped in;
  const char *spikes, *expected, *events, *out;
  json_t *flags; /* options that are given */
} arguments;

enum { SPIKES = 1, EXPECTED, EVENTS };

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"spikes", "FILE", SPIKES,
   "neurons that fire, a line STEP,NEURON each, steps from 0, all steps of it unless --steps says otherwise; "
   "unless given, at random by their rates"},
  {"expected", "FILE", EXPECTED, "with --function: write all spikes of the images, STEP CORE NEURON a line"},
  {"events", "FILE", EVENTS, "with --function: write what each core does in each step, for coremap calibrate"},
  {"output", "FILE", CLI_OUTPUT, "write there instead of standard output"},
  {"json", NULL, CLI_JSON, "what is printed is JSON, always"},
  {0}};

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_simulate, argc, argv)) != -1;) {
    switch (flag) {
      case CLI_OUTPUT: a->out = cli_output(optarg); break;
      case SPIKES: a->spikes = cli_input(optarg); break;
      case EXPECTED: a->expected = cli_output(optarg); break;
      case EVENTS: a->events = cli_output(optarg); break;
      case CLI_JSON: break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage("simulate", "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      case CLI_HELPED:
      case CLI_MISUSED: return cli_ended(flag);
      default: (void)cli_mapped_take(&a->in, flag);
    }
  }
  return cli_mapped_end(&a->in, "simulate", argc, argv);
}

static cm_status simulate(const arguments *a, cli_run *cli, json_t **report, cm_error *error)
{
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->spikes}, {"expected_file", a->expected}, {"events_file", a->events}, {NULL, NULL}};
  cm_status status = cli_file_options("simulate", a->flags, files, &options, error);
  CM_THEN(status, cli_chip(a->in.chip, a->in.mesh, NULL, &chip, error));
  CM_THEN(status, cli_network(a->in.network, a->in.format, false, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_mapping_open(a->in.mapping, network, chip, library_on_run, &cli->run, &mapping, &why), &why, error));
  CM_THEN(status, library_status(coremap_simulate(mapping, options, library_on_run, &cli->run, &text, &why), &why, error));
  if (status == CM_OK)
    *report = library_json(text);
  free(options);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

static int simulate_command(int argc, char **argv)
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
  cli_run_begin(&cli, a.in.quiet);
  cm_status status = simulate(&a, &cli, &report, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a.out != NULL)
    status = cli_keep_json(a.out, report, &error);
  else if (status == CM_OK)
    cli_print_json(report);
  json_decref(report);
  json_decref(a.flags);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_simulate = {
  .name = "simulate", .what = "simulate the packets of a mapping: step time, latencies, saturation", .run = simulate_command,
  .reads = true, .options = CLI_OPTIONS_SIMULATE,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [OPTION...]",
  .about = "Simulates the packets of a mapping on the chip's routers, with queues and finite buffers, event by event, and prints what\n"
           "came of it as one JSON object (docs/reference/simulation.md). Same input, options and seed: same output.",
  .flags = flags};
