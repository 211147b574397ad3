/* A product as parts of its sum: slices, a product of each, additions, and what rescales the sum of integers. */
#include <string.h>

#include "core/machine/plan/partial_sums_cut.h"

/* A new value of a shape. */
static cm_status add_value(cm_model *m, const char *stem, const cm_shape *shape, uint32_t *value, cm_error *error)
{
  CM_TRY(cm_model_add_named(m, stem, value, error));
  m->values[*value].shape = *shape;
  return CM_OK;
}

static cm_status slice(cm_model *m, uint32_t from, uint32_t axis, const int64_t ends[2], uint32_t *made, cm_error *error)
{
  cm_shape shape = m->values[from].shape;
  shape.dims[axis] = ends[1] - ends[0];
  CM_TRY(cm_model_add_slice(m, from, axis, ends, made, error));
  m->values[*made].shape = shape;
  return CM_OK;
}

/* The product of one slice each; a third operand goes to the first, zero points to all. */
static cm_status part_of_sum(cm_model *m, uint32_t node, const cm_sum_operands *o, const int64_t ends[2], uint32_t *made, cm_error *error)
{
  const cm_node whole = m->nodes[node];
  const bool convolution = strstr(whole.op, "Conv") != NULL;
  uint32_t inputs[4] = {CM_NONE, CM_NONE, CM_NONE, CM_NONE}, count = 2, number;
  for (int i = 0; i < 2; i++)
    CM_TRY(slice(m, whole.inputs[o->input[i]], o->axis[i], ends, &inputs[i], error));
  for (uint32_t i = 0; o->integer && i < 2; i++)
    inputs[2 + i] = o->zero[i] < whole.input_count ? whole.inputs[o->zero[i]] : CM_NONE;
  if (!o->integer && o->bias < whole.input_count && ends[0] == 0)
    inputs[2] = whole.inputs[o->bias];
  for (uint32_t i = 2; i < 4; i++)
    count = inputs[i] != CM_NONE ? i + 1 : count;
  cm_shape shape = m->values[whole.outputs[0]].shape;
  shape.type = o->integer ? CM_INT32 : shape.type;
  CM_TRY(add_value(m, "part", &shape, made, error));
  CM_TRY(cm_model_add_node(m, !o->integer ? whole.op : convolution ? "ConvInteger" : "MatMulInteger", inputs, count, made, 1,
                           &number, error));
  m->nodes[number].name = whole.name;
  m->nodes[number].attributes = whole.attributes;
  m->nodes[number].attribute_count = whole.attribute_count;
  return CM_OK;
}

/* One more node of the cut sum, of the shape of its output in a type. */
typedef struct step {
  const char *op;
  const uint32_t *inputs;
  uint32_t count;
  cm_type type;
  bool last;
} step;

/* *value is what it makes: the output itself at last. */
static cm_status add_step(cm_model *m, uint32_t node, const step *s, uint32_t *value, uint32_t *number, cm_error *error)
{
  const cm_node whole = m->nodes[node];
  cm_shape shape = m->values[whole.outputs[0]].shape;
  uint32_t made = whole.outputs[0]; /* what is read may be named by `value` */
  shape.type = s->type;
  CM_TRY_IF(!s->last, add_value(m, "sum", &shape, &made, error));
  CM_TRY(cm_model_add_node(m, s->op, s->inputs, s->count, &made, 1, number, error));
  m->nodes[*number].name = whole.name;
  *value = made;
  return CM_OK;
}

/* Neighbours are added until one is left: always the same order, whatever runs when. */
static cm_status add_up(cm_model *m, uint32_t node, const cm_sum_operands *o, uint32_t *part, uint32_t count, cm_error *error)
{
  const cm_type type = o->integer ? CM_INT32 : m->values[m->nodes[node].outputs[0]].shape.type;
  while (count > 1) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i += 2) {
      uint32_t sum, number;
      if (i + 1 == count) {
        part[left++] = part[i];
        continue;
      }
      CM_TRY(add_step(m, node, &(step){"Add", part + i, 2, type, !o->rescaled && count == 2}, &sum, &number, error));
      part[left++] = sum;
    }
    count = left;
  }
  return CM_OK;
}

