/* coremap compile: an ONNX model in, a program or the compiled model out. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "base/file.h"
#include "base/json.h"

typedef struct arguments {
  const char *model_name, *model, *output, *report, *chip, *timeline, *tiles, *mapping, *measure, *emit, *target;
  json_t *options;
  bool json, quiet;
} arguments;

enum { REPORT = 1, CHIP, TIMELINE, MEASURE, TILES, MAPPING, EMIT, TARGET };

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUTPUT, "where the program or the model (ONNX) goes, or what another stage makes"},
  {"chip", "NAME|FILE", CHIP, "the chip; its file has a \"machine\" with memory and devices (docs/reference/chip-file.md)"},
  {"report", "FILE", REPORT, "write what was done as JSON: permutations, pieces, traffic, time"},
  {"measure", "COMMAND", MEASURE, "score orders by running the program on the real target: docs/explanation/orders.md"},
  {"timeline", "FILE", TIMELINE, "write what every unit of the chip does when, as Chrome trace JSON"},
  {"tiles", "FILE", TILES, "write the program's pieces as a network (docs/explanation/tiling.md)"},
  {"mapping", "FILE", MAPPING, "and on which core each lies, as coremap map -o writes it; needs --tiles"},
  {"emit", "DIR|FILE.tar", EMIT, "write the program as C too, as coremap emit does"},
  {"target", cli_code_targets, TARGET, "what that code is for"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_compile, argc, argv)) != -1;)
    switch (flag) {
    case CLI_OUTPUT: a->output = cli_output(optarg); break;
    case REPORT: a->report = cli_output(optarg); break;
    case CHIP: a->chip = cli_input(optarg); break;
    case TIMELINE: a->timeline = cli_output(optarg); break;
    case MEASURE: a->measure = optarg; break;
    case TILES: a->tiles = cli_output(optarg); break;
    case MAPPING: a->mapping = cli_output(optarg); break;
    case EMIT: a->emit = optarg; break;
    case TARGET: a->target = optarg; break;
    case CLI_JSON: a->json = true; break;
    case CLI_QUIET: a->quiet = true; break;
    case CLI_TAKES_OPTION:
      if (!cli_option_set(a->options, cli_taken(), optarg))
        return cli_usage("compile", "--%s \"%s\" is not text", cli_taken(), optarg);
      break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("compile", optind == argc ? "no model is named" : "one model is needed");
  if (a->output == NULL)
    return cli_usage("compile", "-o is needed: where the compiled model goes");
  if (a->mapping != NULL && a->tiles == NULL)
    return cli_usage("compile", "--mapping is of tiles: name a file for them with --tiles");
  if (a->target != NULL && a->emit == NULL)
    return cli_usage("compile", "--target is of code: say where it goes with --emit");
  a->model = cli_input(a->model_name = argv[optind]);
  return -1;
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
  cli_printf(stdout, "activations   %s in, %s out: %.3f of layer by layer, %.3f is compulsory\n",
         cli_size(cli_number(traffic, "loaded_bytes")).text, cli_size(cli_number(traffic, "stored_bytes")).text,
         cli_number(traffic, "ratio"),
         cli_number(traffic, "compulsory_bytes") / cli_number(traffic, "layer_by_layer_bytes"));
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

static void print_table(const arguments *a, const json_t *report)
{
  const json_t *bytes = json_object_get(report, "permutation_bytes"), *operators = json_object_get(report, "operators"),
               *verified = json_object_get(report, "verified"), *split = json_object_get(report, "split"),
               *tiles = json_object_get(report, "tiles");
  cli_printf(stdout, "model         %s, opset %" JSON_INTEGER_FORMAT "\n", a->model_name,
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

static cm_status compile_file(const arguments *a, const coremap_chip *chip, cm_run *run, json_t **report, cm_error *error)
{
  json_t *files = json_pack("{s:s*, s:s*, s:s*, s:s*}", "timeline", a->timeline, "tiles", a->tiles, "mapping", a->mapping, "measure", a->measure);
  return cli_compile_files(a->model, chip, a->options, files, a->output, run, report, error);
}

/* The program that was written as C, where that is asked for. */
static cm_status emit(const arguments *a, cm_run *run, cm_error *error)
{
  json_t *report = NULL;
  cm_status status = a->emit == NULL ? CM_OK : cli_emit(a->output, a->emit, json_pack("{s:s*}", "target", a->target), run, &report, error);
  json_decref(report);
  return status;
}

static int compile(const arguments *a)
{
  cm_error error;
  cli_run cli;
  coremap_chip *chip = NULL;
  json_t *report = NULL;
  if (cli_check_options("compile", a->options, &error) != CM_OK)
    return cli_fail(&error);
  if (a->chip != NULL && cli_chip(a->chip, NULL, NULL, &chip, &error) != CM_OK)
    return cli_fail(&error);
  cli_run_begin(&cli, a->quiet);
  cli.whole = true;
  cm_status status = compile_file(a, chip, &cli.run, &report, &error);
  CM_THEN(status, emit(a, &cli.run, &error));
  cli_run_end(&cli);
  coremap_chip_free(chip);
  CM_THEN(status, write_report(a->report, report, &error));
  if (status != CM_OK) {
    json_decref(report);
    return cli_fail(&error);
  }
  if (a->json)
    cli_print_json(report);
  else
    print_table(a, report);
  json_decref(report);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int compile_command(int argc, char **argv)
{
  arguments a = {.options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = compile(&a);
  json_decref(a.options);
  return status;
}

const cli_command cli_command_compile = {
  .name = "compile", .run = compile_command, .options = CLI_OPTIONS_COMPILE,
  .what = "turn an ONNX model into a program for a chip, or rewrite it so that its permutations move less",
  .usage = "MODEL.onnx -o OUT [OPTION...]",
  .about = "With a chip that runs programs, turns an operator-level model into a program for it: operators are cut in pieces that\n"
           "fit on the chip, ordered, turned to instructions and linked. Else rewrites the model so that its permutations move the\n"
           "fewest bytes. Either computes the same numbers.",
  .flags = flags};
