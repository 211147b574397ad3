/* ONNX bytes to a cm_model. Protocol buffers' types stay here, in onnx_tensor.c and in onnx_write.c.
 *
 * Happy path: walk the bytes and unpack (onnx_tensor.c), take over opsets, values, initializers, nodes, then sort.
 * What can fail: damaged bytes, unsupported parts, names that nobody makes or two make, and memory. */
#include <stdio.h>
#include <string.h>

#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_external.h"
#include "core/operators/operator.h"

/* ---- the reader ---- */

typedef struct reader {
  cm_model *model;
  cm_memory *memory;
  ProtobufCAllocator allocator;
  cm_proto_account account;
  uint32_t *table; /* open addressing: value + 1 by name */
  size_t table_size;
} reader;

static uint64_t hash_name(const char *name)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
  return hash;
}

static uint32_t *slot_of(const reader *r, const char *name)
{
  size_t i = hash_name(name) & (r->table_size - 1);
  while (r->table[i] != 0 && strcmp(r->model->values[r->table[i] - 1].name, name) != 0)
    i = (i + 1) & (r->table_size - 1);
  return &r->table[i];
}

/* The value of a name, made when it is new. "" is no value. */
static cm_status value_of(reader *r, const char *name, uint32_t *value, cm_error *error)
{
  if (name[0] == '\0') {
    *value = CM_NONE;
    return CM_OK;
  }
  uint32_t *slot = slot_of(r, name);
  if (*slot == 0) {
    uint32_t made;
    if (cm_model_add_value(r->model, name, &made, error) != CM_OK)
      return error->status;
    *slot = made + 1;
  }
  *value = *slot - 1;
  return CM_OK;
}

static const char *keep(reader *r, const char *text, cm_error *error)
{
  return cm_arena_text(&r->model->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0, error);
}

static cm_status pack(reader *r, const ProtobufCMessage *message, const uint8_t **packed, size_t *size, cm_error *error)
{
  uint8_t *bytes;
  *size = protobuf_c_message_get_packed_size(message);
  if (CM_ARENA_NEW(&r->model->arena, bytes, *size, error) != CM_OK)
    return error->status;
  protobuf_c_message_pack(message, bytes);
  *packed = bytes;
  return CM_OK;
}

/* Takes over the type of a graph input, output or inner value. */
static cm_status read_type(reader *r, const Onnx__ValueInfoProto *info, uint32_t value, cm_error *error)
{
  cm_value *v = &r->model->values[value];
  if (info->type == NULL)
    return CM_OK;
  if (info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
    v->shape.type = info->type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE ? CM_SEQUENCE : CM_TYPE_NONE;
    return pack(r, &info->type->base, &v->packed_type, &v->packed_type_bytes, error);
  }
  const Onnx__TypeProto__Tensor *t = info->type->tensor_type;
  if (t->elem_type < 0 || t->elem_type >= CM_TYPE_COUNT)
    return cm_fail(error, CM_BAD_NETWORK, "value '%.80s' has element type %d, which is none of ONNX", v->name,
                   t->elem_type);
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
        (v->dim_names[i] = keep(r, d->dim_param, error)) == NULL)
      return error->status;
  }
  return CM_OK;
}

static cm_status read_initializers(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_initializer; i++) {
    const Onnx__TensorProto *p = g->initializer[i];
    uint32_t value;
    cm_tensor *tensor;
    if (p->name == NULL || p->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "initializer %zu has no name", i);
    if (value_of(r, p->name, &value, error) != CM_OK)
      return error->status;
    cm_value *v = &r->model->values[value];
    if (v->initializer)
      return cm_fail(error, CM_BAD_NETWORK, "two initializers are named '%.80s'", p->name);
    if (cm_proto_tensor(p, p->name, r->memory, &tensor, error) != CM_OK)
      return error->status;
    v->tensor = tensor;
    v->initializer = v->constant = true;
    v->shape.type = tensor->type;
    v->shape.rank = tensor->rank;
    memcpy(v->shape.dims, tensor->dims, sizeof v->shape.dims);
  }
  return CM_OK;
}

