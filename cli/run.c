/* coremap run, coremap disassemble: programs that coremap compile made. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "base/file.h"
#include "base/random.h"
#include "core/machine/run/simulate.h"
#include "core/machine/run/timeline.h"
#include "core/operators/control.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"
#include "core/operators/tensor_file.h"

enum { FILES_MAX = 256, INPUT_STREAM = 0x72756e };

enum { INPUT = 1, OUTPUT_DIR, MODEL, TIMELINE, SEED, CHECK, TIME_ALONE };

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
  CLI_JSON_FLAG,
  {0}};

typedef struct arguments {
  const char *program, *model, *output, *output_dir, *timeline, *inputs[FILES_MAX];
  size_t input_count;
  uint64_t seed;
  bool check, json, time_alone;
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
    case CLI_JSON: a->json = true; break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("run", optind == argc ? "no program is named" : "one program is needed");
  a->program = cli_input(argv[optind]);
  return -1;
}

/* ---- inputs and outputs ---- */

/* The file in NAME=FILE where NAME is an input of the program, else NULL: all of it is a file's name. */
static const char *file_named(const char *given, const char *name)
{
  size_t length = strlen(name);
  return strncmp(given, name, length) == 0 && given[length] == '=' ? given + length + 1 : NULL;
}

static bool names_input(const char *given, const cm_program *p)
{
  for (uint32_t i = 0; i < p->input_count; i++)
    if (file_named(given, p->tensors[p->inputs[i]].name) != NULL)
      return true;
  return false;
}

/* files[i]: the file for input i, by its name or as the next of those without a name; NULL: none is given. */
static cm_status match_files(const arguments *a, const cm_program *p, const char **files, cm_error *error)
{
  uint32_t next = 0;
  for (uint32_t i = 0; i < p->input_count; i++)
    for (size_t k = 0; k < a->input_count && files[i] == NULL; k++)
      files[i] = file_named(a->inputs[k], p->tensors[p->inputs[i]].name);
  for (size_t k = 0; k < a->input_count; k++) {
    if (names_input(a->inputs[k], p))
      continue;
    while (next < p->input_count && files[next] != NULL)
      next++;
    if (next == p->input_count)
      return cm_fail(error, CM_BAD_REQUEST, "--input %s is for none of the program's %u inputs; the first is %s",
                     a->inputs[k], p->input_count, p->input_count > 0 ? p->tensors[p->inputs[0]].name : "missing");
    files[next] = a->inputs[k];
    /* One .npz holds them all. */
    bool all = a->input_count == 1 && strstr(a->inputs[k], ".npz") != NULL;
    for (uint32_t i = 0; all && i < p->input_count; i++)
      files[i] = a->inputs[k];
  }
  return CM_OK;
}

static cm_status make_inputs(const arguments *a, const cm_program *p, cm_memory *memory, cm_tensor **inputs,
                             cm_error *error)
{
  cm_random random;
  const char **files = NULL;
  cm_status status = CM_NEW(memory, files, p->input_count + 1, error);
  if (status == CM_OK)
    status = match_files(a, p, files, error);
  cm_random_init(&random, a->seed, INPUT_STREAM, 0);
  for (uint32_t i = 0; status == CM_OK && i < p->input_count; i++) {
    const cm_program_tensor *t = &p->tensors[p->inputs[i]];
    if (files[i] != NULL) {
      status = cm_tensor_read(cli_input(files[i]), t->name, i, t->type, t->rank, t->dims, memory, &inputs[i], error);
      continue;
    }
    status = cm_tensor_new(memory, t->type, t->rank, t->dims, &inputs[i], error);
    for (uint64_t k = 0; status == CM_OK && t->type == CM_FLOAT && k < inputs[i]->count; k++)
      ((float *)inputs[i]->data)[k] = (float)(2 * cm_random_unit(&random) - 1);
    bool bytes = t->type == CM_UINT8 || t->type == CM_INT8;
    for (uint64_t k = 0; status == CM_OK && bytes && k < inputs[i]->count; k++)
      ((uint8_t *)inputs[i]->data)[k] = (uint8_t)cm_random_below(&random, 256);
  }
  cm_free((void *)files);
  return status;
}

