/* coremap tile: the pieces of a program as a network, without the program. */
#include <jansson.h>

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *chip, *output, *timeline, *mapping;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME|FILE", CLI_IN, "a chip whose file has a \"machine\" with \"devices\" (docs/reference/chip-file.md)", CLI_AT(chip), "whose units compute the pieces"},
  {"output", "FILE", CLI_OUT, "where the network goes (.zip, or any ending that coremap convert knows)", CLI_AT(output), "where the network goes"},
  {"shape", "NAME=DIMS", CLI_OPTION, "extents of an input that the model leaves open, like input=1x3x224x224; once for each"},
  {"memory", "BYTES", CLI_OPTION, "of on-chip memory instead of the chip's, or 256K, 4M"},
  {"scores", "N", CLI_OPTION, "candidates that the search for pieces and orders scores"},
  {"timeline", "FILE", CLI_OUT, "what every unit does when, as Chrome trace JSON", CLI_AT(timeline)},
  {"trace", "FILE", CLI_OUT, NULL, CLI_AT(timeline)},
  {"mapping", "FILE", CLI_OUT, "on which core each tile lies, as coremap map -o writes it", CLI_AT(mapping)},
  {"seed", "N", CLI_OPTION, "of the search"},
  {"threads", "N", CLI_OPTION, "never changes the result"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static void print_table(const void *given, const json_t *report)
{
  const cli_line *line = given;
  size_t i;
  json_t *device;
  const json_t *tiles = json_object_get(report, "tiles"), *time = json_object_get(json_object_get(report, "program"), "time"),
               *mapping = json_object_get(tiles, "mapping"), *metrics = json_object_get(mapping, "metrics");
  double total = cli_number(time, "total_ns");
  cli_printf(stdout, "model        %s\n", line->file);
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

static cm_status tile(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_chip *chip;
  CM_TRY(cli_check_options("compile", a->line.options, error));
  CM_TRY(cli_chip(a->chip, NULL, NULL, &chip, error));
  (void)json_object_set_new(a->line.options, "stop_after", json_string("tile"));
  const cm_status status = cli_compile_files(a->line.file, chip, a->line.options, json_pack("{s:s*, s:s*}", "timeline", a->timeline, "mapping", a->mapping),
                                             a->output, &cli->run, report, error);
  coremap_chip_free(chip);
  return status;
}

const cli_command cli_command_tile = {
  .name = "tile", .what = "the pieces of a program for an ONNX model, as a network", .make = tile, .print = print_table, .word = "model", .size = sizeof(arguments),
  .usage = "MODEL.onnx --chip NAME|FILE -o TILES [OPTION...]",
  .about = "Compiles a model and writes the pieces that the chip's units compute as a network: a vertex a piece, its size the bytes\n"
           "that it holds; an axon for what goes between two, its weight the bytes (docs/explanation/tiling.md). `coremap compile --tiles`\n"
           "writes the program too.",
  .flags = flags};
