/* coremap generate: networks of published recipes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/generate/generate.h"

enum { NEURONS = 1, FAN_OUT, LAYERS, LAYER, SPREAD, POPULATIONS, SIZE, SCALE, RATES, SEED, THREADS, TO };

static const cli_flag flags[] = {
  {"neurons", "N", NEURONS, "of a reservoir: 2 or more; of a connectome: 139000 unless given"},
  {"fan-out", "X", FAN_OUT, "mean number of targets; 128 unless given, 192 above 32768 neurons, 256 above 131072; layered: 64; connectome: 360"},
  {"layers", "N", LAYERS, "2 or more, 32 unless given"},
  {"layer", "N|WxH", LAYER, "neurons of a layer, a line or a sheet; 32768 unless given"},
  {"spread", "N", SPREAD, "the targets are drawn from so many around the same place; twice the fan-out unless given"},
  {"populations", "N", POPULATIONS, "of a chain, 200 unless given"},
  {"size", "N", SIZE, "neurons of a population of a chain, 10000 unless given"},
  {"scale", "X", SCALE, "of a microcircuit, 0.001 to 10, 1 unless given: 77169 neurons, 298880968 synapses"},
  {"rates", NULL, RATES, "axons weigh the published mean rates of their populations instead of 1"},
  {"seed", "N", SEED, "1 unless given"},
  {"threads", "N", THREADS, "never changes the result"},
  {"output", "FILE", CLI_OUTPUT, "where the network goes"},
  {"to", "NAME", TO,
   "what OUT shall be, whatever it is called: @N, or an ending, like csv.gz; with -o - (standard output) it is needed"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

typedef struct arguments {
  const char *recipe, *output, *to;
  uint32_t neurons, populations, size;
  cm_layered layered;
  double fan_out, scale;
  uint64_t seed;
  unsigned threads;
  bool rates, json, quiet;
} arguments;

static bool real_number(const char *text, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0';
}

/* N, or WxH. */
static bool sheet(const char *text, cm_layered *layered)
{
  char *end;
  layered->height = 1;
  errno = 0;
  unsigned long long width = strtoull(text, &end, 10), height = 1;
  bool good = text[0] >= '0' && text[0] <= '9' && errno == 0 && width <= CM_VERTICES_MAX;
  if (good && *end == 'x') {
    const char *rest = end + 1;
    height = strtoull(rest, &end, 10);
    good = rest[0] >= '0' && rest[0] <= '9' && errno == 0 && height <= CM_VERTICES_MAX;
  }
  layered->width = (uint32_t)width;
  layered->height = (uint32_t)height;
  return good && *end == '\0';
}

static bool count_of(const char *text, uint32_t *count)
{
  return cli_whole32(text, 0, CM_VERTICES_MAX, count);
}

/* Returns -1 to go on, else an exit status. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_generate, argc, argv)) != -1;) {
    bool good = true;
    switch (flag) {
      case NEURONS: good = count_of(optarg, &a->neurons); break;
      case LAYERS: good = count_of(optarg, &a->layered.layers); break;
      case LAYER: good = sheet(optarg, &a->layered); break;
      case SPREAD: good = count_of(optarg, &a->layered.spread); break;
      case POPULATIONS: good = count_of(optarg, &a->populations); break;
      case SIZE: good = count_of(optarg, &a->size); break;
      case FAN_OUT: good = real_number(optarg, &a->fan_out); break;
      case SCALE: good = real_number(optarg, &a->scale); break;
      case RATES: a->rates = true; break;
      case SEED: good = cli_whole(optarg, 0, UINT64_MAX, &a->seed); break;
      case THREADS: good = cli_whole32(optarg, 1, 1024, &a->threads); break;
      case CLI_OUTPUT: a->output = optarg; break;
      case TO: a->to = optarg; break;
      case CLI_QUIET: a->quiet = true; break;
      case CLI_JSON: a->json = true; break;
      default: return cli_ended(flag);
    }
    if (!good)
      return cli_usage("generate", "\"%s\" is no fit number for this option", optarg);
  }
  if (optind + 1 != argc)
    return cli_usage("generate", "one recipe is needed: reservoir, microcircuit, layered, chain or connectome");
  a->recipe = argv[optind];
  if (a->output == NULL)
    return cli_usage("generate", "-o OUT is needed");
  return -1;
}

static cm_status make(const arguments *a, cm_run *run, cm_topology **topology, cm_error *error)
{
  if (strcmp(a->recipe, "layered") == 0) {
    cm_layered shape = a->layered;
    if (a->fan_out > 0)
      shape.fan_out = (uint32_t)a->fan_out;
    if (shape.spread == 0)
      shape.spread = 2 * shape.fan_out;
    return cm_generate_layered(&shape, run, topology, error);
  }
  if (strcmp(a->recipe, "chain") == 0)
    return cm_generate_chain(a->populations, a->size, run, topology, error);
  if (strcmp(a->recipe, "connectome") == 0)
    return cm_generate_connectome(a->neurons > 0 ? a->neurons : 139000, a->fan_out > 0 ? a->fan_out : 360, run, topology, error);
  double fan_out = a->fan_out > 0 ? a->fan_out : cm_reservoir_fan_out(a->neurons);
  return cm_generate_reservoir(a->neurons, fan_out, run, topology, error);
}

/* A network that is made in memory and then written. */
static cm_status in_memory(const arguments *a, cm_run *run, cm_error *error)
{
  cm_topology *topology;
  if (make(a, run, &topology, error) != CM_OK)
    return error->status;
  cm_status status = cli_export(topology, a->output, a->to, run, error);
  if (status == CM_OK && a->json)
    cli_print_counts(topology, NULL);
  else if (status == CM_OK)
    printf("%" PRIu32 " neurons, %" PRIu64 " synapses\n", topology->vertex_count, topology->pin_count);
  cm_topology_free(topology);
  return status;
}