static cm_status write_outputs(const arguments *a, const cm_program *p, cm_tensor *const *outputs, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (a->output_dir != NULL && cm_folder_make(a->output_dir, error) != CM_OK)
    return error->status;
  for (uint32_t o = 0; o < p->output_count; o++) {
    if (a->output != NULL && (cm_path(path, error, "%s.%u.npy", a->output, o) != CM_OK ||
                              cm_tensor_write_npy(outputs[o], path, error) != CM_OK))
      return error->status;
    if (a->output_dir != NULL &&
        cm_tensor_write_raw(outputs[o], a->output_dir, p->tensors[p->outputs[o]].name, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- the model beside it ---- */

/* What the model leaves open is as the program's inputs are. */
static void take_extents(cm_model *model, cm_tensor *const *inputs)
{
  for (size_t i = 0; i < model->input_count; i++) {
    cm_shape *s = &model->values[model->inputs[i]].shape;
    if (s->rank == CM_UNKNOWN_RANK)
      *s = cm_shape_of(inputs[i]);
    for (uint32_t k = 0; s->rank == inputs[i]->rank && k < s->rank; k++)
      s->dims[k] = s->dims[k] < 0 ? inputs[i]->dims[k] : s->dims[k];
  }
}

static cm_status beside_model(const arguments *a, const cm_program *p, cm_tensor *const *inputs,
                              cm_tensor *const *outputs, cm_run *run, double *deviation, cm_error *error)
{
  cm_model *model = NULL;
  cm_tensor **expected = NULL;
  cm_status status = cm_onnx_read_beside(a->model, run, &model, error);
  if (status == CM_OK && (model->input_count != p->input_count || model->output_count != p->output_count))
    status = cm_fail(error, CM_BAD_NETWORK, "%s has other inputs or outputs than the program", a->model);
  if (status == CM_OK)
    take_extents(model, inputs);
  if (status == CM_OK)
    status = cm_model_unroll(model, run, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, expected, p->output_count + 1, error);
  if (status == CM_OK)
    status = cm_evaluate(model, inputs, run, expected, error);
  for (uint32_t o = 0; status == CM_OK && o < p->output_count; o++) {
    double largest = 0, difference = 0;
    if (cm_tensor_deviates(outputs[o], expected[o], HUGE_VAL, 0) == -2)
      status = cm_fail(error, CM_BAD_NETWORK, "output %u has another shape than the model's", o);
    for (uint64_t k = 0; status == CM_OK && k < expected[o]->count; k++) {
      largest = fmax(largest, fabs(cm_tensor_number(expected[o], k)));
      difference = fmax(difference, fabs(cm_tensor_number(outputs[o], k) - cm_tensor_number(expected[o], k)));
    }
    *deviation = fmax(*deviation, largest > 0 ? difference / largest : difference);
  }
  for (uint32_t o = 0; expected != NULL && o < p->output_count; o++)
    cm_tensor_free(expected[o]);
  cm_free(expected);
  cm_model_free(model);
  return status;
}

/* ---- the command ---- */

static json_t *result_json(const arguments *a, const cm_program *p, const cm_simulation *r, double deviation)
{
  json_t *units = json_object();
  for (uint32_t d = 0; d < p->target.device_count; d++) {
    const cm_device *device = &p->target.device[d];
    (void)json_object_set_new(units, device->name, json_pack("{s:i, s:f}", "lanes", (int)(device->units * device->ports),
                                                             "busy_ns", r->busy_ns[d]));
  }
  return json_pack("{s:s, s:f, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o*}", "chip", p->chip_name, "time_ns", r->time_ns,
                   "units", units, "instructions", (json_int_t)r->executed, "loaded_bytes", (json_int_t)r->loaded_bytes,
                   "stored_bytes", (json_int_t)r->stored_bytes, "parameter_bytes", (json_int_t)r->parameter_bytes,
                   "copied_bytes", (json_int_t)r->copied_bytes, "peak_bytes", (json_int_t)r->peak_bytes, "checked",
                   a->check, "largest_relative_deviation", a->model != NULL ? json_real(deviation) : NULL);
}

static void print_result(const arguments *a, const cm_program *p, const cm_simulation *r, double deviation)
{
  printf("time         %.3f us on %s, %" PRIu64 " instructions\n", r->time_ns / 1000, p->chip_name, r->executed);
  for (uint32_t d = 0; d < p->target.device_count; d++) {
    uint32_t lanes = p->target.device[d].units * p->target.device[d].ports;
    printf("%-12s %u lanes, busy %.1f %%\n", p->target.device[d].name, lanes,
           r->time_ns > 0 ? 100 * r->busy_ns[d] / r->time_ns / lanes : 0);
  }
  printf("activations  %.1f KB in, %.1f KB out\n", (double)r->loaded_bytes / 1024, (double)r->stored_bytes / 1024);
  printf("parameters   %.1f KB\n", (double)r->parameter_bytes / 1024);
  if (!a->time_alone)
    printf("memory       %.1f KB of %.1f KB used\n", (double)r->peak_bytes / 1024,
           (double)p->target.memory_bytes / 1024);
  if (a->check)
    puts("checked      nothing is read that was not written or was overwritten, in any timing of the units");
  if (a->model != NULL)
    printf("model        largest relative deviation %g\n", deviation);
}

static cm_status simulate(const arguments *a, const cm_program *p, cm_run *run, cm_simulation *result,
                          double *deviation, cm_error *error)
{
  cm_tensor **inputs = NULL, **outputs = NULL;
  cm_simulation_options options = {.compute = !a->time_alone, .check = a->check && !a->time_alone};
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, inputs, p->input_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, outputs, p->output_count + 1, error) != CM_OK ||
      make_inputs(a, p, run->memory, inputs, error) != CM_OK)
    status = error->status;
  if (status == CM_OK)
    status = cm_simulate(p, inputs, &options, NULL, NULL, run, outputs, result, error);
  if (status == CM_OK && a->timeline != NULL)
    status = cm_timeline_write(p, p->chip_name, run, a->timeline, error);
  if (status == CM_OK && !a->time_alone)
    status = write_outputs(a, p, outputs, error);
  if (status == CM_OK && a->model != NULL && !a->time_alone)
    status = beside_model(a, p, inputs, outputs, run, deviation, error);
  for (uint32_t i = 0; inputs != NULL && i < p->input_count; i++)
    cm_tensor_free(inputs[i]);
  for (uint32_t o = 0; outputs != NULL && o < p->output_count; o++)
    cm_tensor_free(outputs[o]);
  cm_free(inputs);
  cm_free(outputs);
  return status;
}

static int run_program(int argc, char **argv)
{
  arguments a = {.seed = 1};
  cm_error error;
  cli_run cli;
  cm_program *p = NULL;
  cm_simulation result;
  double deviation = 0;
  int exit_status = parse(argc, argv, &a);
  if (exit_status >= 0)
    return exit_status;
  cli_run_begin(&cli, true);
  cm_status status = cm_program_read(a.program, &cli.run, &p, &error);
  if (status == CM_OK)
    status = simulate(&a, p, &cli.run, &result, &deviation, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a.json) {
    json_t *json = result_json(&a, p, &result, deviation);
    cli_print_json(json);
    json_decref(json);
  } else if (status == CM_OK)
    print_result(&a, p, &result, deviation);
  cm_program_free(p);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int disassemble(int argc, char **argv)
{
  cm_error error;
  cli_run cli;
  cm_program *p = NULL;
  for (int flag; (flag = cli_next(&cli_command_disassemble, argc, argv)) != -1;)
    return cli_ended(flag);
  if (optind + 1 != argc)
    return cli_usage("disassemble", "one program is needed");
  cli_run_begin(&cli, true);
  cm_status status = cm_program_read(cli_input(argv[optind]), &cli.run, &p, &error);
  if (status == CM_OK)
    status = cm_program_disassemble(p, stdout, &error);
  cli_run_end(&cli);
  cm_program_free(p);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_run = {
  .name = "run", .what = "simulate a program: its time and what it computes", .run = run_program,
  .usage = "PROGRAM [OPTION...]", .about = "Simulates a program: the time of every unit, and what it computes.", .flags = flags};

const cli_command cli_command_disassemble = {
  .name = "disassemble", .what = "print a program's instructions", .run = disassemble,
  .usage = "PROGRAM", .about = "Prints the tensors and instructions of a program."};
