/* coremap simulate: a mapped network in motion. */

#include "cli/cli.h"

typedef struct arguments {
  cli_mapped in;
  const char *spikes, *expected, *events, *out;
} arguments;

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"spikes", "FILE", CLI_IN,
   "neurons that fire, a line STEP,NEURON each, steps from 0, all steps of it unless --steps says otherwise; "
   "unless given, at random by their rates", CLI_AT(spikes)},
  {"expected", "FILE", CLI_OUT, "with --function: write all spikes of the images, STEP CORE NEURON a line", CLI_AT(expected)},
  {"events", "FILE", CLI_OUT, "with --function: write what each core does in each step, for coremap calibrate", CLI_AT(events)},
  {"output", "FILE", CLI_OUT, "write there instead of standard output", CLI_AT(out)},
  CLI_JSON_SAYS("what is printed is JSON, always"),
  {0}};

static cm_status simulate(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->spikes}, {"expected_file", a->expected}, {"events_file", a->events}, {NULL, NULL}};
  cm_status status = cli_file_options("simulate", a->in.line.options, files, &options, error);
  CM_THEN(status, cli_chip(a->in.chip, a->in.mesh, NULL, &chip, error));
  CM_THEN(status, cli_network(a->in.line.file, a->in.format, false, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_mapping_open(a->in.mapping, network, chip, library_on_run, &cli->run, &mapping, &cli_why), &cli_why, error));
  CM_THEN(status, library_status(coremap_simulate(mapping, options, library_on_run, &cli->run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
  if (status == CM_OK && a->out != NULL) {
    status = cli_keep_json(a->out, *report, error);
    json_decref(*report);
    *report = NULL;
  }
  free(options);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

const cli_command cli_command_simulate = {
  .name = "simulate", .what = "simulate the packets of a mapping: step time, latencies, saturation", .make = simulate, .check = cli_mapped_check, .most = 1, .size = sizeof(arguments),
  .reads = true, .options = CLI_OPTIONS_SIMULATE,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [OPTION...]",
  .about = "Simulates the packets of a mapping on the chip's routers, with queues and finite buffers, event by event, and prints what\n"
           "came of it as one JSON object (docs/reference/simulation.md). Same input, options and seed: same output.",
  .flags = flags};
