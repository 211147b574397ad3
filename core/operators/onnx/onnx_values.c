/* Values of an ONNX graph: names, types, what is given. What can fail: names that are missing or there twice, memory. */
#include <string.h>

#include "core/operators/onnx/onnx_proto.h"
#include "core/operators/onnx/onnx_reader.h"
#include "core/operators/operator.h"

static uint64_t hash_name(const char *name)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
  return hash;
}

uint32_t *cm_onnx_slot_of(const cm_onnx_reader *r, const char *name)
{
  size_t i = hash_name(name) & (r->table_size - 1);
  while (r->table[i] != 0 && strcmp(r->model->values[r->table[i] - 1].name, name) != 0)
    i = (i + 1) & (r->table_size - 1);
  return &r->table[i];
}

/* The value of a name, made when it is new. "" is no value. */
cm_status cm_onnx_value_of(cm_onnx_reader *r, const char *name, uint32_t *value, cm_error *error)
{
  if (name[0] == '\0') {
    *value = CM_NONE;
    return CM_OK;
  }
  uint32_t *slot = cm_onnx_slot_of(r, name);
  if (*slot == 0) {
    uint32_t made;
    CM_TRY(cm_model_add_value(r->model, name, &made, error));
    *slot = made + 1;
  }
  *value = *slot - 1;
  return CM_OK;
}

const char *cm_onnx_keep(cm_onnx_reader *r, const char *text, cm_error *error)
{
  return cm_arena_text(&r->model->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0, error);
}

cm_status cm_onnx_pack(cm_onnx_reader *r, const ProtobufCMessage *message, const uint8_t **packed, size_t *size, cm_error *error)
{
  uint8_t *bytes;
  *size = protobuf_c_message_get_packed_size(message);
  CM_TRY(CM_ARENA_NEW(&r->model->arena, bytes, *size, error));
  protobuf_c_message_pack(message, bytes);
  *packed = bytes;
  return CM_OK;
}

/* Takes over the type of a graph input, output or inner value. */
cm_status cm_onnx_read_type(cm_onnx_reader *r, const Onnx__ValueInfoProto *info, uint32_t value, cm_error *error)
{
  cm_value *v = &r->model->values[value];
  if (info->type == NULL)
    return CM_OK;
  if (info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
    v->shape.type = info->type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE ? CM_SEQUENCE : CM_TYPE_NONE;
    return cm_onnx_pack(r, &info->type->base, &v->packed_type, &v->packed_type_bytes, error);
  }
  const Onnx__TypeProto__Tensor *t = info->type->tensor_type;
  if (t->elem_type < 0 || t->elem_type >= CM_TYPE_COUNT)
    return cm_fail(error, CM_BAD_NETWORK, "value '%.80s' has element type %d, which is none of ONNX", v->name, t->elem_type);
  v->shape.type = (cm_type)t->elem_type;
  if (t->shape == NULL)
    return CM_OK;
  if (t->shape->n_dim > CM_RANK_MAX)
    return cm_fail(error, CM_TOO_LARGE, "value '%.80s' has %zu dimensions, at most %d are supported", v->name,
                   t->shape->n_dim, CM_RANK_MAX);
  v->shape.rank = (uint32_t)t->shape->n_dim;
  for (uint32_t i = 0; i < v->shape.rank; i++) {
    const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];
    bool known = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d->dim_value >= 0;
    v->shape.dims[i] = known ? d->dim_value : CM_UNKNOWN_DIM;
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
        (v->dim_names[i] = cm_onnx_keep(r, d->dim_param, error)) == NULL)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_onnx_read_initializers(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_initializer; i++) {
    const Onnx__TensorProto *p = g->initializer[i];
    uint32_t value;
    cm_tensor *tensor;
    CM_TRY(cm_run_check(r->run, error));
    if (p->name == NULL || p->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "initializer %zu has no name", i);
    CM_TRY(cm_onnx_value_of(r, p->name, &value, error));
    cm_value *v = &r->model->values[value];
    if (v->initializer)
      return cm_fail(error, CM_BAD_NETWORK, "two initializers are named '%.80s'", p->name);
    CM_TRY(cm_proto_tensor(p, p->name, r->memory, &tensor, error));
    v->tensor = tensor;
    v->initializer = v->constant = true;
    v->shape.type = tensor->type;
    v->shape.rank = tensor->rank;
    memcpy(v->shape.dims, tensor->dims, sizeof v->shape.dims);
  }
  return CM_OK;
}

