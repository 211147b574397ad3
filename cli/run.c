/* coremap run, coremap disassemble: programs that coremap compile made. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { FILES_MAX = 256 };

enum { INPUT = 1, OUTPUT_DIR, MODEL, TIMELINE, SEED, CHECK, TIME_ALONE, NODES };

static const cli_flag flags[] = {
  {"input", "[NAME=]FILE", INPUT,
   "an input: .npy, .npz (the member NAME), or raw little-endian elements; without NAME they are taken in the program's order. "
   "Inputs that are not given are random: -1 to 1, or any byte"},
  {"output", "PREFIX", CLI_OUTPUT, "write the outputs to PREFIX.0.npy, PREFIX.1.npy, ..."},
  {"output-dir", "DIR", OUTPUT_DIR, "write each output's raw elements to DIR/NAME.f32 (.i64, ... by its type)"},
  {"check", NULL, CHECK, "prove that nothing is read that was not written or was overwritten, in any timing"},
  {"model", "MODEL.onnx", MODEL, "compute the model on the same inputs and print how far the outputs deviate"},
  {"timeline", "FILE", TIMELINE, "write what every unit does when, as Chrome trace JSON"},
  {"seed", "N", SEED, "of random inputs"},
  {"time", NULL, TIME_ALONE, "time alone, computes nothing"},
  {"nodes", NULL, NODES, "print a row for each node of the model and each tensor that is moved: where the time goes"},
  CLI_JSON_FLAG,
  {0}};

typedef struct arguments {
  const char *program, *model, *output, *output_dir, *timeline, *inputs[FILES_MAX];
  size_t input_count;
  uint64_t seed;
  bool check, json, time_alone, nodes;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_run, argc, argv)) != -1;)
    switch (flag) {
    case INPUT:
      if (a->input_count == FILES_MAX)
        return cli_usage("run", "at most %d inputs can be given", FILES_MAX);
      a->inputs[a->input_count++] = optarg;
      break;
    case CLI_OUTPUT: a->output = optarg; break;
    case OUTPUT_DIR: a->output_dir = optarg; break;
    case MODEL: a->model = cli_input(optarg); break;
    case TIMELINE: a->timeline = cli_output(optarg); break;
    case SEED:
      if (!cli_whole(optarg, 0, UINT64_MAX, &a->seed))
        return cli_usage("run", "--seed is a whole number, not \"%s\"", optarg);
      break;
    case CHECK: a->check = true; break;
    case TIME_ALONE: a->time_alone = true; break;
    case NODES: a->nodes = true; break;
    case CLI_JSON: a->json = true; break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("run", optind == argc ? "no program is named" : "one program is needed");
  a->program = cli_input(argv[optind]);
  return -1;
}

/* ---- what is asked ---- */

/* Whether NAME of NAME=FILE is an input of the program; *file is then behind the sign. */
static bool names_input(const char *given, const json_t *inputs, const char **file)
{
  const json_t *input;
  size_t i;
  json_array_foreach(inputs, i, input) {
    const char *name = cli_text(input, "name");
    size_t length = strlen(name);
    if (strncmp(given, name, length) == 0 && given[length] == '=') {
      *file = given + length + 1;
      return true;
    }
  }
  return false;
}

