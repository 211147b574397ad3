/* coremap run, coremap disassemble: programs that coremap compile made. */
#include <jansson.h>

#include "cli/cli.h"

typedef struct arguments {
  cli_line line; /* with a list "input" */
  const char *model, *output, *output_dir, *timeline;
  uint64_t seed;
  bool check, time_alone, nodes;
  double memory_bytes; /* of the program */
} arguments;

static const cli_flag flags[] = {
  {"input", "[NAME=]FILE", CLI_BODY_LIST,
   "an input: .npy, .npz (the member NAME), or raw little-endian elements; without NAME they are taken in the program's order. "
   "Inputs that are not given are random: -1 to 1, or any byte"},
  {"output", "PREFIX", CLI_TEXT, "write the outputs to PREFIX.0.npy, PREFIX.1.npy, ...", CLI_AT(output)},
  {"output-dir", "DIR", CLI_TEXT, "write each output's raw elements to DIR/NAME.f32 (.i64, ... by its type)", CLI_AT(output_dir)},
  {"check", NULL, CLI_ON, "prove that nothing is read that was not written or was overwritten, in any timing", CLI_AT(check)},
  {"model", "MODEL.onnx", CLI_IN, "compute the model on the same inputs and print how far the outputs deviate", CLI_AT(model)},
  {"timeline", "FILE", CLI_OUT, "write what every unit does when, as Chrome trace JSON", CLI_AT(timeline)},
  {"seed", "N", CLI_WHOLE, "of random inputs", CLI_AT(seed)},
  {"time", NULL, CLI_ON, "time alone, computes nothing", CLI_AT(time_alone)},
  {"nodes", NULL, CLI_ON, "print a row for each node of the model and each tensor that is moved: where the time goes", CLI_AT(nodes)},
  CLI_JSON_FLAG,
  {0}};

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
  const json_t *named;
  size_t k;
  json_array_foreach(json_object_get(a->line.body, "input"), k, named) {
    const char *given = json_string_value(named), *file;
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

static void print_result(const void *given, const json_t *r)
{
  const arguments *a = given;
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
    cli_printf(stdout, "memory       %s of %s used\n", cli_size(cli_number(r, "peak_bytes")).text, cli_size(a->memory_bytes).text);
  if (a->check)
    fputs("checked      nothing is read that was not written or was overwritten, in any timing of the units\n", stdout);
  if (a->model != NULL)
    cli_printf(stdout, "model        largest relative deviation %g\n", cli_number(r, "largest_relative_deviation"));
}

static cm_status simulate(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  arguments *a = given;
  cm_run *run = &cli->run;
  json_t *about = NULL;
  coremap_program *program = NULL;
  char *text = NULL, *options = NULL;
  cm_status status = cli_read_program(a->line.file, run, &program, error);
  CM_THEN(status, library_status(coremap_program_about(program, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, &about, error));
  CM_THEN(status, make_options(a, about, &options, error));
  a->memory_bytes = cli_number(about, "memory_bytes");
  json_decref(about);
  CM_THEN(status, library_status(coremap_program_run(program, options, library_on_run, run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
  free(options);
  coremap_program_free(program);
  return status;
}

static cm_status disassemble(void *line, cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  coremap_program *program = NULL;
  cm_status status = cli_read_program(((cli_line *)line)->file, &cli->run, &program, error);
  CM_THEN(status, library_status(coremap_program_disassemble(program, cli_output("-"), &cli_why), &cli_why, error));
  coremap_program_free(program);
  return status;
}

const cli_command cli_command_run = {
  .name = "run", .what = "simulate a program: its time and what it computes", .make = simulate, .print = print_result,
  .word = "program", .size = sizeof(arguments), .defaults = &(const arguments){.seed = 1},
  .usage = "PROGRAM [OPTION...]", .about = "Simulates a program: the time of every unit, and what it computes.", .flags = flags};

const cli_command cli_command_disassemble = {
  .name = "disassemble", .what = "print a program's instructions", .make = disassemble, .word = "program",
  .usage = "PROGRAM", .about = "Prints the tensors and instructions of a program."};
