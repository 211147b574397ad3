/* Programs, simulated. */
#include <coremap/program.h>

#include <math.h>

#include "base/json.h"
#include "core/machine/run/node_table.h"
#include "core/machine/run/timeline.h"
#include "core/operators/control.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"
#include "core/operators/tensor_file.h"
#include "library/internal.h"
#include "library/program_held.h"
#include "library/program_inputs.h"

/* What is asked of a run; paths, "": not asked. */
typedef struct asked {
  char model[CM_PATH_MAX], output[CM_PATH_MAX], output_dir[CM_PATH_MAX], timeline[CM_PATH_MAX];
  library_program_given given;
  coremap_arrays *outputs; /* where outputs go beside files; NULL: nowhere */
  bool check, time_alone, nodes;
} asked;

/* What came of a run. */
typedef struct outcome {
  cm_simulation simulation;
  double deviation; /* from the model */
  json_t *nodes;    /* the table of them; NULL: not asked for */
} outcome;

/* ---- outputs ---- */

static cm_status write_outputs(const asked *a, const cm_program *p, cm_tensor *const *outputs, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (a->output_dir[0] != '\0' && cm_folder_make(a->output_dir, error) != CM_OK)
    return error->status;
  for (uint32_t o = 0; o < p->output_count; o++) {
    if (a->output[0] != '\0' && (cm_path(path, error, "%s.%u.npy", a->output, o) != CM_OK ||
                              cm_tensor_write_npy(outputs[o], path, error) != CM_OK))
      return error->status;
    if (a->output_dir[0] != '\0' &&
        cm_tensor_write_raw(outputs[o], a->output_dir, p->tensors[p->outputs[o]].name, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status keep_outputs(const asked *a, const cm_program *p, cm_tensor *const *outputs, cm_error *error)
{
  for (uint32_t o = 0; o < p->output_count; o++)
    CM_TRY(library_arrays_put(a->outputs, p->tensors[p->outputs[o]].name, outputs[o], error));
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

static cm_status beside_model(const asked *a, const cm_program *p, cm_tensor *const *inputs,
                              cm_tensor *const *outputs, cm_run *run, double *deviation, cm_error *error)
{
  cm_model *model = NULL;
  cm_tensor **expected = NULL;
  cm_status status = cm_onnx_read_beside(a->model, run, &model, error);
  if (status == CM_OK && (model->input_count != p->input_count || model->output_count != p->output_count))
    status = cm_fail(error, CM_BAD_NETWORK, "%s has other inputs or outputs than the program", a->model);
  if (status == CM_OK)
    take_extents(model, inputs);
  CM_THEN(status, cm_model_unroll(model, run, error));
  CM_THEN(status, CM_NEW(run->memory, expected, p->output_count + 1, error));
  CM_THEN(status, cm_evaluate(model, inputs, run, expected, error));
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

/* ---- a run ---- */

static json_t *result_json(const asked *a, const cm_program *p, const outcome *made)
{
  const cm_simulation *r = &made->simulation;
  json_t *units = json_object();
  for (uint32_t d = 0; d < p->target.device_count; d++) {
    const cm_device *device = &p->target.device[d];
    (void)json_object_set_new(units, device->name, json_pack("{s:i, s:f}", "lanes", (int)(device->units * device->ports),
                                                             "busy_ns", r->busy_ns[d]));
  }
  return json_pack("{s:s, s:f, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o*, s:O*}", "chip", p->chip_name, "time_ns", r->time_ns,
                   "units", units, "instructions", (json_int_t)r->executed, "loaded_bytes", (json_int_t)r->loaded_bytes,
                   "stored_bytes", (json_int_t)r->stored_bytes, "parameter_bytes", (json_int_t)r->parameter_bytes,
                   "copied_bytes", (json_int_t)r->copied_bytes, "peak_bytes", (json_int_t)r->peak_bytes, "checked",
                   a->check, "largest_relative_deviation", a->model[0] != '\0' ? json_real(made->deviation) : NULL, "nodes", made->nodes);
}

static cm_status table_nodes(const cm_program *p, cm_run *run, json_t **nodes, cm_error *error)
{
  cm_analysis analysis = {0};
  cm_status status = cm_analysis_make(p, run, &analysis, error);
  CM_THEN(status, cm_node_table(p, &analysis, nodes, error));
  cm_analysis_free(&analysis);
  return status;
}

static cm_status simulate(const asked *a, const cm_program *p, cm_run *run, outcome *made, cm_error *error)
{
  cm_tensor **inputs = NULL, **outputs = NULL;
  const char *any = NULL;
  cm_simulation_options options = {.compute = !a->time_alone, .check = a->check && !a->time_alone};
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, inputs, p->input_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, outputs, p->output_count + 1, error) != CM_OK ||
      library_program_inputs(&a->given, p, run->memory, inputs, &any, error) != CM_OK)
    status = error->status;
  CM_THEN(status, cm_simulate(p, inputs, &options, run, outputs, &made->simulation, error));
  if (status == CM_BAD_NETWORK && any != NULL) /* a scale, an axis: not every number does */
    cm_fail_more(error, " (inputs that are not given, as %.60s, are random numbers)", any);
  CM_THEN_IF(status, a->timeline[0] != '\0', cm_timeline_write(p, p->chip_name, run, a->timeline, error));
  CM_THEN_IF(status, a->nodes, table_nodes(p, run, &made->nodes, error));
  CM_THEN_IF(status, !a->time_alone, write_outputs(a, p, outputs, error));
  CM_THEN_IF(status, a->model[0] != '\0' && !a->time_alone, beside_model(a, p, inputs, outputs, run, &made->deviation, error));
  CM_THEN_IF(status, a->outputs != NULL && !a->time_alone, keep_outputs(a, p, outputs, error));
  for (uint32_t i = 0; inputs != NULL && i < p->input_count; i++)
    cm_tensor_free(inputs[i]);
  for (uint32_t o = 0; outputs != NULL && o < p->output_count; o++)
    cm_tensor_free(outputs[o]);
  CM_FREE(inputs, outputs);
  return status;
}

static cm_status read_inputs(json_t *object, asked *a, cm_error *error)
{
  json_t *inputs = json_object_get(object, "inputs"), *one;
  size_t i;
  if (inputs != NULL && !json_is_array(inputs))
    return cm_option_refuse(error, "inputs", "a list of FILE or NAME=FILE");
  json_array_foreach(inputs, i, one)
    if (!json_is_string(one))
      return cm_option_refuse(error, "inputs", "a list of FILE or NAME=FILE");
  a->given.files = json_incref(inputs);
  (void)json_object_del(object, "inputs");
  return CM_OK;
}

static cm_status read_asked(json_t *object, asked *a, cm_error *error)
{
  const json_t *seed = json_object_get(object, "seed");
  a->given.seed = seed != NULL ? (uint64_t)json_integer_value(seed) : 1;
  if (seed != NULL && !json_is_integer(seed))
    return cm_option_refuse(error, "seed", "a whole number");
  (void)json_object_del(object, "seed");
  if (read_inputs(object, a, error) != CM_OK || library_take_flag(object, "check", &a->check, error) != CM_OK ||
      library_take_flag(object, "time", &a->time_alone, error) != CM_OK || library_take_flag(object, "nodes", &a->nodes, error) != CM_OK || library_take_text(object, "model", a->model, error) != CM_OK ||
      library_take_text(object, "output", a->output, error) != CM_OK || library_take_text(object, "output_dir", a->output_dir, error) != CM_OK ||
      library_take_text(object, "timeline", a->timeline, error) != CM_OK)
    return error->status;
  return library_nothing_left(object, "running a program", error);
}

static cm_status run_program(const coremap_program *program, asked *a, const char *options, cm_run *run, char **report, cm_error *error)
{
  json_t *object = NULL;
  outcome made = {.nodes = NULL};
  const uint64_t refusals = cm_json_refusals();
  cm_status status = library_options(options, &object, error);
  CM_THEN(status, read_asked(object, a, error));
  CM_THEN(status, simulate(a, program->program, run, &made, error));
  CM_THEN(status, library_whole_text(result_json(a, program->program, &made), refusals, report, error));
  json_decref(made.nodes);
  json_decref(a->given.files);
  json_decref(object);
  return status;
}

int coremap_program_run_arrays(const coremap_program *program, const coremap_arrays *inputs, coremap_arrays *outputs, const char *options,
                               coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  asked a = {.given.arrays = inputs};
  if (outputs != NULL && coremap_arrays_new(&a.outputs, error) != 0)
    return -1;
  library_begin(&r, progress, user);
  cm_status status = run_program(program, &a, options, r.run, report, &e);
  cm_run_finish(r.run);
  if (status == CM_OK && outputs != NULL)
    library_arrays_swap(outputs, a.outputs);
  coremap_arrays_free(a.outputs);
  return library_tell(status, &e, error);
}

int coremap_program_run(const coremap_program *program, const char *options, coremap_progress progress, void *user, char **report,
                        coremap_error **error)
{
  return coremap_program_run_arrays(program, NULL, NULL, options, progress, user, report, error);
}

/* ---- the program ---- */

int coremap_program_read(const char *path, coremap_progress progress, void *user, coremap_program **program, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_program *made;
  cm_status status = CM_HEAP(made, 1, "a program", &e);
  if (status == CM_OK) {
    cm_memory_init(&made->memory, 0);
    library_begin(&r, progress, user);
    library_outlive(&r, &made->memory);
    status = cm_program_read(path, r.run, &made->program, &e);
    cm_run_finish(r.run);
  }
  LIBRARY_END(status, *program = made, free(made));
}

static json_t *ends_json(const cm_program *p, const uint32_t *ends, uint32_t count)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < count; i++) {
    const cm_program_tensor *t = &p->tensors[ends[i]];
    (void)json_array_append_new(all, library_array_json(t->name, t->type, t->rank, t->dims));
  }
  return all;
}

int coremap_program_about(const coremap_program *program, char **json, coremap_error **error)
{
  cm_error e;
  const cm_program *p = program->program;
  const uint64_t refusals = cm_json_refusals();
  json_t *made = json_pack("{s:s, s:I, s:o, s:o}", "chip", p->chip_name, "memory_bytes", (json_int_t)p->target.memory_bytes, "inputs",
                           ends_json(p, p->inputs, p->input_count), "outputs", ends_json(p, p->outputs, p->output_count));
  return library_tell(library_whole_text(made, refusals, json, &e), &e, error);
}

int coremap_program_disassemble(const coremap_program *program, const char *path, coremap_error **error)
{
  cm_error e;
  cm_file file;
  if (cm_file_create(&file, path, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  cm_status status = cm_program_disassemble(program->program, file.stream, &e);
  return library_tell(cm_file_end(&file, status, &e), &e, error);
}

void coremap_program_free(coremap_program *program)
{
  if (program == NULL)
    return;
  cm_program_free(program->program);
  free(program);
}
