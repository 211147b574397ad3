/* coremap tile: an ONNX model as micro-operators for the devices of a chip. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "core/machine/tiles/tiles.h"

static const char usage[] =
  "usage: coremap tile MODEL.onnx --chip NAME|FILE -o TILES [OPTION...]\n"
  "\n"
  "Cuts every operator in micro-operators that the devices of the chip share by their capability, and writes their\n"
  "graph as a network: a vertex a micro-operator, its size the bytes that it holds; an axon for what goes between two,\n"
  "its weight the bytes. `coremap map TILES` lays it on cores.\n"
  "\n"
  "  --chip NAME|FILE     a chip whose file has \"machine\" with \"devices\" (docs/chip-file.md)\n"
  "  -o, --output FILE    where the network goes (.zip, or any ending that coremap convert knows)\n"
  "  --shape NAME=DIMS    extents of an input that the model leaves open, like input=1x3x224x224; once for each\n"
  "  --pieces N           at most so many micro-operators an operator (64)\n"
  "  --trace FILE         the schedule on the devices' cores, in the Chrome trace format\n"
  "  --mapping FILE       lay the tiles on the chip's cores too: as coremap map -o writes it\n"
  "  --preset NAME        of that mapping: fast (default), balanced, best\n"
  "  --seed S             of that mapping\n"
  "  --threads T          never changes the result\n"
  "  --json               print the figures as JSON\n"
  "  --quiet              no progress\n";

typedef struct arguments {
  const char *model, *chip, *output;
  cm_tiles_options options;
  json_t *map_options;
  cm_stated_shapes shapes;
  uint64_t seed;
  unsigned threads;
  bool json, quiet;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  static const struct option flags[] = {{"chip", required_argument, NULL, 'c'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"pieces", required_argument, NULL, 'p'},
                                        {"shape", required_argument, NULL, 's'},
                                        {"trace", required_argument, NULL, 't'},
                                        {"mapping", required_argument, NULL, 'm'},
                                        {"preset", required_argument, NULL, 'P'},
                                        {"seed", required_argument, NULL, 'S'},
                                        {"threads", required_argument, NULL, 'T'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  cm_error error;
  for (int flag; (flag = getopt_long(argc, argv, "o:", flags, NULL)) != -1;)
    switch (flag) {
    case 'c': a->chip = cli_input(optarg); break;
    case 'o': a->output = cli_output(optarg); break;
    case 'p':
      if (!cli_whole32(optarg, 1, 1 << 24, &a->options.pieces_max))
        return cli_usage("tile", "--pieces is 1 to %d, not \"%s\"", 1 << 24, optarg);
      break;
    case 's':
      if (cm_stated_shapes_parse(optarg, &a->shapes, &error) != CM_OK)
        return cli_fail(&error);
      break;
    case 't': a->options.trace = cli_output(optarg); break;
    case 'm': a->options.mapping = cli_output(optarg); break;
    case 'P': json_object_set_new(a->map_options, "preset", json_string(optarg)); break;
    case 'S':
      if (!cli_whole(optarg, 0, INT64_MAX, &a->seed))
        return cli_usage("tile", "--seed is a whole number, not \"%s\"", optarg);
      json_object_set_new(a->map_options, "seed", json_integer((json_int_t)a->seed));
      break;
    case 'T':
      if (!cli_whole32(optarg, 1, 1024, &a->threads))
        return cli_usage("tile", "--threads is 1 to 1024, not \"%s\"", optarg);
      break;
    case 'j': a->json = true; break;
    case 'q': a->quiet = true; break;
    case 'h': fputs(usage, stdout); return EXIT_DONE;
    default: return EXIT_USAGE;
    }
  if (optind + 1 != argc)
    return cli_usage("tile", optind == argc ? "no model is named" : "one model is needed");
  if (a->chip == NULL)
    return cli_usage("tile", "--chip is needed: whose devices share the operators");
  if (a->output == NULL)
    return cli_usage("tile", "-o is needed: where the network goes");
  a->model = cli_input(argv[optind]);
  return -1;
}

static void print_table(const arguments *a, const json_t *report)
{
  size_t i;
  json_t *device;
  printf("model        %s, %.0f operators\n", a->model, cli_number(report, "operators"));
  printf("tiles        %.0f micro-operators, %.0f arcs\n", cli_number(report, "micro_operators"),
         cli_number(report, "arcs"));
  printf("bytes        %.1f MB go between them, %.1f MB are held, %.1f KB by the largest\n",
         cli_number(report, "bytes_moved") / 1e6, cli_number(report, "bytes_held") / 1e6,
         cli_number(report, "largest_bytes") / 1e3);
  json_array_foreach(json_object_get(report, "devices"), i, device) {
    double cores = cli_number(device, "cores"), makespan = cli_number(report, "makespan_ns");
    printf("device       %s: %.0f micro-operators, %.0f elements, %.0f cores busy %.1f %% of the time\n",
           json_string_value(json_object_get(device, "name")), cli_number(device, "micro_operators"),
           cli_number(device, "elements"), cores,
           makespan > 0 ? 100 * cli_number(device, "busy_ns") / cores / makespan : 0);
  }
  printf("schedule     %.1f us (lower bound %.1f us)\n", cli_number(report, "makespan_ns") / 1e3,
         cli_number(report, "lower_bound_ns") / 1e3);
  const json_t *mapping = json_object_get(report, "mapping"), *metrics = json_object_get(mapping, "metrics");
  if (mapping != NULL)
    printf("mapping      %.0f cores, hop traffic %.4g bytes, energy %.4g pJ\n", cli_number(mapping, "parts"),
           cli_number(metrics, "hop_traffic"), cli_number(metrics, "energy_pj"));
}

static cm_status make(arguments *a, const cm_chip *chip, cli_run *cli, json_t **report, cm_error *error)
{
  char scratch[CM_PATH_MAX] = "";
  cm_error ignored;
  if (a->options.mapping != NULL && cli_scratch(scratch, error) != CM_OK)
    return error->status;
  a->options.scratch_folder = scratch;
  a->options.map_options = a->map_options;
  a->options.shapes = &a->shapes;
  cm_status status = cm_tiles_make_file(a->model, chip, &a->options, &cli->run, a->output, report, error);
  if (scratch[0] != '\0')
    (void)cm_folder_remove(scratch, &ignored);
  return status;
}

static int tile(arguments *a)
{
  cm_error error;
  cli_run cli;
  cm_chip *chip;
  json_t *report = NULL;
  if (cli_chip(a->chip, NULL, &chip, &error) != CM_OK)
    return cli_fail(&error);
  cli_run_begin(&cli, a->quiet);
  cli.run.threads = a->threads;
  cli.run.seed = a->seed;
  cm_status status = make(a, chip, &cli, &report, &error);
  cli_run_end(&cli);
  cm_chip_free(chip);
  if (status != CM_OK)
    return cli_fail(&error);
  if (a->json)
    cli_print_json(report);
  else
    print_table(a, report);
  json_decref(report);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

int cli_tile(int argc, char **argv)
{
  arguments a = {.threads = 1, .seed = 1, .map_options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = tile(&a);
  json_decref(a.map_options);
  return status;
}
