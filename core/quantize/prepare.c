#include "core/quantize/prepare.h"

#include <math.h>
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

typedef struct preparing {
  cm_model *model;
  cm_run *run;
} preparing;

static cm_status take_constant(preparing *p, const char *stem, cm_tensor *tensor, uint32_t *value, cm_error *error)
{
  cm_status status = cm_model_add_constant(p->model, stem, tensor, value, error);
  cm_tensor_free(tensor);
  return status;
}

static const char *name_of(const preparing *p, uint32_t value)
{
  return p->model->values[value].name;
}

static bool is_constant(const cm_model *m, const cm_node *n, uint32_t input)
{
  return n->input_count > input && n->inputs[input] != CM_NONE && m->values[n->inputs[input]].constant &&
         m->values[n->inputs[input]].shape.type == CM_FLOAT;
}

/* The node that makes a value and is read by no other; NULL: there is none. */
static cm_node *maker_for_one(cm_model *m, uint32_t value)
{
  const cm_value *v = &m->values[value];
  return v->use_count == 1 && v->producer != CM_NONE ? &m->nodes[v->producer] : NULL;
}

/* What `last` makes, `n` makes; `last` is gone. */
static void take_over(cm_model *m, cm_node *n, cm_node *last)
{
  n->outputs[0] = last->outputs[0];
  m->values[n->outputs[0]].producer = (uint32_t)(n - m->nodes);
  last->removed = true;
}

static cm_status set_inputs(cm_model *m, cm_node *n, uint32_t weights, uint32_t bias, cm_error *error)
{
  uint32_t *inputs;
  CM_TRY(CM_ARENA_NEW(&m->arena, inputs, 3, error));
  inputs[0] = n->inputs[0];
  inputs[1] = weights;
  inputs[2] = bias;
  n->inputs = inputs;
  n->input_count = bias != CM_NONE ? 3 : 2;
  return CM_OK;
}

/* ---- BatchNormalization ---- */

/* Its scale, offset, mean and variance, and the weights and bias (NULL: none) of the Conv. */
typedef struct normalization {
  const cm_tensor *of[4], *weights, *bias;
  double epsilon;
} normalization;

static cm_status read_normalization(preparing *p, const cm_node *conv, const cm_node *norm, normalization *x, cm_error *error)
{
  *x = (normalization){.epsilon = (double)cm_node_number(norm, "epsilon", 1e-5F)};
  for (uint32_t i = 0; i < 4; i++)
    CM_TRY(cm_constant_tensor(p->model, norm->inputs[i + 1], p->run, &x->of[i], error));
  CM_TRY_IF(is_constant(p->model, conv, 2), cm_constant_tensor(p->model, conv->inputs[2], p->run, &x->bias, error));
  return cm_constant_tensor(p->model, conv->inputs[1], p->run, &x->weights, error);
}

static cm_status scale_filters(preparing *p, const cm_node *conv, const normalization *x, uint32_t made[2], cm_error *error)
{
  cm_tensor *w, *b;
  const char *stem = name_of(p, conv->inputs[1]);
  const int64_t filters = x->weights->dims[0];
  CM_TRY(cm_tensor_new(p->model->arena.memory, CM_FLOAT, x->weights->rank, x->weights->dims, &w, error));
  CM_TRY(take_constant(p, stem, w, &made[0], error));
  CM_TRY(cm_tensor_new(p->model->arena.memory, CM_FLOAT, 1, &filters, &b, error));
  CM_TRY(take_constant(p, "bias", b, &made[1], error));
  const uint64_t each = filters > 0 ? w->count / (uint64_t)filters : 0;
  for (uint64_t f = 0; f < (uint64_t)filters; f++) {
    const double factor = cm_tensor_number(x->of[0], f) / sqrt(cm_tensor_number(x->of[3], f) + x->epsilon),
                 bias = x->bias != NULL ? cm_tensor_number(x->bias, f) : 0;
    for (uint64_t i = f * each; i < (f + 1) * each; i++)
      ((float *)w->data)[i] = (float)(factor * cm_tensor_number(x->weights, i));
    ((float *)b->data)[f] = (float)(factor * (bias - cm_tensor_number(x->of[2], f)) + cm_tensor_number(x->of[1], f));
  }
  return CM_OK;
}

static cm_status fold_normalization(preparing *p, cm_node *norm, cm_error *error)
{
  cm_model *m = p->model;
  normalization x;
  uint32_t made[2];
  cm_node *conv = norm->input_count == 5 && norm->output_count == 1 ? maker_for_one(m, norm->inputs[0]) : NULL;
  if (conv == NULL || !cm_node_is(conv, cm_kernel_conv) || cm_node_integer(norm, "training_mode", 0) != 0 || !is_constant(m, conv, 1) ||
      (conv->input_count > 2 && conv->inputs[2] != CM_NONE && !is_constant(m, conv, 2)))
    return CM_OK;
  for (uint32_t i = 1; i < 5; i++)
    if (!is_constant(m, norm, i))
      return CM_OK;
  CM_TRY(read_normalization(p, conv, norm, &x, error));
  CM_TRY(scale_filters(p, conv, &x, made, error));
  CM_TRY(set_inputs(m, conv, made[0], made[1], error));
  take_over(m, conv, norm);
  return CM_OK;
}

