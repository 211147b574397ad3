/* coremap tile: the pieces of a program as a network, without the program. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

typedef struct arguments {
  const char *model, *chip, *output, *trace, *mapping;
  json_t *options;
  bool json, quiet;
} arguments;

enum { CHIP = 1, SHAPE, MEMORY, SCORES, TIMELINE, MAPPING, SEED, THREADS };

static const cli_flag flags[] = {
  {"chip", "NAME|FILE", CHIP, "a chip whose file has a \"machine\" with \"devices\" (docs/reference/chip-file.md)"},
  {"output", "FILE", CLI_OUTPUT, "where the network goes (.zip, or any ending that coremap convert knows)"},
  {"shape", "NAME=DIMS", SHAPE, "extents of an input that the model leaves open, like input=1x3x224x224; once for each"},
  {"memory", "BYTES", MEMORY, "of on-chip memory instead of the chip's, or 256K, 4M"},
  {"scores", "N", SCORES, "candidates that the search for pieces and orders scores"},
  {"timeline", "FILE", TIMELINE, "what every unit does when, as Chrome trace JSON"},
  {"trace", "FILE", TIMELINE, NULL},
  {"mapping", "FILE", MAPPING, "on which core each tile lies, as coremap map -o writes it"},
  {"seed", "N", SEED, "of the search"},
  {"threads", "N", THREADS, "never changes the result"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  uint64_t seed;
  for (int flag; (flag = cli_next(&cli_command_tile, argc, argv)) != -1;)
    switch (flag) {
    case CHIP: a->chip = cli_input(optarg); break;
    case CLI_OUTPUT: a->output = cli_output(optarg); break;
    case SHAPE: cli_shape_set(a->options, optarg); break;
    case MEMORY:
    case SCORES:
    case THREADS: (void)cli_option_set(a->options, cli_taken(), optarg); break;
    case TIMELINE: a->trace = cli_output(optarg); break;
    case MAPPING: a->mapping = cli_output(optarg); break;
    case SEED:
      if (!cli_whole(optarg, 0, INT64_MAX, &seed))
        return cli_usage("tile", "--seed is a whole number, not \"%s\"", optarg);
      json_object_set_new(a->options, "seed", json_integer((json_int_t)seed));
      break;
    case CLI_JSON: a->json = true; break;
    case CLI_QUIET: a->quiet = true; break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("tile", optind == argc ? "no model is named" : "one model is needed");
  if (a->chip == NULL)
    return cli_usage("tile", "--chip is needed: whose units compute the pieces");
  if (a->output == NULL)
    return cli_usage("tile", "-o is needed: where the network goes");
  a->model = cli_input(argv[optind]);
  return -1;
}

static void print_table(const arguments *a, const json_t *report)
{
  size_t i;
  json_t *device;
  const json_t *tiles = json_object_get(report, "tiles"), *time = json_object_get(json_object_get(report, "program"), "time"),
               *mapping = json_object_get(tiles, "mapping"), *metrics = json_object_get(mapping, "metrics");
  double total = cli_number(time, "total_ns");
  cli_printf(stdout, "model        %s\n", a->model);
  cli_printf(stdout, "tiles        %.0f, %s\n", cli_number(tiles, "tiles"), cli_count(cli_number(tiles, "arcs"), "arc").text);
  cli_printf(stdout, "bytes        %s go between them, %s are held, %s by the largest\n", cli_size(cli_number(tiles, "bytes_moved")).text,
         cli_size(cli_number(tiles, "bytes_held")).text, cli_size(cli_number(tiles, "largest_bytes")).text);
  json_array_foreach(json_object_get(tiles, "devices"), i, device) {
    double units = cli_number(device, "units");
    cli_printf(stdout, "device       %s: %s, %.4g operations, %s busy %.1f %% of the time\n",
           json_string_value(json_object_get(device, "name")), cli_count(cli_number(device, "tiles"), "tile").text,
           cli_number(device, "operations"), cli_count(units, "unit").text, total > 0 ? 100 * cli_number(device, "busy_ns") / units / total : 0);
  }
  cli_printf(stdout, "schedule     %.1f us (lower bound %.1f us)\n", total / 1e3, cli_number(time, "lower_bound_ns") / 1e3);
  if (mapping != NULL)
    cli_printf(stdout, "mapping      %s, hop traffic %.4g bytes, energy %.4g pJ\n", cli_count(cli_number(mapping, "parts"), "core").text,
           cli_number(metrics, "hop_traffic"), cli_number(metrics, "energy_pj"));
}

static cm_status compile(const arguments *a, const coremap_chip *chip, cm_run *run, json_t **report, cm_error *error)
{
  json_t *files = json_pack("{s:s*, s:s*}", "timeline", a->trace, "mapping", a->mapping);
  (void)json_object_set_new(a->options, "stop_after", json_string("tile"));
  return cli_compile_files(a->model, chip, a->options, files, a->output, run, report, error);
}

static int tile(const arguments *a)
{
  cm_error error;
  cli_run cli;
  coremap_chip *chip;
  json_t *report = NULL;
  if (cli_check_options("compile", a->options, &error) != CM_OK || cli_chip(a->chip, NULL, NULL, &chip, &error) != CM_OK)
    return cli_fail(&error);
  cli_run_begin(&cli, a->quiet);
  cm_status status = compile(a, chip, &cli.run, &report, &error);
  cli_run_end(&cli);
  coremap_chip_free(chip);
  if (status != CM_OK)
    return cli_fail(&error);
  if (a->json)
    cli_print_json(report);
  else
    print_table(a, report);
  json_decref(report);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int tile_command(int argc, char **argv)
{
  arguments a = {.options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = tile(&a);
  json_decref(a.options);
  return status;
}

const cli_command cli_command_tile = {
  .name = "tile", .what = "the pieces of a program for an ONNX model, as a network", .run = tile_command,
  .usage = "MODEL.onnx --chip NAME|FILE -o TILES [OPTION...]",
  .about = "Compiles a model and writes the pieces that the chip's units compute as a network: a vertex a piece, its size the bytes\n"
           "that it holds; an axon for what goes between two, its weight the bytes (docs/explanation/tiling.md). `coremap compile --tiles`\n"
           "writes the program too.",
  .flags = flags};
