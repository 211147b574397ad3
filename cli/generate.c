/* coremap generate: networks of published recipes. */
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

enum { COUNT = 1, REAL, LAYER, SEED, THREADS };

typedef struct arguments {
  cli_line line; /* its body is the library's options */
  const char *output, *to;
  uint64_t seed;
  uint32_t threads;
} arguments;

static const cli_flag flags[] = {
  {"neurons", "N", COUNT, "of a reservoir: 2 or more; of a connectome: 139000 unless given"},
  {"fan-out", "X", REAL, "mean number of targets; 128 unless given, 192 above 32768 neurons, 256 above 131072; layered: 64; connectome: 360"},
  {"layers", "N", COUNT, "2 or more, 32 unless given"},
  {"layer", "N|WxH", LAYER, "neurons of a layer, a line or a sheet; 32768 unless given"},
  {"spread", "N", COUNT, "the targets are drawn from so many around the same place; twice the fan-out unless given"},
  {"populations", "N", COUNT, "of a chain, 200 unless given"},
  {"size", "N", COUNT, "neurons of a population of a chain, 10000 unless given"},
  {"scale", "X", REAL, "of a microcircuit, 0.001 to 10, 1 unless given: 77169 neurons, 298880968 synapses"},
  {"rates", NULL, CLI_BODY_VALUE, "axons weigh the published mean rates of their populations instead of 1"},
  {"seed", "N", SEED, "1 unless given"},
  {"threads", "N", THREADS, "never changes the result"},
  {"output", "FILE", CLI_TEXT, "where the network goes", CLI_AT(output), "where the network goes"},
  {"to", "NAME", CLI_TEXT,
   "what OUT shall be, whatever it is called: @N, or an ending, like csv.gz; with -o - (standard output) it is needed", CLI_AT(to)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* N, or WxH. */
static bool sheet(const char *text, json_t *body)
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
  (void)json_object_set_new(body, "width", json_integer((json_int_t)width));
  (void)json_object_set_new(body, "height", json_integer((json_int_t)height));
  return good && *end == '\0';
}

static bool count_of(const char *text, json_t *body)
{
  uint32_t count;
  return cli_whole32(text, 0, COREMAP_NEURONS_MAX, &count) && json_object_set_new(body, cli_taken(), json_integer(count)) == 0;
}

static bool real_of(const char *text, json_t *body)
{
  char *end;
  const double value = strtod(text, &end);
  return end != text && *end == '\0' && json_object_set_new(body, strcmp(cli_taken(), "scale") == 0 ? "scale" : "fan_out", json_real(value)) == 0;
}

static int take(void *given, int code)
{
  arguments *a = given;
  json_t *body = a->line.body;
  const bool good = code == COUNT ? count_of(optarg, body) : code == REAL ? real_of(optarg, body) : code == LAYER ? sheet(optarg, body)
                    : code == SEED ? cli_whole(optarg, 0, UINT64_MAX, &a->seed) : cli_whole32(optarg, 1, 1024, &a->threads);
  return good ? -1 : cli_usage("generate", "\"%s\" is no fit number for this option", optarg);
}

static void print_made(CM_UNUSED const void *given, const json_t *report)
{
  const json_t *pairs = json_object_get(report, "pairs");
  cli_printf(stdout, "%s, %s", cli_count(cli_number(report, "neurons"), "neuron").text, cli_count(cli_number(report, "synapses"), "synapse").text);
  if (pairs != NULL)
    cli_printf(stdout, " between %s", cli_count(json_number_value(pairs), "pair").text);
  putchar('\n');
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

static int check(void *given)
{
  const arguments *a = given;
  const char *recipe = a->line.words[0];
  const double fan_out = cli_number(a->line.body, "fan_out");
  if (!known(recipe))
    return cli_usage("generate", "there is no recipe \"%s\", but reservoir, microcircuit, layered, chain and connectome", recipe);
  if (strcmp(recipe, "reservoir") == 0 && cli_number(a->line.body, "neurons") == 0)
    return cli_usage("generate", "--neurons N is needed");
  if (fan_out < 0 || fan_out > COREMAP_FAN_OUT_MAX)
    return cli_usage("generate", "--fan-out must be at least 1 and at most %d", COREMAP_FAN_OUT_MAX);
  if (strcmp(recipe, "microcircuit") == 0 && !is_topology(a))
    return cli_usage("generate", "a microcircuit is written as a topology file: OUT must end in .zip, or --to topology");
  return -1;
}

static cm_status generate(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  char *options, *text;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  cli->run.seed = a->seed;
  cli->run.threads = a->threads > 0 ? a->threads : processors > 0 ? (unsigned)processors : 1;
  CM_TRY(cli_need_format(a->output, a->to, error));
  CM_TRY(cli_json_text(a->line.body, &options, error));
  cm_status status = library_status(coremap_generate_file(a->line.words[0], options, cli_output(a->output), a->to, library_on_run, &cli->run, &text, &cli_why), &cli_why, error);
  free(options);
  CM_THEN(status, cli_report(text, report, error));
  return status;
}

const cli_command cli_command_generate = {
  .name = "generate", .what = "make a network of a published recipe", .take = take, .check = check, .make = generate, .print = print_made,
  .word = "recipe", .size = sizeof(arguments), .defaults = &(const arguments){.seed = 1},
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