/* ---- matrices ---- */

/* A bias of one number a column; *bias CM_NONE: it is none. */
static cm_status spread_bias(preparing *p, uint32_t value, int64_t columns, uint32_t *bias, cm_error *error)
{
  const cm_tensor *given;
  cm_tensor *made;
  *bias = CM_NONE;
  CM_TRY(cm_constant_tensor(p->model, value, p->run, &given, error));
  if (given->count != 1 && (given->count != (uint64_t)columns || given->rank == 0 || given->dims[given->rank - 1] != columns))
    return CM_OK;
  CM_TRY(cm_tensor_new(p->model->arena.memory, CM_FLOAT, 1, &columns, &made, error));
  for (uint64_t i = 0; i < made->count; i++)
    ((float *)made->data)[i] = ((const float *)given->data)[given->count == 1 ? 0 : i];
  return take_constant(p, name_of(p, value), made, bias, error);
}

/* Weights [inner, columns] as [columns, inner]. */
static cm_status turn(preparing *p, uint32_t value, uint32_t *turned, cm_error *error)
{
  const cm_tensor *w;
  cm_tensor *made;
  CM_TRY(cm_constant_tensor(p->model, value, p->run, &w, error));
  CM_TRY(cm_tensor_new(p->model->arena.memory, CM_FLOAT, 2, (int64_t[]){w->dims[1], w->dims[0]}, &made, error));
  for (int64_t i = 0; i < w->dims[0]; i++)
    for (int64_t k = 0; k < w->dims[1]; k++)
      ((float *)made->data)[k * w->dims[0] + i] = ((const float *)w->data)[i * w->dims[1] + k];
  return take_constant(p, name_of(p, value), made, turned, error);
}

static cm_status straighten_gemm(preparing *p, cm_node *n, cm_error *error)
{
  cm_model *m = p->model;
  if (!is_constant(m, n, 1) || (n->input_count > 2 && n->inputs[2] != CM_NONE && !is_constant(m, n, 2)))
    return CM_OK;
  const bool straight = cm_node_integer(n, "transB", 0) != 0;
  uint32_t weights = n->inputs[1], bias = n->input_count > 2 ? n->inputs[2] : CM_NONE;
  const int64_t columns = m->values[weights].shape.dims[straight ? 0 : 1];
  if ((bias != CM_NONE && spread_bias(p, bias, columns, &bias, error) != CM_OK) || (!straight && turn(p, weights, &weights, error) != CM_OK))
    return error->status;
  if (bias == CM_NONE && n->input_count > 2 && n->inputs[2] != CM_NONE)
    return CM_OK;
  return set_inputs(m, n, weights, bias, error) == CM_OK ? cm_node_set_integer(m, n, "transB", 1, error) : error->status;
}

/* MatMul of two matrices and a constant on top. */
static cm_status fold_bias(preparing *p, cm_node *add, cm_error *error)
{
  cm_model *m = p->model;
  uint32_t bias, weights;
  const uint32_t at = is_constant(m, add, 1) ? 0 : 1;
  if (add->known == NULL || add->known->variant != CM_VARIANT_SUM || add->input_count != 2 || !is_constant(m, add, 1 - at))
    return CM_OK;
  cm_node *product = maker_for_one(m, add->inputs[at]);
  if (product == NULL || !cm_node_is(product, cm_kernel_matmul) || !is_constant(m, product, 1) || m->values[product->inputs[0]].shape.rank != 2 ||
      m->values[product->inputs[1]].shape.rank != 2 || m->values[add->outputs[0]].shape.rank != 2)
    return CM_OK;
  CM_TRY(spread_bias(p, add->inputs[1 - at], m->values[product->inputs[1]].shape.dims[1], &bias, error));
  if (bias == CM_NONE)
    return CM_OK;
  CM_TRY(turn(p, product->inputs[1], &weights, error));
  CM_TRY(set_inputs(m, product, weights, bias, error));
  CM_TRY(cm_node_set_integer(m, product, "transB", 1, error));
  product->op = "Gemm";
  product->known = cm_operator_find("", "Gemm", m->opset);
  take_over(m, product, add);
  return CM_OK;
}

cm_status cm_prepare(cm_model *model, cm_run *run, cm_error *error)
{
  preparing p = {model, run};
  for (size_t i = 0; i < model->order_count; i++) {
    cm_node *n = &model->nodes[model->order[i]];
    cm_status status = cm_run_check(run, error);
    if (status == CM_OK && cm_node_is(n, cm_kernel_batch_norm))
      status = fold_normalization(&p, n, error);
    else if (status == CM_OK && cm_node_is(n, cm_kernel_binary))
      status = fold_bias(&p, n, error);
    else if (status == CM_OK && cm_node_is(n, cm_kernel_gemm))
      status = straighten_gemm(&p, n, error);
    if (status != CM_OK)
      return status;
  }
  return cm_model_sweep(model, error) == CM_OK ? cm_infer(model, run, error) : error->status;
}