/* The files of inputs, as they can be read. */
static json_t *list_inputs(const arguments *a, const json_t *inputs)
{
  json_t *list = json_array();
  for (size_t k = 0; k < a->input_count; k++) {
    const char *given = a->inputs[k], *file;
    json_t *one = names_input(given, inputs, &file) ? json_sprintf("%.*s%s", (int)(file - given), given, cli_input(file))
                                                    : json_string(cli_input(given));
    if (json_array_append_new(list, one) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

static cm_status make_options(const arguments *a, const json_t *about, char **options, cm_error *error)
{
  json_t *inputs = list_inputs(a, json_object_get(about, "inputs"));
  json_t *asked = inputs == NULL ? NULL
                                 : json_pack("{s:o, s:s*, s:s*, s:s*, s:s*, s:I, s:b, s:b, s:b}", "inputs", inputs, "output", a->output,
                                             "output_dir", a->output_dir, "timeline", a->timeline, "model", a->model, "seed",
                                             (json_int_t)a->seed, "check", a->check, "time", a->time_alone, "nodes", a->nodes);
  cm_status status = asked != NULL ? cli_json_text(asked, options, error) : cm_fail(error, CM_BAD_REQUEST, "the name of a file is not text");
  json_decref(asked);
  return status;
}

/* ---- the command ---- */

static void print_nodes(const json_t *nodes)
{
  const json_t *one;
  size_t i;
  if (nodes != NULL)
    cli_printf(stdout, "%-12s %-10s %11s %7s %6s %8s %10s %10s %-6s %s\n", "operator", "device", "us", "share", "used", "critical", "outside", "on chip", "waits", "node");
  json_array_foreach(nodes, i, one) {
    const json_t *memory = json_object_get(one, "memory");
    cli_printf(stdout, "%-12s %-10s %11.3f %6.1f%% %5.1f%% %7.1f%% %10.0f %10.0f %-6s %s\n", cli_text(one, "operator"), cli_text(one, "device"),
               cli_number(one, "busy_ns") / 1000, 100 * cli_number(one, "share"), 100 * cli_number(one, "utilisation"), 100 * cli_number(one, "path_share"),
               cli_number(memory, "outside_read") + cli_number(memory, "outside_written"), cli_number(memory, "chip_read") + cli_number(memory, "chip_written"),
               cli_text(one, "waits"), cli_text(one, "node"));
  }
}

static void print_result(const arguments *a, const json_t *about, const json_t *r)
{
  const double time_ns = cli_number(r, "time_ns");
  const char *name;
  json_t *unit;
  print_nodes(json_object_get(r, "nodes"));
  cli_printf(stdout, "time         %.3f us on %s, %s\n", time_ns / 1000, cli_text(r, "chip"), cli_count(cli_number(r, "instructions"), "instruction").text);
  json_object_foreach(json_object_get(r, "units"), name, unit) {
    double lanes = cli_number(unit, "lanes");
    cli_printf(stdout, "%-12s %s, busy %.1f %%\n", name, cli_count(lanes, "lane").text, time_ns > 0 ? 100 * cli_number(unit, "busy_ns") / time_ns / lanes : 0);
  }
  cli_printf(stdout, "activations  %s in, %s out\n", cli_size(cli_number(r, "loaded_bytes")).text, cli_size(cli_number(r, "stored_bytes")).text);
  cli_printf(stdout, "parameters   %s\n", cli_size(cli_number(r, "parameter_bytes")).text);
  if (!a->time_alone)
    cli_printf(stdout, "memory       %s of %s used\n", cli_size(cli_number(r, "peak_bytes")).text, cli_size(cli_number(about, "memory_bytes")).text);
  if (a->check)
    fputs("checked      nothing is read that was not written or was overwritten, in any timing of the units\n", stdout);
  if (a->model != NULL)
    cli_printf(stdout, "model        largest relative deviation %g\n", cli_number(r, "largest_relative_deviation"));
}

static cm_status simulate(const arguments *a, cm_run *run, json_t **about, json_t **report, cm_error *error)
{
  coremap_program *program = NULL;
  coremap_error *why = NULL;
  char *text = NULL, *options = NULL;
  cm_status status = cli_read_program(a->program, run, &program, error);
  CM_THEN(status, library_status(coremap_program_about(program, &text, &why), &why, error));
  if (status == CM_OK) {
    *about = library_json(text);
    status = make_options(a, *about, &options, error);
  }
  CM_THEN(status, library_status(coremap_program_run(program, options, library_on_run, run, &text, &why), &why, error));
  if (status == CM_OK)
    *report = library_json(text);
  free(options);
  coremap_program_free(program);
  return status;
}

static int run_program(int argc, char **argv)
{
  arguments a = {.seed = 1};
  cm_error error;
  cli_run cli;
  json_t *about = NULL, *report = NULL;
  int exit_status = parse(argc, argv, &a);
  if (exit_status >= 0)
    return exit_status;
  cli_run_begin(&cli, true);
  cm_status status = simulate(&a, &cli.run, &about, &report, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a.json)
    cli_print_json(report);
  else if (status == CM_OK)
    print_result(&a, about, report);
  json_decref(about);
  json_decref(report);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int disassemble(int argc, char **argv)
{
  cm_error error;
  cli_run cli;
  coremap_program *program = NULL;
  coremap_error *why = NULL;
  for (int flag; (flag = cli_next(&cli_command_disassemble, argc, argv)) != -1;)
    return cli_ended(flag);
  if (optind + 1 != argc)
    return cli_usage("disassemble", "one program is needed");
  cli_run_begin(&cli, true);
  cm_status status = cli_read_program(cli_input(argv[optind]), &cli.run, &program, &error);
  CM_THEN(status, library_status(coremap_program_disassemble(program, cli_output("-"), &why), &why, &error));
  cli_run_end(&cli);
  coremap_program_free(program);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_run = {
  .name = "run", .what = "simulate a program: its time and what it computes", .run = run_program,
  .usage = "PROGRAM [OPTION...]", .about = "Simulates a program: the time of every unit, and what it computes.", .flags = flags};

const cli_command cli_command_disassemble = {
  .name = "disassemble", .what = "print a program's instructions", .run = disassemble,
  .usage = "PROGRAM", .about = "Prints the tensors and instructions of a program."};
