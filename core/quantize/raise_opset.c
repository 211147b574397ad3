/* Old opsets in the words of a new one. */
#include <string.h>

#include "core/operators/operator.h"
#include "core/quantize/prepare.h"

enum { CHANNELS_OPSET = 13, IR_OF_OPSET_13 = 7, INPUTS_MAX = 5 };

/* An attribute that is an input since an opset; input 0: it is just gone. */
typedef struct moved_attribute {
  const char *op, *name;
  uint32_t input;
  int64_t since;
} moved_attribute;

static const moved_attribute moved[] = {
  {"Squeeze", "axes", 1, 13}, {"Unsqueeze", "axes", 1, 13}, {"ReduceSum", "axes", 1, 13}, {"Split", "split", 1, 13},
  {"Pad", "pads", 1, 11}, {"Pad", "value", 2, 11}, {"Slice", "starts", 1, 10}, {"Slice", "ends", 2, 10}, {"Slice", "axes", 3, 10},
  {"Clip", "min", 1, 11}, {"Clip", "max", 2, 11}, {"TopK", "k", 1, 10}, {"Dropout", "ratio", 0, 12}, {"BatchNormalization", "spatial", 0, 9},
  {"Add", "broadcast", 0, 7}, {"Sub", "broadcast", 0, 7}, {"Mul", "broadcast", 0, 7}, {"Div", "broadcast", 0, 7}, {"Gemm", "broadcast", 0, 7},
  {"ReduceMean", "axes", 1, 18}, {"ReduceMax", "axes", 1, 18}, {"ReduceMin", "axes", 1, 18}, {"ReduceProd", "axes", 1, 18},
  {"ReduceL1", "axes", 1, 18}, {"ReduceL2", "axes", 1, 18}, {"ReduceLogSum", "axes", 1, 18}, {"ReduceLogSumExp", "axes", 1, 18},
  {"ReduceSumSquare", "axes", 1, 18},
};

/* Operators that came to ONNX in an opset after 13, and are written by us in models of older ones. */
static const struct {
  const char *op;
  int64_t since;
} late[] = {{"LayerNormalization", 17}, {"Gelu", 20}, {"RMSNormalization", 23}, {"HardSwish", 14}};

static cm_status as_input(cm_model *m, const cm_attribute *a, uint32_t *value, cm_error *error)
{
  cm_tensor *t;
  if (a->kind == CM_ATTRIBUTE_INT)
    return cm_model_add_integers(m, a->name, &a->integer, 1, value, error);
  if (a->kind == CM_ATTRIBUTE_INTS)
    return cm_model_add_integers(m, a->name, a->integers, a->count, value, error);
  CM_TRY(cm_tensor_new(m->arena.memory, CM_FLOAT, 0, NULL, &t, error));
  *(float *)t->data = a->number;
  cm_status status = cm_model_add_constant(m, a->name, t, value, error);
  cm_tensor_free(t);
  return status;
}

static void drop_attribute(cm_node *n, const cm_attribute *a)
{
  const size_t at = (size_t)(a - n->attributes);
  cm_tensor_free(a->tensor);
  memmove(n->attributes + at, n->attributes + at + 1, (n->attribute_count - at - 1) * sizeof *n->attributes);
  n->attribute_count--;
}

static cm_status move_attribute(cm_model *m, cm_node *n, const moved_attribute *row, cm_error *error)
{
  const cm_attribute *a = cm_node_attribute(n, row->name);
  uint32_t *inputs, value;
  if (a == NULL)
    return CM_OK;
  if (row->input > 0) {
    CM_TRY(as_input(m, a, &value, error));
    CM_TRY(CM_ARENA_NEW(&m->arena, inputs, INPUTS_MAX, error));
    for (uint32_t i = 0; i < INPUTS_MAX; i++)
      inputs[i] = i < n->input_count ? n->inputs[i] : CM_NONE;
    inputs[row->input] = value;
    n->input_count = n->input_count > row->input + 1 ? n->input_count : row->input + 1;
    n->inputs = inputs;
  }
  drop_attribute(n, a);
  return CM_OK;
}

/* Softmax and its like took all axes from one on before opset 13: the same only for the last. */
static cm_status state_axis(cm_model *m, cm_node *n, cm_error *error)
{
  char label[160];
  const uint32_t rank = m->values[n->inputs[0]].shape.rank;
  const int64_t axis = cm_node_integer(n, "axis", 1);
  if (rank == CM_UNKNOWN_RANK || (axis != -1 && axis + 1 != rank))
    return cm_fail(error, CM_BAD_NETWORK, "node %s of opset %lld is over several axes, which no operator of opset 13 is: export the model with that",
                   cm_node_label(n, label, sizeof label), (long long)m->opset);
  return cm_node_set_integer(m, n, "axis", axis, error);
}

static cm_status raise_node(cm_model *m, cm_node *n, int64_t opset, cm_error *error)
{
  static const char *const changed[] = {"Upsample", "Resize", "Loop", "Scan", "If"};
  char label[160];
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
    CM_TRY_IF(strcmp(n->op, moved[i].op) == 0 && m->opset < moved[i].since && opset >= moved[i].since, move_attribute(m, n, &moved[i], error));
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
    if (strcmp(n->op, changed[i]) == 0 && (m->opset < 11 || i >= 2))
      return cm_fail(error, CM_BAD_NETWORK, "node %s of opset %lld cannot be written in opset %lld: export the model with that",
                     cm_node_label(n, label, sizeof label), (long long)m->opset, (long long)opset);
  if (strcmp(n->op, "Scatter") == 0)
    n->op = "ScatterElements";
  if (m->opset < CHANNELS_OPSET && (cm_node_is(n, cm_kernel_softmax) || cm_node_is(n, cm_kernel_hardmax)))
    return state_axis(m, n, error);
  return CM_OK;
}

static cm_status state_opset(cm_model *m, int64_t opset, cm_error *error)
{
  size_t i = 0;
  while (i < m->opset_count && m->opsets[i].domain[0] != '\0')
    i++;
  if (i == m->opset_count) {
    cm_opset *all;
    CM_TRY(CM_ARENA_NEW(&m->arena, all, m->opset_count + 1, error));
    if (m->opset_count > 0)
      memcpy(all, m->opsets, m->opset_count * sizeof *all);
    all[m->opset_count++].domain = "";
    m->opsets = all;
  }
  m->opsets[i].version = opset;
  m->opset = opset;
  m->ir_version = m->ir_version > IR_OF_OPSET_13 ? m->ir_version : IR_OF_OPSET_13;
  return CM_OK;
}

cm_status cm_raise_opset(cm_model *model, cm_error *error)
{
  int64_t opset = model->opset > CHANNELS_OPSET ? model->opset : CHANNELS_OPSET;
  for (size_t i = 0; i < model->order_count; i++)
    for (size_t k = 0; k < sizeof late / sizeof *late; k++) {
      const cm_node *n = &model->nodes[model->order[i]];
      if (n->domain[0] == '\0' && strcmp(n->op, late[k].op) == 0 && late[k].since > opset)
        opset = late[k].since;
    }
  if (opset == model->opset)
    return CM_OK;
  for (size_t i = 0; i < model->order_count; i++) {
    cm_node *n = &model->nodes[model->order[i]];
    CM_TRY_IF(n->domain[0] == '\0', raise_node(model, n, opset, error));
  }
  CM_TRY(state_opset(model, opset, error));
  for (size_t i = 0; i < model->order_count; i++) {
    cm_node *n = &model->nodes[model->order[i]];
    n->known = cm_operator_find(n->domain, n->op, opset);
  }
  return cm_model_sort(model, error);
}