cm_status cm_onnx_read_inputs(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  CM_TRY(CM_ARENA_NEW(&m->arena, m->inputs, g->n_input, error));
  for (size_t i = 0; i < g->n_input; i++) {
    uint32_t value;
    if (g->input[i]->name == NULL || g->input[i]->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "graph input %zu has no name", i);
    CM_TRY(cm_onnx_value_of(r, g->input[i]->name, &value, error));
    /* Before IR version 4 every initializer had to be listed; since then it would be a default that a caller may
     * override. Compiling fixes it: weights are permuted, and an override in the old layout would be wrong. */
    if (m->values[value].initializer)
      continue;
    CM_TRY(cm_onnx_read_type(r, g->input[i], value, error));
    m->inputs[m->input_count++] = value;
  }
  return CM_OK;
}

cm_status cm_onnx_read_outputs(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  CM_TRY(CM_ARENA_NEW(&m->arena, m->outputs, g->n_output, error));
  for (size_t i = 0; i < g->n_output; i++) {
    uint32_t value;
    if (g->output[i]->name == NULL || g->output[i]->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "graph output %zu has no name", i);
    CM_TRY(cm_onnx_value_of(r, g->output[i]->name, &value, error));
    CM_TRY_IF(m->values[value].shape.type == CM_TYPE_NONE, cm_onnx_read_type(r, g->output[i], value, error));
    m->outputs[m->output_count++] = value;
  }
  return CM_OK;
}

/* Notes every outer value that a subgraph's nodes read: they must stay as they are. */
cm_status cm_onnx_capture(cm_onnx_reader *r, const Onnx__GraphProto *g, uint32_t **list, size_t *capacity, uint32_t *count,
                         cm_error *error)
{
  for (size_t i = 0; i < g->n_node + 1; i++) {
    size_t names = i < g->n_node ? g->node[i]->n_input : g->n_output;
    for (size_t j = 0; j < names; j++) {
      const char *name = i < g->n_node ? g->node[i]->input[j] : g->output[j]->name;
      uint32_t slot = name != NULL && name[0] != '\0' ? *cm_onnx_slot_of(r, name) : 0;
      void *block = *list;
      if (slot == 0)
        continue;
      CM_TRY(cm_arena_grow(&r->model->arena, &block, capacity, *count, sizeof **list, error));
      *list = block;
      (*list)[(*count)++] = slot - 1;
    }
    for (size_t j = 0; i < g->n_node && j < g->node[i]->n_attribute; j++)
      CM_TRY_IF(g->node[i]->attribute[j]->g != NULL, cm_onnx_capture(r, g->node[i]->attribute[j]->g, list, capacity, count, error));
  }
  return CM_OK;
}

/* Operators to which the number of their outputs says something, even of those that nobody reads: Split, and all with graphs. */
static bool counts_outputs(const cm_node *node)
{
  bool counts = cm_node_is(node, cm_kernel_split);
  for (size_t i = 0; i < node->attribute_count; i++)
    counts = counts || node->attributes[i].kind == CM_ATTRIBUTE_PACKED;
  return counts;
}

void cm_onnx_trim_outputs(cm_node *node)
{
  uint32_t there = node->output_count;
  while (there > 0 && node->outputs[there - 1] == CM_NONE)
    there--;
  node->removed = there == 0;
  if (node->removed || !counts_outputs(node))
    node->output_count = there;
}
