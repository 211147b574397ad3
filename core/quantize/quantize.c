#include "core/quantize/quantize.h"

#include <math.h>

#include "base/json.h"
#include "core/operators/control.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"
#include "core/quantize/calibrate.h"
#include "core/quantize/insert.h"
#include "core/quantize/prepare.h"

enum { RANDOM_SAMPLES = 8 };

static uint64_t constant_bytes(const cm_model *m)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < m->value_count; i++)
    if (m->values[i].initializer && m->values[i].tensor != NULL)
      bytes += m->values[i].tensor->count * cm_type_bytes(m->values[i].tensor->type);
  return bytes;
}

static cm_status read_model(cm_calibration *c, const char *path, cm_error *error)
{
  cm_run_phase(c->run, "read");
  if ((c->options->beside ? cm_onnx_read_beside : cm_onnx_read)(path, c->run, &c->model, error) != CM_OK)
    return error->status;
  cm_run_phase(c->run, "shapes");
  if (cm_model_state_shapes(c->model, &c->options->shapes, error) != CM_OK || cm_model_unroll(c->model, c->run, error) != CM_OK ||
      cm_raise_opset(c->model, error) != CM_OK || cm_infer(c->model, c->run, error) != CM_OK)
    return error->status;
  c->bytes_before = constant_bytes(c->model);
  return cm_prepare(c->model, c->run, error);
}

static cm_status take_samples(cm_calibration *c, cm_error *error)
{
  const cm_quantize_options *o = c->options;
  if (o->data != NULL)
    return cm_samples_read(c->model, o->data, o->samples, c->run->memory, &c->samples, error);
  return cm_samples_random(c->model, o->samples > 0 ? o->samples : RANDOM_SAMPLES, o->seed, c->run->memory, &c->samples, error);
}

/* Scales of everything that can be in integers, and which layers stay as they are for their error. */
static cm_status decide(cm_calibration *c, cm_error *error)
{
  cm_model *m = c->model;
  cm_layers *l = &c->layers;
  CM_TRY(cm_layers_find(m, c->options->method == CM_RANGE_ERROR, c->run, l, error));
  if (l->count == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the model has no Conv, MatMul or Gemm of float32 with constant weights, which alone are quantized");
  cm_layers_spread(m, l);
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->ranges, m->value_count + 1),
                    CM_ARRAY(c->expected, c->samples.count * m->output_count + 1)));
  CM_TRY(cm_calibrate(c, error));
  CM_TRY(cm_layer_errors(c, error));
  for (size_t i = 0; i < l->count; i++)
    l->layer[i].kept = c->options->threshold > 0 && !(l->layer[i].error <= c->options->threshold);
  cm_layers_spread(m, l);
  return CM_OK;
}

/* ---- the report ---- */

static json_t *layers_report(const cm_calibration *c)
{
  json_t *list = json_array();
  for (size_t i = 0; i < c->layers.count; i++) {
    const cm_layer *l = &c->layers.layer[i];
    const cm_node *n = &c->model->nodes[l->node];
    const cm_range *r = &c->ranges[l->output];
    (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "name", n->name, "operator", n->op, "output",
                                                c->model->values[l->output].name, "type", l->kept ? "float32" : "int8", "error", l->error, "low",
                                                r->low, "high", r->high));
  }
  return list;
}