/* A constant made of another's numbers, one along the axis of the output that filters or columns lie on. */
static cm_status add_along(cm_model *m, uint32_t node, bool convolution, cm_tensor *tensor, uint32_t *value, cm_error *error)
{
  const cm_shape *y = &m->values[m->nodes[node].outputs[0]].shape;
  uint32_t rank = convolution && tensor->count > 1 ? y->rank - 1 : 1;
  int64_t dims[CM_RANK_MAX];
  cm_tensor *shaped;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = i == 0 ? (int64_t)tensor->count : 1;
  CM_TRY(cm_tensor_reshaped(m->arena.memory, tensor, rank, dims, &shaped, error));
  return cm_model_add_constant(m, "rescale", shaped, value, error);
}

/* Sums of a quantized product put in 8 bits again, number by number as its kernel does: the bias, the factor of the scales,
 * and rounding half to even to the zero point. */
static cm_status rescale(cm_model *m, uint32_t node, uint32_t sum, const cm_sum_operands *o, cm_error *error)
{
  const cm_node whole = m->nodes[node];
  const bool convolution = o->bias != CM_NONE;
  const cm_tensor *scale[3] = {m->values[whole.inputs[1]].tensor, m->values[whole.inputs[4]].tensor, m->values[whole.inputs[6]].tensor};
  const int64_t count = (int64_t)scale[1]->count, one = 1;
  cm_tensor *factor, *unit;
  uint32_t inputs[3] = {sum}, number;
  cm_status status = CM_OK;
  if (convolution && o->bias < whole.input_count && whole.inputs[o->bias] != CM_NONE &&
      (add_along(m, node, true, m->values[whole.inputs[o->bias]].tensor, &inputs[1], error) != CM_OK ||
       add_step(m, node, &(step){"Add", inputs, 2, CM_INT32, false}, &inputs[0], &number, error) != CM_OK))
    return error->status;
  CM_TRY(add_step(m, node, &(step){"Cast", inputs, 1, CM_FLOAT, false}, &inputs[0], &number, error));
  CM_TRY(cm_node_set_integer(m, &m->nodes[number], "to", CM_FLOAT, error));
  CM_TRY(cm_tensor_new(m->arena.memory, CM_FLOAT, 1, &count, &factor, error));
  for (int64_t i = 0; i < count; i++)
    ((float *)factor->data)[i] = ((const float *)scale[0]->data)[0] * ((const float *)scale[1]->data)[i] / ((const float *)scale[2]->data)[0];
  status = add_along(m, node, convolution, factor, &inputs[1], error);
  cm_tensor_free(factor);
  if (status != CM_OK || add_step(m, node, &(step){"Mul", inputs, 2, CM_FLOAT, false}, &inputs[0], &number, error) != CM_OK ||
      cm_tensor_new(m->arena.memory, CM_FLOAT, 0, &one, &unit, error) != CM_OK)
    return error->status;
  ((float *)unit->data)[0] = 1;
  CM_TRY(cm_model_add_constant(m, "unit", unit, &inputs[1], error));
  inputs[2] = whole.inputs[7];
  return add_step(m, node, &(step){"QuantizeLinear", inputs, 3, m->values[whole.outputs[0]].shape.type, true}, &inputs[0], &number, error);
}

cm_status cm_sum_cut_node(cm_model *m, uint32_t node, const cm_sum_operands *o, int64_t extent, uint32_t parts, cm_error *error)
{
  uint32_t part[CM_SUM_PARTS_MAX];
  m->nodes[node].removed = true;
  for (uint32_t p = 0; p < parts; p++)
    CM_TRY(part_of_sum(m, node, o, (int64_t[]){extent * p / parts, extent * (p + 1) / parts}, &part[p], error));
  CM_TRY(add_up(m, node, o, part, parts, error));
  return o->rescaled ? rescale(m, node, part[0], o, error) : CM_OK;
}
