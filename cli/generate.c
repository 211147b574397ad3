/* coremap generate: networks of published recipes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

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
  json_t *options; /* that are given */
  uint64_t seed;
  uint32_t neurons;
  double fan_out;
  unsigned threads;
  bool json, quiet;
} arguments;

static bool real_number(const char *text, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0';
}

static void set_whole(arguments *a, const char *name, uint64_t value)
{
  (void)json_object_set_new(a->options, name, json_integer((json_int_t)value));
}

/* N, or WxH. */
static bool sheet(const char *text, arguments *a)
{
  char *end;
  errno = 0;
  unsigned long long width = strtoull(text, &end, 10), height = 1;
  bool good = text[0] >= '0' && text[0] <= '9' && errno == 0 && width <= COREMAP_NEURONS_MAX;
  if (good && *end == 'x') {
    const char *rest = end + 1;
    height = strtoull(rest, &end, 10);
    good = rest[0] >= '0' && rest[0] <= '9' && errno == 0 && height <= COREMAP_NEURONS_MAX;
  }
  set_whole(a, "width", width);
  set_whole(a, "height", height);
  return good && *end == '\0';
}

static bool count_of(const char *text, arguments *a, const char *name, uint32_t *count)
{
  if (!cli_whole32(text, 0, COREMAP_NEURONS_MAX, count))
    return false;
  set_whole(a, name, *count);
  return true;
}

static bool real_of(const char *text, arguments *a, const char *name, double *value)
{
  if (!real_number(text, value))
    return false;
  (void)json_object_set_new(a->options, name, json_real(*value));
  return true;
}

/* Returns -1 to go on, else an exit status. */
static int parse(int argc, char **argv, arguments *a)
{
  uint32_t count;
  double scale;
  for (int flag; (flag = cli_next(&cli_command_generate, argc, argv)) != -1;) {
    bool good = true;
    switch (flag) {
      case NEURONS: good = count_of(optarg, a, "neurons", &a->neurons); break;
      case LAYERS:
      case SPREAD:
      case POPULATIONS:
      case SIZE: good = count_of(optarg, a, cli_taken(), &count); break;
      case LAYER: good = sheet(optarg, a); break;
      case FAN_OUT: good = real_of(optarg, a, "fan_out", &a->fan_out); break;
      case SCALE: good = real_of(optarg, a, "scale", &scale); break;
      case RATES: (void)json_object_set_new(a->options, "rates", json_true()); break;
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

static void print_made(const json_t *report)
{
  const json_t *pairs = json_object_get(report, "pairs");
  cli_printf(stdout, "%s, %s", cli_count(cli_number(report, "neurons"), "neuron").text, cli_count(cli_number(report, "synapses"), "synapse").text);
  if (pairs != NULL)
    cli_printf(stdout, " between %s", cli_count(json_number_value(pairs), "pair").text);
  putchar('\n');
}

static cm_status make(const arguments *a, cm_run *run, cm_error *error)
{
  char *options, *text;
  coremap_error *why = NULL;
  CM_TRY(cli_need_format(a->output, a->to, error));
  CM_TRY(cli_json_text(a->options, &options, error));
  cm_status status = library_status(coremap_generate_file(a->recipe, options, cli_output(a->output), a->to,
                                                          library_on_run, run, &text, &why), &why, error);
  free(options);
  if (status != CM_OK)
    return status;
  json_t *report = library_json(text);
  if (a->json)
    cli_print_json(report);
  else
    print_made(report);
  json_decref(report);
  return CM_OK;
}

/* Whether what is written is a topology file. */
static bool is_topology(const arguments *a)
{
  size_t length = strlen(a->output);
  return a->to != NULL ? strcmp(a->to, "topology") == 0 : length >= 4 && strcasecmp(a->output + length - 4, ".zip") == 0;
}

static bool known(const char *recipe)
{
  static const char *const recipes[] = {"reservoir", "microcircuit", "layered", "chain", "connectome"};
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
    if (strcmp(recipe, recipes[i]) == 0)
      return true;
  return false;
}

/* An exit status; -1: go on. */
static int check(const arguments *a)
{
  if (!known(a->recipe))
    return cli_usage("generate", "there is no recipe \"%s\", but reservoir, microcircuit, layered, chain and connectome", a->recipe);
  if (strcmp(a->recipe, "reservoir") == 0 && a->neurons == 0)
    return cli_usage("generate", "--neurons N is needed");
  if (a->fan_out < 0 || a->fan_out > COREMAP_FAN_OUT_MAX)
    return cli_usage("generate", "--fan-out must be at least 1 and at most %d", COREMAP_FAN_OUT_MAX);
  if (strcmp(a->recipe, "microcircuit") == 0 && !is_topology(a))
    return cli_usage("generate", "a microcircuit is written as a topology file: OUT must end in .zip, or --to topology");
  return -1;
}

static int generate(int argc, char **argv)
{
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  arguments a = {.options = json_object(), .seed = 1, .threads = processors > 0 ? (unsigned)processors : 1};
  int exit_status = parse(argc, argv, &a);
  if (exit_status == -1)
    exit_status = check(&a);
  if (exit_status != -1) {
    json_decref(a.options);
    return exit_status;
  }
  cli_run cli;
  cm_error error;
  cli_run_begin(&cli, a.quiet);
  cli.run.seed = a.seed;
  cli.run.threads = a.threads;
  cm_status status = make(&a, &cli.run, &error);
  cli_run_end(&cli);
  json_decref(a.options);
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
