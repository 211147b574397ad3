/* Read, understand, optimise, verify when asked, write. */
#include "core/operators/compile.h"

#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx.h"
#include "core/operators/operator.h"
#include "core/operators/permutations.h"

enum { VERIFY_STREAM = 0x766572, THREADS_MAX = 1024 };
static const double verify_relative = 1e-5, verify_absolute = 1e-6;

/* ---- options ---- */

static cm_status bad_option(cm_error *error, const char *name, const char *expected)
{
  (void)cm_fail(error, CM_BAD_OPTION, "option %s: expected %s", name, expected);
  return cm_fail_at(error, "/options/%s", name);
}

static cm_status read_number(const char *name, const json_t *value, double least, double most, double *number,
                             cm_error *error)
{
  char expected[64];
  double x = json_number_value(value);
  if (json_is_number(value) && x >= least && x <= most) {
    *number = x;
    return CM_OK;
  }
  (void)snprintf(expected, sizeof expected, "a number from %.0f to %.3g", least, most);
  return bad_option(error, name, expected);
}

cm_status cm_compile_options_read(const json_t *object, cm_compile_options *options, cm_error *error)
{
  cm_compile_options made = {.seed = 1, .threads = 1};
  const char *name;
  json_t *value;
  double number;
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
  {
    if (strcmp(name, "stop_after") == 0) {
      if (!json_is_string(value) || strcmp(json_string_value(value), "permutations") != 0)
        return bad_option(error, name, "\"permutations\", the last stage that there is");
    } else if (strcmp(name, "verify") == 0) {
      if (!json_is_boolean(value))
        return bad_option(error, name, "true or false");
      made.verify = json_is_true(value);
    } else if (strcmp(name, "seed") == 0) {
      if (read_number(name, value, 0, 9007199254740992.0, &number, error) != CM_OK)
        return error->status;
      made.seed = (uint64_t)number;
    } else if (strcmp(name, "threads") == 0) {
      if (read_number(name, value, 1, THREADS_MAX, &number, error) != CM_OK)
        return error->status;
      made.threads = (unsigned)number;
    } else if (strcmp(name, "memory_limit") == 0) {
      if (read_number(name, value, 0, 9007199254740992.0, &number, error) != CM_OK)
        return error->status;
      made.memory_limit = (uint64_t)number;
    } else if (strcmp(name, "time_limit") == 0) {
      if (read_number(name, value, 0, 1e9, &made.time_limit, error) != CM_OK)
        return error->status;
    } else {
      (void)cm_fail(error, CM_BAD_OPTION, "there is no option %.60s; compile has stop_after, verify, seed, threads,"
                    " memory_limit, time_limit", name);
      return cm_fail_at(error, "/options/%.60s", name);
    }
  }
  *options = made;
  return CM_OK;
}

/* ---- verification ---- */