static cm_status read_inputs(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  if (CM_ARENA_NEW(&m->arena, m->inputs, g->n_input, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < g->n_input; i++) {
    uint32_t value;
    if (g->input[i]->name == NULL || g->input[i]->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "graph input %zu has no name", i);
    if (value_of(r, g->input[i]->name, &value, error) != CM_OK)
      return error->status;
    /* Before IR version 4 every initializer had to be listed; since then it would be a default that a caller may
     * override. Compiling fixes it: weights are permuted, and an override in the old layout would be wrong. */
    if (m->values[value].initializer)
      continue;
    if (read_type(r, g->input[i], value, error) != CM_OK)
      return error->status;
    m->inputs[m->input_count++] = value;
  }
  return CM_OK;
}

static cm_status read_outputs(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  if (CM_ARENA_NEW(&m->arena, m->outputs, g->n_output, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < g->n_output; i++) {
    uint32_t value;
    if (g->output[i]->name == NULL || g->output[i]->name[0] == '\0')
      return cm_fail(error, CM_BAD_NETWORK, "graph output %zu has no name", i);
    if (value_of(r, g->output[i]->name, &value, error) != CM_OK)
      return error->status;
    if (m->values[value].shape.type == CM_TYPE_NONE && read_type(r, g->output[i], value, error) != CM_OK)
      return error->status;
    m->outputs[m->output_count++] = value;
  }
  return CM_OK;
}

/* Notes every outer value that a subgraph's nodes read: they must stay as they are. */
static cm_status capture(reader *r, const Onnx__GraphProto *g, uint32_t **list, size_t *capacity, uint32_t *count,
                         cm_error *error)
{
  for (size_t i = 0; i < g->n_node + 1; i++) {
    size_t names = i < g->n_node ? g->node[i]->n_input : g->n_output;
    for (size_t j = 0; j < names; j++) {
      const char *name = i < g->n_node ? g->node[i]->input[j] : g->output[j]->name;
      uint32_t slot = name != NULL && name[0] != '\0' ? *slot_of(r, name) : 0;
      void *block = *list;
      if (slot == 0)
        continue;
      if (cm_arena_grow(&r->model->arena, &block, capacity, *count, sizeof **list, error) != CM_OK)
        return error->status;
      *list = block;
      (*list)[(*count)++] = slot - 1;
    }
    for (size_t j = 0; i < g->n_node && j < g->node[i]->n_attribute; j++)
      if (g->node[i]->attribute[j]->g != NULL &&
          capture(r, g->node[i]->attribute[j]->g, list, capacity, count, error) != CM_OK)
        return error->status;
  }
  return CM_OK;
}

/* The kind of an attribute: as it says, or as its fields say in files that do not. */
static int kind_of(const Onnx__AttributeProto *p)
{
  if (p->has_type && p->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
    return (int)p->type;
  return p->has_f ? 1 : p->has_i ? 2 : p->has_s ? 3 : p->t != NULL ? 4 : p->n_floats > 0 ? 6 : p->n_ints > 0 ? 7 : 0;
}

/* Strings as lines of one text; false where one of them has lines itself. */
static bool are_lines(const Onnx__AttributeProto *p, size_t *bytes)
{
  *bytes = 0;
  for (size_t i = 0; i < p->n_strings; i++) {
    const ProtobufCBinaryData *s = &p->strings[i];
    if (s->len > 0 && (memchr(s->data, '\n', s->len) != NULL || memchr(s->data, '\0', s->len) != NULL))
      return false;
    *bytes += s->len + (i > 0);
  }
  return p->n_strings > 0;
}

static cm_status read_strings(reader *r, const Onnx__AttributeProto *p, size_t bytes, cm_attribute *a, cm_error *error)
{
  char *text;
  if (CM_ARENA_NEW(&r->model->arena, text, bytes + 1, error) != CM_OK)
    return error->status;
  a->text = text;
  a->count = bytes;
  for (size_t i = 0; i < p->n_strings; i++) {
    if (i > 0)
      *text++ = '\n';
    if (p->strings[i].len > 0)
      memcpy(text, p->strings[i].data, p->strings[i].len);
    text += p->strings[i].len;
  }
  return CM_OK;
}

static cm_status read_attribute(reader *r, const Onnx__AttributeProto *p, cm_attribute *a, cm_error *error)
{
  cm_arena *arena = &r->model->arena;
  if (p->name == NULL || (a->name = keep(r, p->name, error)) == NULL)
    return p->name == NULL ? cm_fail(error, CM_BAD_NETWORK, "an attribute has no name") : error->status;
  int64_t *integers;
  float *numbers;
  size_t bytes;
  a->kind = (cm_attribute_kind)kind_of(p);
  if (kind_of(p) == CM_ATTRIBUTE_STRINGS && are_lines(p, &bytes))
    return read_strings(r, p, bytes, a, error);
  switch (kind_of(p)) {
  case CM_ATTRIBUTE_FLOAT:
    a->number = p->f;
    return CM_OK;
  case CM_ATTRIBUTE_INT:
    a->integer = p->i;
    return CM_OK;
  case CM_ATTRIBUTE_STRING:
    a->count = p->s.len;
    a->text = cm_arena_text(arena, (const char *)p->s.data, p->s.len, error);
    return a->text != NULL ? CM_OK : error->status;
  case CM_ATTRIBUTE_TENSOR:
    if (p->t == NULL)
      return cm_fail(error, CM_BAD_NETWORK, "attribute '%.80s' should hold a tensor", a->name);
    return cm_proto_tensor(p->t, a->name, r->memory, &a->tensor, error);
  case CM_ATTRIBUTE_FLOATS:
    if (CM_ARENA_NEW(arena, numbers, p->n_floats, error) != CM_OK)
      return error->status;
    if (p->n_floats > 0)
      memcpy(numbers, p->floats, p->n_floats * sizeof *numbers);
    a->numbers = numbers;
    a->count = p->n_floats;
    return CM_OK;
  case CM_ATTRIBUTE_INTS:
    if (CM_ARENA_NEW(arena, integers, p->n_ints, error) != CM_OK)
      return error->status;
    if (p->n_ints > 0)
      memcpy(integers, p->ints, p->n_ints * sizeof *integers);
    a->integers = integers;
    a->count = p->n_ints;
    return CM_OK;
  default:
    a->kind = CM_ATTRIBUTE_PACKED;
    return pack(r, &p->base, &a->packed, &a->count, error);
  }
}

cm_status cm_onnx_attribute(cm_model *model, const Onnx__AttributeProto *message, cm_attribute *made, cm_error *error)
{
  reader r = {.model = model, .memory = model->arena.memory};
  return read_attribute(&r, message, made, error);
}

static cm_status read_names(reader *r, char **names, size_t count, uint32_t **values, uint32_t *value_count,
                            cm_error *error)
{
  if (CM_ARENA_NEW(&r->model->arena, *values, count, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < count; i++)
    if (value_of(r, names[i], &(*values)[i], error) != CM_OK)
      return error->status;
  *value_count = (uint32_t)count;
  return CM_OK;
}

static int64_t opset_of(const cm_model *m, const char *domain)
{
  for (size_t i = 0; i < m->opset_count; i++)
    if (strcmp(m->opsets[i].domain, domain) == 0)
      return m->opsets[i].version;
  return 0;
}

static cm_status read_node(reader *r, const Onnx__NodeProto *p, cm_node *n, cm_error *error)
{
  const char *domain = p->domain != NULL && strcmp(p->domain, "ai.onnx") != 0 ? p->domain : "";
  n->name = keep(r, p->name, error);
  n->op = keep(r, p->op_type, error);
  n->domain = keep(r, domain, error);
  if (n->name == NULL || n->op == NULL || n->domain == NULL ||
      read_names(r, p->input, p->n_input, &n->inputs, &n->input_count, error) != CM_OK ||
      read_names(r, p->output, p->n_output, &n->outputs, &n->output_count, error) != CM_OK ||
      CM_ARENA_NEW(&r->model->arena, n->attributes, p->n_attribute, error) != CM_OK)
    return error->status;
  for (; n->attribute_count < p->n_attribute; n->attribute_count++)
    if (read_attribute(r, p->attribute[n->attribute_count], &n->attributes[n->attribute_count], error) != CM_OK) {
      /* What the failing one holds is freed with the others. */
      n->attribute_count++;
      return error->status;
    }
  n->known = cm_operator_find(n->domain, n->op, opset_of(r->model, n->domain));
  return CM_OK;
}

static cm_status read_nodes(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  if (CM_ARENA_NEW(&m->arena, m->nodes, g->n_node + 1, error) != CM_OK)
    return error->status;
  m->node_capacity = g->n_node + 1;
  for (size_t i = 0; i < g->n_node; i++) {
    char label[160], detail[400];
    cm_node *n = &m->nodes[m->node_count++];
    if (read_node(r, g->node[i], n, error) != CM_OK) {
      memcpy(detail, error->detail, sizeof detail);
      detail[sizeof detail - 1] = '\0';
      if (error->status == CM_BAD_NETWORK || error->status == CM_TOO_LARGE) {
        cm_status status = error->status;
        (void)cm_fail(error, status, "node %zu (%s): %s", i,
                      n->op != NULL && n->name != NULL ? cm_node_label(n, label, sizeof label) : "?", detail);
        return cm_fail_at(error, "node %zu", i);
      }
      return error->status;
    }
    for (uint32_t o = 0; o < n->output_count; o++) {
      if (n->outputs[o] == CM_NONE)
        continue;
      cm_value *v = &m->values[n->outputs[o]];
      bool is_input = false;
      for (size_t k = 0; k < m->input_count; k++)
        is_input = is_input || m->inputs[k] == n->outputs[o];
      if (v->producer != CM_NONE || v->initializer || is_input)
        return cm_fail(error, CM_BAD_NETWORK, "value '%.80s' is made twice, the second time by node %zu (%s)", v->name,
                       i, cm_node_label(n, label, sizeof label));
      v->producer = (uint32_t)i;
    }
  }
  return CM_OK;
}

static cm_status read_captures(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_node; i++) {
    cm_node *n = &r->model->nodes[i];
    size_t capacity = 0;
    for (size_t j = 0; j < g->node[i]->n_attribute; j++) {
      const Onnx__AttributeProto *a = g->node[i]->attribute[j];
      if (a->g != NULL || a->n_graphs > 0)
        n->known = NULL;
      if (a->g != NULL && capture(r, a->g, &n->captured, &capacity, &n->captured_count, error) != CM_OK)
        return error->status;
      for (size_t k = 0; k < a->n_graphs; k++)
        if (capture(r, a->graphs[k], &n->captured, &capacity, &n->captured_count, error) != CM_OK)
          return error->status;
    }
  }
  return CM_OK;
}

static cm_status check_makers(const cm_model *m, cm_error *error)
{
  char label[160];
  for (size_t i = 0; i < m->input_count; i++)
    m->values[m->inputs[i]].use_count = 1; /* for now: is an input */
  for (size_t i = 0; i < m->node_count; i++)
    for (uint32_t j = 0; j < m->nodes[i].input_count; j++) {
      const cm_value *v = m->nodes[i].inputs[j] != CM_NONE ? &m->values[m->nodes[i].inputs[j]] : NULL;
      if (v != NULL && v->producer == CM_NONE && !v->initializer && v->use_count == 0) {
        (void)cm_fail(error, CM_BAD_NETWORK, "node %zu (%s) reads '%.80s', which nobody makes", i,
                      cm_node_label(&m->nodes[i], label, sizeof label), v->name);
        return cm_fail_at(error, "node %zu", i);
      }
    }
  for (size_t i = 0; i < m->output_count; i++) {
    const cm_value *v = &m->values[m->outputs[i]];
    if (v->producer == CM_NONE && !v->initializer && v->use_count == 0)
      return cm_fail(error, CM_BAD_NETWORK, "graph output '%.80s' is made by no node", v->name);
  }
  return CM_OK;
}

static cm_status read_header(reader *r, const Onnx__ModelProto *p, cm_error *error)
{
  cm_model *m = r->model;
  if (p->graph == NULL || !p->has_ir_version)
    return cm_fail(error, CM_BAD_NETWORK, "no ONNX model: it has no %s", p->graph == NULL ? "graph" : "IR version");
  if (p->n_training_info > 0 || p->graph->n_sparse_initializer > 0)
    return cm_fail(error, CM_BAD_NETWORK, "%s are not supported",
                   p->n_training_info > 0 ? "training graphs" : "sparse initializers");
  m->ir_version = p->ir_version;
  m->model_version = p->model_version;
  m->producer_name = keep(r, p->producer_name, error);
  m->producer_version = keep(r, p->producer_version, error);
  m->domain = keep(r, p->domain, error);
  m->doc = keep(r, p->doc_string, error);
  m->graph_name = keep(r, p->graph->name, error);
  m->graph_doc = keep(r, p->graph->doc_string, error);
  if (m->producer_name == NULL || m->producer_version == NULL || m->domain == NULL || m->doc == NULL ||
      m->graph_name == NULL || m->graph_doc == NULL ||
      CM_ARENA_NEW(&m->arena, m->opsets, p->n_opset_import, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->metadata, p->n_metadata_props, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->functions, p->n_functions, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->function_bytes, p->n_functions, error) != CM_OK)
    return error->status;
  for (; m->opset_count < p->n_opset_import; m->opset_count++) {
    const Onnx__OperatorSetIdProto *o = p->opset_import[m->opset_count];
    const char *domain = o->domain != NULL && strcmp(o->domain, "ai.onnx") != 0 ? o->domain : "";
    m->opsets[m->opset_count].version = o->version;
    if ((m->opsets[m->opset_count].domain = keep(r, domain, error)) == NULL)
      return error->status;
  }
  m->opset = p->n_opset_import == 0 ? 1 : opset_of(m, "");
  if (m->opset < CM_OPSET_LEAST || m->opset > CM_OPSET_MOST)
    return cm_fail(error, CM_BAD_NETWORK, "the model uses ONNX opset %lld; supported are %d to %d", (long long)m->opset,
                   CM_OPSET_LEAST, CM_OPSET_MOST);
  for (; m->metadata_count < p->n_metadata_props; m->metadata_count++) {
    cm_text_pair *pair = &m->metadata[m->metadata_count];
    pair->key = keep(r, p->metadata_props[m->metadata_count]->key, error);
    pair->value = keep(r, p->metadata_props[m->metadata_count]->value, error);
    if (pair->key == NULL || pair->value == NULL)
      return error->status;
  }
  for (; m->function_count < p->n_functions; m->function_count++)
    if (pack(r, &p->functions[m->function_count]->base, &m->functions[m->function_count],
             &m->function_bytes[m->function_count], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* Inner values' types are hints: they fill what inference leaves open. */
static cm_status read_hints(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_value_info; i++) {
    const char *name = g->value_info[i]->name;
    uint32_t slot = name != NULL && name[0] != '\0' ? *slot_of(r, name) : 0;
    if (slot != 0 && r->model->values[slot - 1].shape.type == CM_TYPE_NONE &&
        read_type(r, g->value_info[i], slot - 1, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* A first output that is left out while others are there gets a name: what cuts and orders nodes goes by their first. */
static cm_status name_first_outputs(reader *r, cm_error *error)
{
  cm_model *m = r->model;
  for (size_t i = 0; i < m->node_count; i++)
    if (m->nodes[i].output_count > 1 && m->nodes[i].outputs[0] == CM_NONE &&
        cm_model_add_named(m, "unused", &m->nodes[i].outputs[0], error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status make_table(reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  size_t names = g->n_initializer + g->n_input + g->n_output;
  for (size_t i = 0; i < g->n_node; i++)
    names += g->node[i]->n_input + g->node[i]->n_output;
  for (r->table_size = 16; r->table_size < names * 2;)
    r->table_size *= 2;
  return CM_NEW(r->memory, r->table, r->table_size, error);
}

static cm_status read_model(reader *r, const Onnx__ModelProto *p, cm_error *error)
{
  if (read_header(r, p, error) != CM_OK || make_table(r, p->graph, error) != CM_OK ||
      read_initializers(r, p->graph, error) != CM_OK || read_inputs(r, p->graph, error) != CM_OK ||
      read_nodes(r, p->graph, error) != CM_OK || read_outputs(r, p->graph, error) != CM_OK ||
      read_captures(r, p->graph, error) != CM_OK || read_hints(r, p->graph, error) != CM_OK ||
      name_first_outputs(r, error) != CM_OK ||
      check_makers(r->model, error) != CM_OK)
    return error->status;
  return cm_model_sort(r->model, error);
}

cm_status cm_onnx_read_bytes(const void *bytes, size_t size, struct cm_external *source, cm_run *run, cm_model **made,
                             cm_error *error)
{
  reader r = {.memory = run->memory, .account = {.memory = run->memory}};
  r.allocator = cm_proto_allocator(&r.account);
  if (size == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the file is empty");
  if (size > CM_ONNX_BYTES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "an ONNX model may have at most %zu bytes", CM_ONNX_BYTES_MAX);
  ProtobufCMessage *p = cm_proto_unpack(&onnx__model_proto__descriptor, bytes, size, &r.allocator, error);
  if (p == NULL)
    return error->status;
  cm_status status = cm_model_new(run->memory, &r.model, error);
  if (status == CM_OK)
    status = cm_external_fill((Onnx__ModelProto *)p, source, run->memory, &r.allocator, error);
  if (status == CM_OK)
    status = read_model(&r, (const Onnx__ModelProto *)p, error);
  protobuf_c_message_free_unpacked(p, &r.allocator);
  cm_free(r.table);
  if (status != CM_OK) {
    cm_model_free(r.model);
    return status;
  }
  *made = r.model;
  return CM_OK;
}

cm_status cm_onnx_read_memory(const void *bytes, size_t size, cm_run *run, cm_model **made, cm_error *error)
{
  return cm_onnx_read_bytes(bytes, size, NULL, run, made, error);
}