/* How far what the quantized model makes is from what was expected. */
static cm_status compare_outputs(cm_calibration *c, json_t **report, cm_error *error)
{
  cm_model *m = c->model;
  cm_tensor **made;
  double *wrong, *all, *largest;
  cm_status status = CM_OK;
  cm_run_phase(c->run, "judge");
  CM_TRY(CM_NEW(c->run->memory, made, m->output_count + 1, error));
  if (CM_NEW(c->run->memory, wrong, 3 * m->output_count + 3, error) != CM_OK) {
    cm_free(made);
    return error->status;
  }
  all = wrong + m->output_count;
  largest = all + m->output_count;
  for (size_t s = 0; status == CM_OK && s < c->samples.count; s++) {
    status = cm_evaluate(m, c->samples.tensors + s * c->samples.inputs, c->run, made, error);
    for (size_t o = 0; o < m->output_count; o++) {
      const cm_tensor *y = c->expected[s * m->output_count + o];
      for (uint64_t i = 0; status == CM_OK && y->type != CM_SEQUENCE && i < y->count; i++) {
        const double number = cm_tensor_number(y, i), d = fabs(number - cm_tensor_number(made[o], i));
        wrong[o] += d * d;
        all[o] += number * number;
        largest[o] = fmax(largest[o], d);
      }
      cm_tensor_free(made[o]);
      made[o] = NULL;
    }
  }
  if (status == CM_OK)
    *report = json_array();
  for (size_t o = 0; status == CM_OK && o < m->output_count; o++)
    (void)json_array_append_new(*report, json_pack("{s:s, s:f, s:f}", "name", m->values[m->outputs[o]].name, "error",
                                                   sqrt(all[o] > 0 ? wrong[o] / all[o] : wrong[o]), "largest", largest[o]));
  CM_FREE(made, wrong);
  return status;
}

static cm_status make_report(cm_calibration *c, json_t *layers, json_t **report, cm_error *error)
{
  json_t *outputs = NULL;
  const uint64_t refusals = cm_json_refusals();
  size_t kept = 0;
  if (compare_outputs(c, &outputs, error) != CM_OK) {
    json_decref(layers);
    return error->status;
  }
  for (size_t i = 0; i < c->layers.count; i++)
    kept += c->layers.layer[i].kept;
  json_t *made = json_pack("{s:s, s:I, s:b, s:I, s:{s:I, s:I}, s:{s:I, s:I}, s:o, s:o}", "method",
                           cm_quantize_option_table.option[0].words[c->options->method], "samples", (json_int_t)c->samples.count, "random",
                           c->options->data == NULL, "opset", (json_int_t)c->model->opset, "products", "int8",
                           (json_int_t)(c->layers.count - kept), "float32", (json_int_t)kept, "constant_bytes", "before",
                           (json_int_t)c->bytes_before, "after", (json_int_t)constant_bytes(c->model), "outputs", outputs, "layers", layers);
  cm_status status = cm_json_whole(refusals, "the report", error);
  CM_END(status, *report = made, json_decref(made));
}

/* ---- from file to file ---- */

static void forget(cm_calibration *c)
{
  for (size_t i = 0; c->expected != NULL && i < c->samples.count * c->model->output_count; i++)
    cm_tensor_free(c->expected[i]);
  CM_FREE(c->expected, c->ranges);
  cm_layers_free(&c->layers);
  cm_samples_free(&c->samples);
  cm_model_free(c->model);
}

cm_status cm_quantize(const char *path, const cm_quantize_options *options, cm_run *run, const char *out, json_t **report, cm_error *error)
{
  cm_calibration c = {.options = options, .run = run};
  json_t *made = NULL;
  run->seed = options->seed;
  run->deadline = options->time_limit > 0 ? cm_now() + options->time_limit : 0;
  if (run->memory != NULL && options->memory_limit > 0)
    run->memory->limit_bytes = options->memory_limit;
  cm_status status = read_model(&c, path, error);
  CM_THEN(status, take_samples(&c, error));
  CM_THEN(status, decide(&c, error));
  json_t *layers = status == CM_OK ? layers_report(&c) : NULL;
  CM_THEN(status, cm_quantize_insert(c.model, &c.layers, c.ranges, run, error));
  CM_THEN(status, cm_infer(c.model, run, error));
  if (status == CM_OK)
    status = make_report(&c, layers, &made, error);
  else
    json_decref(layers);
  cm_run_phase(run, "write");
  CM_THEN(status, cm_onnx_write(c.model, out, error));
  if (status == CM_OK)
    *report = json_incref(made);
  json_decref(made);
  forget(&c);
  return status;
}