/* Random inputs of the declared shapes; unknown dims are 1. NULL where the type is no number. */
static cm_status random_input(const cm_value *v, cm_random *random, cm_memory *memory, cm_tensor **made,
                              cm_error *error)
{
  int64_t dims[CM_RANK_MAX];
  uint32_t rank = v->shape.rank == CM_UNKNOWN_RANK ? 0 : v->shape.rank;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = v->shape.dims[i] < 0 ? 1 : v->shape.dims[i];
  if (cm_tensor_new(memory, v->shape.type, rank, dims, made, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < (*made)->count && v->shape.type == CM_FLOAT; i++)
    ((float *)(*made)->data)[i] = (float)(2 * cm_random_unit(random) - 1);
  return CM_OK;
}

typedef struct verification {
  cm_tensor **inputs, **before, **after;
  double deviation; /* largest, relative to the largest number of its output */
} verification;

static cm_status compare(const cm_model *model, verification *v, cm_error *error)
{
  for (size_t i = 0; i < model->output_count; i++) {
    const cm_tensor *a = v->before[i], *b = v->after[i];
    double largest = 0, deviation = 0;
    if (a->type == CM_SEQUENCE)
      continue;
    if (cm_tensor_deviates(b, a, HUGE_VAL, 0) == -2)
      return cm_fail(error, CM_INTERNAL, "output '%.80s' changed its shape", model->values[model->outputs[i]].name);
    for (uint64_t k = 0; k < a->count; k++) {
      largest = fmax(largest, fabs(cm_tensor_number(a, k)));
      deviation = fmax(deviation, fabs(cm_tensor_number(a, k) - cm_tensor_number(b, k)));
    }
    v->deviation = fmax(v->deviation, largest > 0 ? deviation / largest : deviation);
    if (deviation > verify_absolute + verify_relative * largest)
      return cm_fail(error, CM_INTERNAL, "output '%.80s' deviates by %g of %g: the rewrite is wrong",
                     model->values[model->outputs[i]].name, deviation, largest);
  }
  return CM_OK;
}

static void free_tensors(cm_tensor **list, size_t count)
{
  for (size_t i = 0; list != NULL && i < count; i++)
    cm_tensor_free(list[i]);
  cm_free(list);
}

static cm_status verify(cm_model *before, cm_model *after, cm_run *run, json_t *report, cm_error *error)
{
  verification v = {0};
  cm_random random;
  cm_status status = CM_OK;
  cm_run_phase(run, "verify");
  cm_random_init(&random, run->seed, VERIFY_STREAM, 0);
  if (CM_NEW(run->memory, v.inputs, before->input_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, v.before, before->output_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, v.after, before->output_count + 1, error) != CM_OK)
    status = error->status;
  for (size_t i = 0; status == CM_OK && i < before->input_count; i++)
    status = random_input(&before->values[before->inputs[i]], &random, run->memory, &v.inputs[i], error);
  bool computes = true;
  if (status == CM_OK) {
    status = cm_evaluate(before, v.inputs, run, v.before, error);
    /* A model with an unknown operator cannot be computed here; that is no fault of it. */
    computes = status != CM_BAD_NETWORK;
    status = computes ? status : CM_OK;
  }
  if (status == CM_OK && computes && (status = cm_evaluate(after, v.inputs, run, v.after, error)) == CM_OK)
    status = compare(before, &v, error);
  if (status == CM_OK)
    (void)json_object_set_new(report, "verified",
                              computes ? json_pack("{s:b, s:f}", "equal", 1, "largest_relative_deviation", v.deviation)
                                       : json_pack("{s:n, s:s}", "equal", "why", error->detail));
  free_tensors(v.inputs, before->input_count);
  free_tensors(v.before, before->output_count);
  free_tensors(v.after, before->output_count);
  return status;
}

/* ---- the pipeline ---- */

cm_status cm_compile(const char *path, const cm_compile_options *options, cm_run *run, const char *out, json_t **report,
                     cm_error *error)
{
  cm_model *given = NULL, *made = NULL;
  json_t *all = NULL;
  run->seed = options->seed;
  run->threads = options->threads;
  run->deadline = options->time_limit > 0 ? cm_now() + options->time_limit : 0;
  if (run->memory != NULL && options->memory_limit > 0)
    run->memory->limit_bytes = options->memory_limit;
  cm_run_phase(run, "read");
  cm_status status = cm_onnx_read(path, run, &given, error);
  if (status == CM_OK) {
    cm_run_phase(run, "shapes");
    status = cm_infer(given, run, error);
  }
  if (status == CM_OK)
    status = cm_permutations_optimise(given, run, &made, &all, error);
  if (status == CM_OK && options->verify)
    status = verify(given, made, run, all, error);
  if (status == CM_OK) {
    cm_run_phase(run, "write");
    (void)json_object_set_new(all, "stage", json_string("permutations"));
    (void)json_object_set_new(all, "opset", json_integer(given->opset));
    status = cm_onnx_write(made, out, error);
  }
  if (status == CM_OK)
    *report = json_incref(all);
  json_decref(all);
  cm_model_free(made);
  cm_model_free(given);
  return status;
}
