/* coremap simulate: a mapped network in motion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "base/file.h"
#include "base/json.h"
#include "core/verify/check.h"
#include "core/mapping/map.h"
#include "core/mapping/simulate/request.h"

typedef struct arguments {
  cli_mapped in;
  const char *spikes, *out;
  json_t *flags; /* options that are given */
  cm_simulate_request request;
} arguments;

enum { SPIKES = 1 };

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"spikes", "FILE", SPIKES, "neurons that fire, a line STEP,NEURON each, both from 0, all steps of it unless --steps says otherwise; "
                             "unless given, at random by their rates"},
  {"output", "FILE", CLI_OUTPUT, "write there instead of standard output"},
  {"json", NULL, CLI_JSON, "what is printed is JSON, always"},
  {0}};

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_simulate, argc, argv)) != -1;) {
    switch (flag) {
      case CLI_OUTPUT: a->out = cli_output(optarg); break;
      case SPIKES: a->spikes = cli_input(optarg); break;
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
  int ended = cli_mapped_end(&a->in, "simulate", argc, argv);
  if (ended >= 0)
    return ended;
  bool stream = json_object_get(a->flags, "load") != NULL || json_object_get(a->flags, "saturation") != NULL;
  if (a->spikes != NULL && stream)
    return cli_usage("simulate", "--spikes is for time steps; --load and --saturation go by the network's rates: leave one out");
  return -1;
}

static cm_status simulate(const arguments *a, cli_run *cli, json_t **report, cm_error *error)
{
  cm_chip *chip = NULL;
  cm_topology *topology = NULL;
  cm_import_report ignored;
  uint32_t *part = NULL, *core = NULL, parts = 0;
  cm_status status = cli_chip(a->in.chip, a->in.mesh, &chip, error);
  if (status == CM_OK)
    status = cli_import(a->in.network, a->in.format, &cli->run, &topology, &ignored, error);
  if (status == CM_OK)
    status = cm_mapping_file_set_inputs(a->in.mapping, chip, topology, &cli->run, error);
  if (status == CM_OK)
    status = cm_mapping_read_places(a->in.mapping, topology->vertex_count, chip, &cli->run, &part, &parts, &core, error);
  cm_simulate_options options = a->request.options;
  cm_spikes spikes = {0};
  if (status == CM_OK && a->spikes != NULL)
    status = cm_spikes_read(a->spikes, a->spikes, topology->vertex_count, &cli->run, &spikes, error);
  if (status == CM_OK && a->spikes != NULL) {
    options.spikes = &spikes;
    options.steps = json_object_get(a->flags, "steps") != NULL ? options.steps : spikes.steps;
  }
  if (status == CM_OK)
    status = cm_packets_simulate(topology, chip, part, parts, core, &options, &cli->run, report, error);
  cm_spikes_free(&spikes);
  cm_free(part);
  cm_free(core);
  cm_topology_free(topology);
  cm_chip_free(chip);
  return status;
}

static cm_status write_report(const char *path, const json_t *report, cm_error *error)
{
  cm_file file;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (cm_json_dumpf(report, file.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0)
    fputc('\n', file.stream);
  return cm_file_commit(&file, error);
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
  cm_status status = cm_simulate_options_read(a.flags, &a.request, &error);
  if (status == CM_OK) {
    if (json_object_get(a.flags, "threads") != NULL)
      cli.run.threads = a.request.threads;
    if (a.request.time_limit > 0)
      cli.run.deadline = cm_now() + a.request.time_limit;
    cli.memory.limit_bytes = a.request.memory_limit;
    status = simulate(&a, &cli, &report, &error);
  }
  cli_run_end(&cli);
  if (status == CM_OK && a.out != NULL)
    status = write_report(a.out, report, &error);
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
           "came of it as one JSON object (docs/simulation.md). Same input, options and seed: same output.",
  .flags = flags};
