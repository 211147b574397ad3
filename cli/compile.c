/* coremap compile: an ONNX model in, a program or the compiled model out. */
#include <jansson.h>

#include "cli/cli.h"
#include "base/json.h"

typedef struct arguments {
  cli_line line;
  const char *output, *report, *chip, *timeline, *tiles, *mapping, *measure, *emit, *target;
} arguments;

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUT, "where the program or the model (ONNX) goes, or what another stage makes", CLI_AT(output), "where the compiled model goes"},
  {"chip", "NAME|FILE", CLI_IN, "the chip; its file has a \"machine\" with memory and devices (docs/reference/chip-file.md)", CLI_AT(chip)},
  {"report", "FILE", CLI_OUT, "write what was done as JSON: permutations, pieces, traffic, time", CLI_AT(report)},
  {"measure", "COMMAND", CLI_TEXT, "score orders by running the program on the real target: docs/explanation/orders.md", CLI_AT(measure)},
  {"timeline", "FILE", CLI_OUT, "write what every unit of the chip does when, as Chrome trace JSON", CLI_AT(timeline)},
  {"tiles", "FILE", CLI_OUT, "write the program's pieces as a network (docs/explanation/tiling.md)", CLI_AT(tiles)},
  {"mapping", "FILE", CLI_OUT, "and on which core each lies, as coremap map -o writes it; needs --tiles", CLI_AT(mapping)},
  {"emit", "DIR|FILE.tar", CLI_TEXT, "write the program as C too, as coremap emit does", CLI_AT(emit)},
  {"target", cli_code_targets, CLI_TEXT, "what that code is for", CLI_AT(target)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static int check(void *given)
{
  const arguments *a = given;
  if (a->mapping != NULL && a->tiles == NULL)
    return cli_usage("compile", "--mapping is of tiles: name a file for them with --tiles");
  return a->target == NULL || a->emit != NULL ? -1 : cli_usage("compile", "--target is of code: say where it goes with --emit");
}

static cm_status write_report(const char *path, const json_t *report, cm_error *error)
{
  cm_file file = {0};
  if (path == NULL)
    return CM_OK;
  CM_TRY(cm_file_create(&file, path, error));
  if (cm_json_dumpf(report, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
    cm_file_discard(&file);
    return cm_fail(error, CM_IO, "cannot write %s", path);
  }
  return cm_file_commit(&file, error);
}

static void print_program(const json_t *program)
{
  const json_t *operators = json_object_get(program, "operators"), *traffic = json_object_get(program, "traffic"),
               *time = json_object_get(program, "time"), *order = json_object_get(program, "order"),
               *parameters = json_object_get(traffic, "parameters");
  cli_printf(stdout, "program       %s in %s, %s, %s for %s\n", cli_count(cli_number(operators, "computed"), "operator").text,
         cli_count(cli_number(operators, "pieces"), "piece").text, cli_count(cli_number(program, "subgraphs"), "subgraph").text,
         cli_count(cli_number(program, "instructions"), "instruction").text, cli_size(cli_number(program, "memory_bytes")).text);
  const double layers = cli_number(traffic, "layer_by_layer_bytes");
  cli_printf(stdout, "activations   %s in, %s out", cli_size(cli_number(traffic, "loaded_bytes")).text, cli_size(cli_number(traffic, "stored_bytes")).text);
  if (layers > 0)
    cli_printf(stdout, ": %.3f of layer by layer, %.3f is compulsory", cli_number(traffic, "ratio"), cli_number(traffic, "compulsory_bytes") / layers);
  cli_printf(stdout, "\n");
  cli_printf(stdout, "parameters    %s, of %s\n", cli_size(cli_number(parameters, "loaded_bytes")).text,
         cli_size(cli_number(parameters, "once_bytes")).text);
  cli_printf(stdout, "time          %.1f us, at least %.1f us", cli_number(time, "total_ns") / 1000,
         cli_number(time, "lower_bound_ns") / 1000);
  if (order != NULL)
    cli_printf(stdout, "; in the order of the file %.1f us", cli_number(order, "file_order_ns") / 1000);
  putchar('\n');
  cli_printf(stdout, "beside that   %.1f us on one lane of each device, %.1f us layer by layer, %.1f us split evenly, "
         "%.1f us not split\n",
         cli_number(time, "one_lane_ns") / 1000, cli_number(time, "layer_by_layer_ns") / 1000,
         cli_number(time, "even_split_ns") / 1000, cli_number(time, "unsplit_ns") / 1000);
  if (json_string_value(json_object_get(time, "limit")) != NULL)
    cli_printf(stdout, "limit         %s\n", json_string_value(json_object_get(time, "limit")));
}

static void print_table(const void *given, const json_t *report)
{
  const cli_line *line = given;
  const json_t *bytes = json_object_get(report, "permutation_bytes"), *operators = json_object_get(report, "operators"),
               *verified = json_object_get(report, "verified"), *split = json_object_get(report, "split"),
               *tiles = json_object_get(report, "tiles");
  cli_printf(stdout, "model         %s, opset %" JSON_INTEGER_FORMAT "\n", line->words[0],
         json_integer_value(json_object_get(report, "opset")));
  cli_printf(stdout, "operators     %" JSON_INTEGER_FORMAT " -> %" JSON_INTEGER_FORMAT "\n",
         json_integer_value(json_object_get(operators, "before")),
         json_integer_value(json_object_get(operators, "after")));
  cli_printf(stdout, "permutations  %s -> %s\n", cli_size(cli_number(bytes, "before")).text, cli_size(cli_number(bytes, "after")).text);
  bytes = json_object_get(report, "copy_bytes");
  cli_printf(stdout, "all copies    %s -> %s\n", cli_size(cli_number(bytes, "before")).text, cli_size(cli_number(bytes, "after")).text);
  const json_t *quantized = json_object_get(report, "quantized");
  if (quantized != NULL)
    cli_printf(stdout, "integers      %s in 8 bits, %s\n", cli_count(cli_number(quantized, "products"), "product").text,
           cli_count(cli_number(quantized, "moves"), "move").text);
  const json_t *smallest = json_object_get(report, "smallest_memory");
  if (smallest != NULL)
    cli_printf(stdout, "memory        %.0f bytes do; with %.0f less: %s\n", cli_number(smallest, "bytes"), cli_number(smallest, "step_bytes"),
               json_object_get(smallest, "below") != NULL ? cli_text(smallest, "below") : "nothing is left");
  if (json_object_get(report, "program") != NULL)
    print_program(json_object_get(report, "program"));
  else if (split != NULL)
    cli_printf(stdout, "split         %s in %s\n", cli_count(cli_number(split, "computed"), "operator").text,
           cli_count(cli_number(split, "pieces"), "piece").text);
  if (tiles != NULL)
    cli_printf(stdout, "tiles         %.0f, %s go between them\n", cli_number(tiles, "tiles"), cli_size(cli_number(tiles, "bytes_moved")).text);
  if (json_is_true(json_object_get(verified, "equal")))
    cli_printf(stdout, "verified      largest relative deviation %g\n",
           json_real_value(json_object_get(verified, "largest_relative_deviation")));
  else if (verified != NULL)
    cli_printf(stdout, "not verified  %s\n", json_string_value(json_object_get(verified, "why")));
}

/* The program that was written as C, where that is asked for. */
static cm_status emit(const arguments *a, cm_run *run, cm_error *error)
{
  json_t *report = NULL;
  cm_status status = a->emit == NULL ? CM_OK : cli_emit(a->output, a->emit, json_pack("{s:s*}", "target", a->target), run, &report, error);
  json_decref(report);
  return status;
}

static cm_status compile(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_chip *chip = NULL;
  CM_TRY(cli_check_options("compile", a->line.options, error));
  CM_TRY_IF(a->chip != NULL, cli_chip(a->chip, NULL, NULL, &chip, error));
  cli->whole = true;
  json_t *files = json_pack("{s:s*, s:s*, s:s*, s:s*}", "timeline", a->timeline, "tiles", a->tiles, "mapping", a->mapping, "measure", a->measure);
  cm_status status = cli_compile_files(a->line.file, chip, a->line.options, files, a->output, &cli->run, report, error);
  CM_THEN(status, emit(a, &cli->run, error));
  coremap_chip_free(chip);
  CM_THEN(status, write_report(a->report, *report, error));
  return status;
}

const cli_command cli_command_compile = {
  .name = "compile", .check = check, .make = compile, .print = print_table, .word = "model", .size = sizeof(arguments), .options = CLI_OPTIONS_COMPILE,
  .what = "turn an ONNX model into a program for a chip, or rewrite it so that its permutations move less",
  .usage = "MODEL.onnx -o OUT [OPTION...]",
  .about = "With a chip that runs programs, turns an operator-level model into a program for it: operators are cut in pieces that\n"
           "fit on the chip, ordered, turned to instructions and linked. Else rewrites the model so that its permutations move the\n"
           "fewest bytes. Either computes the same numbers.",
  .flags = flags};
