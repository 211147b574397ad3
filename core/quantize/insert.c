#include "core/quantize/insert.h"

#include <math.h>
#include <stdio.h>

#include "core/operators/evaluate.h"

typedef struct inserting {
  cm_model *model;
  const cm_layers *layers;
  const cm_range *range;
  cm_run *run;
} inserting;

/* A value named after another. */
static cm_status add_value(inserting *in, uint32_t like, const char *ending, uint32_t *value, cm_error *error)
{
  return cm_model_add_named(in->model, cm_say("%.180s_%s", in->model->values[like].name, ending).text, value, error);
}

static cm_status add_constant(inserting *in, uint32_t like, const char *ending, cm_tensor *tensor, uint32_t *value, cm_error *error)
{
  return cm_model_add_constant(in->model, cm_say("%.180s_%s", in->model->values[like].name, ending).text, tensor, value, error);
}

/* ---- activations ---- */

static cm_status add_affine(inserting *in, uint32_t value, cm_affine a, uint32_t made[2], cm_error *error)
{
  cm_memory *memory = in->model->arena.memory;
  cm_tensor *scale = NULL, *zero = NULL;
  cm_status status = cm_tensor_new(memory, CM_FLOAT, 0, NULL, &scale, error);
  CM_THEN(status, cm_tensor_new(memory, CM_INT8, 0, NULL, &zero, error));
  if (status == CM_OK) {
    *(float *)scale->data = a.scale;
    *(int8_t *)zero->data = (int8_t)a.zero;
    status = add_constant(in, value, "scale", scale, &made[0], error);
  }
  CM_THEN(status, add_constant(in, value, "zero_point", zero, &made[1], error));
  cm_tensor_free(scale);
  cm_tensor_free(zero);
  return status;
}

/* value -> QuantizeLinear -> DequantizeLinear -> all who read it. What makes the value makes another in its place; behind an input, readers are
 * led to the new one. */
static cm_status surround(inserting *in, uint32_t value, cm_error *error)
{
  cm_model *m = in->model;
  uint32_t affine[2], real, integers, node;
  CM_TRY(add_affine(in, value, cm_affine_of(in->range[in->layers->root[value]]), affine, error));
  CM_TRY(add_value(in, value, "quantized", &integers, error));
  CM_TRY(add_value(in, value, "real", &real, error));
  const uint32_t producer = m->values[value].producer;
  uint32_t from = value, to = real;
  if (producer != CM_NONE) {
    cm_node *n = &m->nodes[producer];
    for (uint32_t o = 0; o < n->output_count; o++)
      n->outputs[o] = n->outputs[o] == value ? real : n->outputs[o];
    m->values[real].shape = m->values[value].shape;
    m->values[real].producer = producer;
    from = real;
    to = value;
  } else
    cm_model_redirect(m, value, real);
  return cm_model_add_node(m, "QuantizeLinear", (uint32_t[]){from, affine[0], affine[1]}, 3, &integers, 1, &node, error) == CM_OK
             ? cm_model_add_node(m, "DequantizeLinear", (uint32_t[]){integers, affine[0], affine[1]}, 3, &to, 1, &node, error)
             : error->status;
}

/* ---- weights and biases ---- */

/* Integers without zero points behind a DequantizeLinear; *value: what it makes. */
static cm_status add_integers(inserting *in, uint32_t like, const cm_rounded_weights *w, int64_t axis, uint32_t *value, cm_error *error)
{
  cm_model *m = in->model;
  uint32_t inputs[2], node;
  CM_TRY(add_constant(in, like, "integers", w->integers, &inputs[0], error));
  CM_TRY(add_constant(in, like, "scales", w->scales, &inputs[1], error));
  CM_TRY(add_value(in, like, "dequantized", value, error));
  CM_TRY(cm_model_add_node(m, "DequantizeLinear", inputs, 2, value, 1, &node, error));
  return cm_node_set_integer(m, &m->nodes[node], "axis", axis, error);
}

/* A bias in units of the sums. */
static cm_status add_bias(inserting *in, uint32_t bias, float input_scale, const cm_tensor *weight_scales, uint32_t *value, cm_error *error)
{
  const cm_tensor *b;
  cm_rounded_weights w = {0};
  cm_memory *memory = in->model->arena.memory;
  cm_status status = cm_constant_tensor(in->model, bias, in->run, &b, error);
  CM_THEN(status, cm_tensor_new(memory, CM_INT32, 1, b->dims, &w.integers, error));
  CM_THEN(status, cm_tensor_new(memory, CM_FLOAT, 1, b->dims, &w.scales, error));
  for (uint64_t i = 0; status == CM_OK && i < b->count; i++) {
    const float scale = ((float *)w.scales->data)[i] = input_scale * ((const float *)weight_scales->data)[i];
    const double whole = nearbyint(cm_tensor_number(b, i) / (double)scale);
    ((int32_t *)w.integers->data)[i] = (int32_t)fmin(fmax(whole, INT32_MIN), INT32_MAX);
  }
  CM_THEN(status, add_integers(in, bias, &w, 0, value, error));
  cm_rounded_weights_free(&w);
  return status;
}

static cm_status quantize_layer(inserting *in, const cm_layer *l, cm_error *error)
{
  cm_model *m = in->model;
  const cm_node before = m->nodes[l->node];
  uint32_t *inputs;
  if (l->axis != CM_NONE) {
    const float scale = cm_affine_of(in->range[in->layers->root[before.inputs[0]]]).scale;
    const bool biased = before.input_count > 2 && before.inputs[2] != CM_NONE;
    CM_TRY(CM_ARENA_NEW(&m->arena, inputs, 3, error));
    CM_TRY(add_integers(in, before.inputs[1], &l->weights, l->axis, &inputs[1], error));
    CM_TRY_IF(biased, add_bias(in, before.inputs[2], scale, l->weights.scales, &inputs[2], error));
    inputs[0] = before.inputs[0];
    m->nodes[l->node].inputs = inputs;
    m->nodes[l->node].input_count = biased ? 3 : 2;
  }
  if (l->activation == CM_NONE)
    return CM_OK;
  m->nodes[l->activation].removed = true;
  m->nodes[l->node].outputs[0] = l->output;
  m->values[l->output].producer = l->node;
  return CM_OK;
}

cm_status cm_quantize_insert(cm_model *model, const cm_layers *layers, const cm_range *ranges, cm_run *run, cm_error *error)
{
  inserting in = {model, layers, ranges, run};
  const size_t values = model->value_count;
  for (size_t i = 0; i < layers->count; i++)
    CM_TRY_IF(!layers->layer[i].kept, quantize_layer(&in, &layers->layer[i], error));
  for (uint32_t v = 0; v < values; v++)
    CM_TRY_IF(layers->root[v] != CM_NONE, surround(&in, v, error));
  return cm_model_sweep(model, error);
}
