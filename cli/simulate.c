/* coremap simulate: a mapped network in motion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/mapping/check/check.h"
#include "core/mapping/simulate/frames.h"
#include "core/mapping/simulate/simulate.h"

typedef struct arguments {
  cli_mapped in;
  const char *spikes, *out;
  cm_simulate_options options;
  uint32_t threads;
  bool steps;
} arguments;

enum { SPIKES = 1, STEPS, LOAD, SATURATION, COMMUNICATION, BUFFERS, PACKETS, SEED, THREADS, FRAMES };

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"steps", "N", STEPS, "time steps, each from rest; 1, or all of --spikes; none with --load or --saturation"},
  {"spikes", "FILE", SPIKES, "neurons that fire, a line STEP,NEURON each, both from 0; unless given, at random by their rates"},
  {"load", "X", LOAD, "a steady stream of X steps a ns: latencies under load"},
  {"saturation", NULL, SATURATION, "the highest load that the network carries, and latencies up to it"},
  {"communication", "unicast|multicast", COMMUNICATION,
   "unicast (unless given): a packet a target core; multicast: copied where ways part"},
  {"buffers", "N", BUFFERS, "packets that an input of a router or core holds; 16 unless given"},
  {"packets", "N", PACKETS, "length of a stream; 200000 unless given"},
  {"frames", "N", FRAMES, "count what passes each router in the first step in so many frames of time at most; 0 unless given"},
  {"seed", "N", SEED, "which neurons fire when"},
  {"threads", "N", THREADS, "never changes the result"},
  {"output", "FILE", CLI_OUTPUT, "write there instead of standard output"},
  {"json", NULL, CLI_JSON, "what is printed is JSON, always"},
  {0}};

static int bad_value(const char *flag, const char *expected)
{
  return cli_usage("simulate", "--%s expects %s", flag, expected);
}

static int parse_value(int flag, arguments *a)
{
  char *end;
  switch (flag) {
    case STEPS:
      a->steps = true;
      return cli_whole32(optarg, 1, 100000, &a->options.steps) ? -1 : bad_value("steps", "a whole number from 1 to 100000");
    case LOAD:
      a->options.load = strtod(optarg, &end);
      return *end == '\0' && end != optarg && a->options.load > 0 && a->options.load < 1e9
               ? -1
               : bad_value("load", "steps a ns, above 0");
    case COMMUNICATION:
      a->options.multicast = strcmp(optarg, "multicast") == 0;
      return a->options.multicast || strcmp(optarg, "unicast") == 0 ? -1
                                                                    : bad_value("communication", "unicast or multicast");
    case BUFFERS:
      return cli_whole32(optarg, 1, 1 << 20, &a->options.buffers) ? -1
                                                                  : bad_value("buffers", "a whole number from 1 to 1048576");
    case PACKETS:
      return cli_whole(optarg, 1000, UINT64_C(1) << 40, &a->options.packets)
               ? -1
               : bad_value("packets", "a whole number from 1000 to 1099511627776");
    case FRAMES:
      return cli_whole32(optarg, 0, CM_FRAMES_MAX, &a->options.frames) ? -1 : bad_value("frames", "a whole number from 0 to 64");
    case SEED:
      return cli_whole(optarg, 0, INT64_MAX, &a->options.seed) ? -1 : bad_value("seed", "a whole number");
    default:
      return cli_whole32(optarg, 1, 256, &a->threads) ? -1 : bad_value("threads", "a whole number from 1 to 256");
  }
}

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag, wrong; (flag = cli_next(&cli_command_simulate, argc, argv)) != -1;) {
    switch (flag) {
      case CLI_OUTPUT: a->out = cli_output(optarg); break;
      case SPIKES: a->spikes = cli_input(optarg); break;
      case SATURATION: a->options.saturation = true; break;
      case CLI_JSON: break;
      case CLI_HELPED:
      case CLI_MISUSED: return cli_ended(flag);
      default:
        if (!cli_mapped_take(&a->in, flag) && (wrong = parse_value(flag, a)) >= 0)
          return wrong;
    }
  }
  int ended = cli_mapped_end(&a->in, "simulate", argc, argv);
  if (ended >= 0)
    return ended;
  if (a->spikes != NULL && (a->options.load > 0 || a->options.saturation))
    return cli_usage("simulate", "--spikes is for time steps; --load and --saturation go by the network's rates: leave one out");
  if (!a->steps && (a->options.load > 0 || a->options.saturation))
    a->options.steps = 0;
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
    status = cm_mapping_read_places(a->in.mapping, topology->vertex_count, chip, &cli->run, &part, &parts, &core, error);
  cm_simulate_options options = a->options;
  cm_spikes spikes = {0};
  if (status == CM_OK && a->spikes != NULL)
    status = cm_spikes_read(a->spikes, topology->vertex_count, &cli->run, &spikes, error);
  if (status == CM_OK && a->spikes != NULL) {
    options.spikes = &spikes;
    options.steps = a->steps ? options.steps : spikes.steps;
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
  arguments a = {.options = cm_simulate_defaults};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cli_run cli;
  cm_error error;
  json_t *report = NULL;
  cli_run_begin(&cli, a.in.quiet);
  if (a.threads > 0)
    cli.run.threads = a.threads;
  cm_status status = simulate(&a, &cli, &report, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a.out != NULL)
    status = write_report(a.out, report, &error);
  else if (status == CM_OK)
    cli_print_json(report);
  json_decref(report);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_simulate = {
  .name = "simulate", .what = "simulate the packets of a mapping: step time, latencies, saturation", .run = simulate_command,
  .reads = true,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [OPTION...]",
  .about = "Simulates the packets of a mapping on the chip's routers, with queues and finite buffers, event by event, and prints what\n"
           "came of it as one JSON object (docs/simulation.md). Same input, options and seed: same output.",
  .flags = flags};