static cm_status microcircuit(const arguments *a, cm_run *run, cm_error *error)
{
  cm_microcircuit counts;
  cm_microcircuit_report report;
  if (cm_microcircuit_counts(a->scale, &counts, error) != CM_OK ||
      cm_generate_microcircuit(a->scale, a->rates, cli_output(a->output), run, &report, error) != CM_OK)
    return error->status;
  if (a->json) {
    json_t *told = json_pack("{s:I, s:I, s:I}", "neurons", (json_int_t)counts.neurons, "synapses", (json_int_t)report.synapses,
                             "pairs", (json_int_t)report.pairs);
    cli_print_json(told);
    json_decref(told);
  } else
    printf("%" PRIu32 " neurons, %" PRIu64 " synapses between %" PRIu64 " pairs\n", counts.neurons, report.synapses,
           report.pairs);
  return CM_OK;
}

static bool known(const char *recipe)
{
  static const char *const recipes[] = {"reservoir", "microcircuit", "layered", "chain", "connectome"};
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
    if (strcmp(recipe, recipes[i]) == 0)
      return true;
  return false;
}

static int generate(int argc, char **argv)
{
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  arguments a = {.scale = 1, .seed = 1, .threads = processors > 0 ? (unsigned)processors : 1, .populations = 200,
                 .size = 10000, .layered = {.layers = 32, .width = 32768, .height = 1, .fan_out = 64}};
  int exit_status = parse(argc, argv, &a);
  if (exit_status != -1)
    return exit_status;
  bool is_reservoir = strcmp(a.recipe, "reservoir") == 0, is_circuit = strcmp(a.recipe, "microcircuit") == 0;
  if (!known(a.recipe))
    return cli_usage("generate", "there is no recipe \"%s\", but reservoir, microcircuit, layered, chain and connectome", a.recipe);
  if (is_reservoir && a.neurons == 0)
    return cli_usage("generate", "--neurons N is needed");
  if (a.fan_out < 0 || a.fan_out > CM_FAN_OUT_MAX)
    return cli_usage("generate", "--fan-out must be at least 1 and at most %d", CM_FAN_OUT_MAX);
  const cm_network_format *zip = cm_network_format_find("topology");
  if (is_circuit && (a.to != NULL ? cm_network_format_find(a.to) : cm_network_format_by_ending(a.output)) != zip)
    return cli_usage("generate", "a microcircuit is written as a topology file: OUT must end in .zip, or --to topology");
  cli_run cli;
  cm_error error;
  cli_run_begin(&cli, a.quiet);
  cli.run.seed = a.seed;
  cli.run.threads = a.threads;
  cm_status status = is_circuit ? microcircuit(&a, &cli.run, &error) : in_memory(&a, &cli.run, &error);
  cli_run_end(&cli);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_generate = {
  .name = "generate", .what = "make a network of a published recipe", .run = generate,
  .usage = "reservoir --neurons N [--fan-out X] [OPTION...] -o OUT\n"
           "microcircuit [--scale X] [--rates] [OPTION...] -o OUT.zip\n"
           "layered [--layers N] [--layer N|WxH] [--fan-out X] [--spread N] [OPTION...] -o OUT\n"
           "chain [--populations N] [--size N] [OPTION...] -o OUT\n"
           "connectome [--neurons N] [--fan-out X] [OPTION...] -o OUT",
  .about = "reservoir: neurons in a cube, connected to near ones and a few far ones, with log-normal rates. OUT's ending names\n"
           "the format, as in coremap convert.\n"
           "layered: each neuron reaches some of those around its like in the next layer.\n"
           "chain: a ring of populations, connected one to one.\n"
           "connectome: synthetic, with heavy-tailed fan-out and fan-in and regions of uneven sizes.\n"
           "microcircuit: the cortical microcircuit of Potjans and Diesmann, written as a topology file.",
  .flags = flags};
