/* Compiled models and programs beside the models given. */
#include <math.h>

#include "base/random.h"
#include "core/machine/report.h"
#include "core/machine/run/run_lanes.h"

enum { VERIFY_STREAM = 0x766572 };
static const double verify_relative = 1e-5, verify_absolute = 1e-6;

/* Random inputs of the declared shapes; unknown dims are 1. NULL where the type is no number. */
static cm_status random_input(const cm_value *v, cm_random *random, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  int64_t dims[CM_RANK_MAX];
  uint32_t rank = v->shape.rank == CM_UNKNOWN_RANK ? 0 : v->shape.rank;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = v->shape.dims[i] < 0 ? 1 : v->shape.dims[i];
  CM_TRY(cm_tensor_new(memory, v->shape.type, rank, dims, made, error));
  cm_tensor_fill_random(*made, random);
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
      return cm_fail(error, CM_INTERNAL, "output '%.80s' deviates by %g of %g: the rewrite is wrong, or the model magnifies rounding (a Softmax of huge "
                     "values, as made-up weights give, does)", model->values[model->outputs[i]].name, deviation, largest);
  }
  return CM_OK;
}

static void free_tensors(cm_tensor **list, size_t count)
{
  for (size_t i = 0; list != NULL && i < count; i++)
    cm_tensor_free(list[i]);
  cm_free(list);
}

cm_status cm_compile_verify(cm_model *before, cm_model *after, const cm_program *program, cm_run *run, json_t *report,
                            cm_error *error)
{
  verification v = {0};
  cm_random random;
  cm_status status = CM_OK;
  cm_run_phase(run, "verify");
  cm_random_init(&random, run->seed, VERIFY_STREAM, 0);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(v.inputs, before->input_count + 1),
                             CM_ARRAY(v.before, before->output_count + 1), CM_ARRAY(v.after, before->output_count + 1)));
  for (size_t i = 0; status == CM_OK && i < before->input_count; i++)
    status = random_input(&before->values[before->inputs[i]], &random, run->memory, &v.inputs[i], error);
  bool computes = true;
  if (status == CM_OK) {
    status = cm_evaluate(before, v.inputs, run, v.before, error);
    /* A model with an unknown operator cannot be computed here; that is no fault of it. */
    computes = status != CM_BAD_NETWORK;
    status = computes ? status : CM_OK;
  }
  if (status == CM_OK && computes) {
    static const cm_simulation_options options = {.compute = true, .check = true};
    cm_simulation result;
    status = program == NULL ? cm_evaluate(after, v.inputs, run, v.after, error)
                             : cm_simulate(program, v.inputs, &options, run, v.after, &result, error);
    CM_THEN(status, compare(before, &v, error));
  }
  if (status == CM_OK)
    (void)json_object_set_new(report, "verified",
                              computes ? json_pack("{s:b, s:f}", "equal", 1, "largest_relative_deviation", v.deviation)
                                       : json_pack("{s:n, s:s}", "equal", "why", error->detail));
  free_tensors(v.inputs, before->input_count);
  free_tensors(v.before, before->output_count);
  free_tensors(v.after, before->output_count);
  return status;
}

