/* coremap tile: the pieces of a program as a network, without the program. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "core/machine/compile.h"

static const char usage[] =
  "usage: coremap tile MODEL.onnx --chip NAME|FILE -o TILES [OPTION...]\n"
  "\n"
  "Compiles a model and writes the pieces that the chip's units compute as a network: a vertex a piece, its size the bytes\n"
  "that it holds; an axon for what goes between two, its weight the bytes (docs/tiling.md). `coremap compile --tiles`\n"
  "writes the program too.\n"
  "\n"
  "  --chip NAME|FILE     a chip whose file has a \"machine\" with \"devices\" (docs/chip-file.md)\n"
  "  -o, --output FILE    where the network goes (.zip, or any ending that coremap convert knows)\n"
  "  --shape NAME=DIMS    extents of an input that the model leaves open, like input=1x3x224x224; once for each\n"
  "  --memory B           bytes of on-chip memory instead of the chip's, or 256K, 4M\n"
  "  --scores N           candidates that the search for pieces and orders scores\n"
  "  --trace FILE         what every unit does when, in the Chrome trace format\n"
  "  --mapping FILE       on which core each tile lies, as coremap map -o writes it\n"
  "  --seed S             of the search\n"
  "  --threads T          never changes the result\n"
  "  --json               print the figures as JSON\n"
  "  --quiet              no progress\n";

typedef struct arguments {
  const char *model, *chip, *output, *trace, *mapping;
  json_t *options;
  bool json, quiet;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  static const struct option flags[] = {{"chip", required_argument, NULL, 'c'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"shape", required_argument, NULL, 's'},
                                        {"memory", required_argument, NULL, 'M'},
                                        {"scores", required_argument, NULL, 'n'},
                                        {"trace", required_argument, NULL, 't'},
                                        {"mapping", required_argument, NULL, 'm'},
                                        {"seed", required_argument, NULL, 'S'},
                                        {"threads", required_argument, NULL, 'T'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  uint64_t seed;
  for (int flag; (flag = getopt_long(argc, argv, "o:", flags, NULL)) != -1;)
    switch (flag) {
    case 'c': a->chip = cli_input(optarg); break;
    case 'o': a->output = cli_output(optarg); break;
    case 's': cli_shape_set(a->options, optarg); break;
    case 'M': (void)cli_option_set(a->options, "memory", optarg); break;
    case 'n': (void)cli_option_set(a->options, "scores", optarg); break;
    case 't': a->trace = cli_output(optarg); break;
    case 'm': a->mapping = cli_output(optarg); break;
    case 'S':
      if (!cli_whole(optarg, 0, INT64_MAX, &seed))
        return cli_usage("tile", "--seed is a whole number, not \"%s\"", optarg);
      json_object_set_new(a->options, "seed", json_integer((json_int_t)seed));
      break;
    case 'T': (void)cli_option_set(a->options, "threads", optarg); break;
    case 'j': a->json = true; break;
    case 'q': a->quiet = true; break;
    case 'h': fputs(usage, stdout); return EXIT_DONE;
    default: return EXIT_USAGE;
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
  printf("model        %s\n", a->model);
  printf("tiles        %.0f, %.0f arcs\n", cli_number(tiles, "tiles"), cli_number(tiles, "arcs"));
  printf("bytes        %.1f MB go between them, %.1f MB are held, %.1f KB by the largest\n",
         cli_number(tiles, "bytes_moved") / 1e6, cli_number(tiles, "bytes_held") / 1e6,
         cli_number(tiles, "largest_bytes") / 1e3);
  json_array_foreach(json_object_get(tiles, "devices"), i, device) {
    double units = cli_number(device, "units");
    printf("device       %s: %.0f tiles, %.4g operations, %.0f units busy %.1f %% of the time\n",
           json_string_value(json_object_get(device, "name")), cli_number(device, "tiles"),
           cli_number(device, "operations"), units, total > 0 ? 100 * cli_number(device, "busy_ns") / units / total : 0);
  }
  printf("schedule     %.1f us (lower bound %.1f us)\n", total / 1e3, cli_number(time, "lower_bound_ns") / 1e3);
  if (mapping != NULL)
    printf("mapping      %.0f cores, hop traffic %.4g bytes, energy %.4g pJ\n", cli_number(mapping, "parts"),
           cli_number(metrics, "hop_traffic"), cli_number(metrics, "energy_pj"));
}

static int tile(const arguments *a)
{
  cm_error error;
  cli_run cli;
  cm_compile_options options;
  cm_chip *chip;
  json_t *report = NULL;
  if (cm_compile_options_read(a->options, &options, &error) != CM_OK || cli_chip(a->chip, NULL, &chip, &error) != CM_OK)
    return cli_fail(&error);
  options.stop_after = CM_STAGE_TILE;
  options.beside = true;
  options.mapping = a->mapping;
  cli_run_begin(&cli, a->quiet);
  cm_status status = cm_compile(a->model, &options, chip, &cli.run, a->output, a->trace, &report, &error);
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
  arguments a = {.options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = tile(&a);
  json_decref(a.options);
  return status;
}
