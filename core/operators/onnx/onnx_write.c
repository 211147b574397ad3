/* A cm_model to ONNX bytes. The message is built on an arena that points into the model, then packed in one go. */
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx.pb-c.h"

typedef struct writer {
  const cm_model *model;
  cm_arena arena;
  ProtobufCAllocator allocator; /* for the few messages that are unpacked again */
} writer;

static void *writer_allocate(void *data, size_t size)
{
  cm_error ignored;
  return cm_arena_allocate(data, size, 1, &ignored);
}

static void writer_free(CM_UNUSED void *data, CM_UNUSED void *block)
{
}

/* protobuf-c's members are not const, but packing never writes. */
static char *text(const char *t)
{
  return (char *)(uintptr_t)t;
}

static char *text_or_null(const char *t)
{
  return t != NULL && t[0] != '\0' ? text(t) : NULL;
}

/* A message of an initialised kind; NULL and the error otherwise. */
#define MAKE(w, pointer, init, error) \
  (CM_ARENA_NEW(&(w)->arena, pointer, 1, error) == CM_OK ? ((init)(pointer), (cm_status)CM_OK) \
                                                        : (error)->status)

static cm_status raw_bytes(writer *w, const cm_tensor *t, ProtobufCBinaryData *raw, cm_error *error)
{
  unsigned bits = cm_type_bits(t->type);
  raw->data = t->data;
  raw->len = (t->count * bits + 7) / 8;
  if (bits >= 8)
    return CM_OK;
  CM_TRY(CM_ARENA_NEW(&w->arena, raw->data, raw->len, error));
  for (uint64_t i = 0; i < t->count; i++)
    raw->data[i * bits / 8] |= (uint8_t)((((const uint8_t *)t->data)[i] & ((1U << bits) - 1)) << (i * bits % 8));
  return CM_OK;
}

static cm_status write_tensor(writer *w, const cm_tensor *t, const char *name, Onnx__TensorProto **made, cm_error *error)
{
  Onnx__TensorProto *p;
  if (t->type == CM_STRING) {
    p = onnx__tensor_proto__unpack(&w->allocator, t->packed_bytes, t->data);
    CM_TRY(cm_whole(p != NULL, "an ONNX model", error));
  } else {
    CM_TRY(MAKE(w, p, onnx__tensor_proto__init, error));
    CM_TRY(raw_bytes(w, t, &p->raw_data, error));
    p->has_data_type = p->has_raw_data = 1;
    p->data_type = (int32_t)t->type;
    p->n_dims = t->rank;
    p->dims = (int64_t *)(uintptr_t)t->dims;
  }
  p->name = text_or_null(name);
  *made = p;
  return CM_OK;
}

static cm_status write_type(writer *w, const cm_value *v, Onnx__TypeProto **made, cm_error *error)
{
  Onnx__TypeProto *p;
  if (v->packed_type != NULL) {
    *made = onnx__type_proto__unpack(&w->allocator, v->packed_type_bytes, v->packed_type);
    return cm_whole(*made != NULL, "an ONNX model", error);
  }
  if (v->shape.type == CM_TYPE_NONE || v->shape.type == CM_SEQUENCE)
    return CM_OK;
  CM_TRY(MAKE(w, p, onnx__type_proto__init, error));
  CM_TRY(MAKE(w, p->tensor_type, onnx__type_proto__tensor__init, error));
  p->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  p->tensor_type->has_elem_type = 1;
  p->tensor_type->elem_type = (int32_t)v->shape.type;
  *made = p;
  if (v->shape.rank == CM_UNKNOWN_RANK)
    return CM_OK;
  Onnx__TensorShapeProto *shape;
  CM_TRY(MAKE(w, shape, onnx__tensor_shape_proto__init, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, shape->dim, v->shape.rank, error));
  shape->n_dim = v->shape.rank;
  for (uint32_t i = 0; i < v->shape.rank; i++) {
    Onnx__TensorShapeProto__Dimension *d;
    CM_TRY(MAKE(w, d, onnx__tensor_shape_proto__dimension__init, error));
    if (v->shape.dims[i] >= 0) {
      d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      d->dim_value = v->shape.dims[i];
    } else if (v->dim_names[i] != NULL) {
      d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
      d->dim_param = text(v->dim_names[i]);
    }
    shape->dim[i] = d;
  }
  p->tensor_type->shape = shape;
  return CM_OK;
}

static cm_status write_value(writer *w, uint32_t value, Onnx__ValueInfoProto **made, cm_error *error)
{
  const cm_value *v = &w->model->values[value];
  CM_TRY(MAKE(w, *made, onnx__value_info_proto__init, error));
  (*made)->name = text(v->name);
  return write_type(w, v, &(*made)->type, error);
}

static cm_status write_strings(writer *w, const cm_attribute *a, Onnx__AttributeProto *p, cm_error *error)
{
  const char *at = a->text;
  p->n_strings = a->count > 0;
  for (size_t i = 0; i < a->count; i++)
    p->n_strings += a->text[i] == '\n';
  CM_TRY(CM_ARENA_NEW(&w->arena, p->strings, p->n_strings, error));
  for (size_t i = 0; i < p->n_strings; i++) {
    size_t length = strcspn(at, "\n");
    p->strings[i] = (ProtobufCBinaryData){.len = length, .data = (uint8_t *)(uintptr_t)at};
    at += length + 1;
  }
  return CM_OK;
}

static cm_status write_attribute(writer *w, const cm_attribute *a, Onnx__AttributeProto **made, cm_error *error)
{
  Onnx__AttributeProto *p;
  if (a->kind == CM_ATTRIBUTE_PACKED) {
    *made = onnx__attribute_proto__unpack(&w->allocator, a->count, a->packed);
    return cm_whole(*made != NULL, "an ONNX model", error);
  }
  CM_TRY(MAKE(w, p, onnx__attribute_proto__init, error));
  p->name = text(a->name);
  p->has_type = 1;
  p->type = (Onnx__AttributeProto__AttributeType)a->kind;
  *made = p;
  switch (a->kind) {
  case CM_ATTRIBUTE_FLOAT:
    p->has_f = 1;
    p->f = a->number;
    break;
  case CM_ATTRIBUTE_INT:
    p->has_i = 1;
    p->i = a->integer;
    break;
  case CM_ATTRIBUTE_STRING:
    p->has_s = 1;
    p->s = (ProtobufCBinaryData){.len = a->count, .data = (uint8_t *)text(a->text)};
    break;
  case CM_ATTRIBUTE_STRINGS: return write_strings(w, a, p, error);
  case CM_ATTRIBUTE_TENSOR: return write_tensor(w, a->tensor, "", &p->t, error);
  case CM_ATTRIBUTE_FLOATS:
    p->n_floats = a->count;
    p->floats = (float *)(uintptr_t)a->numbers;
    break;
  default:
    p->n_ints = a->count;
    p->ints = (int64_t *)(uintptr_t)a->integers;
  }
  return CM_OK;
}

static cm_status write_names(writer *w, const uint32_t *values, uint32_t count, char ***names, size_t *name_count,
                             cm_error *error)
{
  CM_TRY(CM_ARENA_NEW(&w->arena, *names, count, error));
  for (uint32_t i = 0; i < count; i++)
    (*names)[i] = values[i] != CM_NONE ? text(w->model->values[values[i]].name) : text("");
  *name_count = count;
  return CM_OK;
}

static cm_status write_node(writer *w, const cm_node *n, Onnx__NodeProto **made, cm_error *error)
{
  Onnx__NodeProto *p;
  CM_TRY(MAKE(w, p, onnx__node_proto__init, error));
  CM_TRY(write_names(w, n->inputs, n->input_count, &p->input, &p->n_input, error));
  CM_TRY(write_names(w, n->outputs, n->output_count, &p->output, &p->n_output, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, p->attribute, n->attribute_count, error));
  p->name = text_or_null(n->name);
  p->op_type = text(n->op);
  p->domain = text_or_null(n->domain);
  for (; p->n_attribute < n->attribute_count; p->n_attribute++)
    CM_TRY(write_attribute(w, &n->attributes[p->n_attribute], &p->attribute[p->n_attribute], error));
  *made = p;
  return CM_OK;
}

/* The IR version to write. Before version 4 every initializer has to be listed as an input, which runtimes take for one that
 * may be overridden and do not fold; opset 9 came with version 4, so that models of opset 9 on lose nothing by it. */
static int64_t written_ir_version(const cm_model *m)
{
  return m->ir_version < 4 && m->opset >= 9 ? 4 : m->ir_version;
}

static cm_status write_inputs(writer *w, Onnx__GraphProto *g, cm_error *error)
{
  const cm_model *m = w->model;
  bool listed = written_ir_version(m) < 4;
  size_t count = m->input_count + (listed ? g->n_initializer : 0);
  CM_TRY(CM_ARENA_NEW(&w->arena, g->input, count, error));
  for (; g->n_input < m->input_count; g->n_input++)
    CM_TRY(write_value(w, m->inputs[g->n_input], &g->input[g->n_input], error));
  for (size_t i = 0; i < m->value_count && listed; i++)
    CM_TRY_IF(m->values[i].initializer, write_value(w, (uint32_t)i, &g->input[g->n_input++], error));
  return CM_OK;
}

static cm_status write_graph(writer *w, Onnx__GraphProto *g, cm_error *error)
{
  const cm_model *m = w->model;
  size_t initializers = 0;
  for (size_t i = 0; i < m->value_count; i++)
    initializers += m->values[i].initializer;
  CM_TRY(CM_ARENA_NEW(&w->arena, g->node, m->order_count, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, g->initializer, initializers, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, g->output, m->output_count, error));
  g->name = text(m->graph_name[0] != '\0' ? m->graph_name : "graph");
  g->doc_string = text_or_null(m->graph_doc);
  for (; g->n_node < m->order_count; g->n_node++)
    CM_TRY(write_node(w, &m->nodes[m->order[g->n_node]], &g->node[g->n_node], error));
  for (size_t i = 0; i < m->value_count; i++)
    CM_TRY_IF(m->values[i].initializer, write_tensor(w, m->values[i].tensor, m->values[i].name, &g->initializer[g->n_initializer++], error));
  for (; g->n_output < m->output_count; g->n_output++)
    CM_TRY(write_value(w, m->outputs[g->n_output], &g->output[g->n_output], error));
  return write_inputs(w, g, error);
}

static cm_status write_model(writer *w, Onnx__ModelProto *p, cm_error *error)
{
  const cm_model *m = w->model;
  CM_TRY(MAKE(w, p->graph, onnx__graph_proto__init, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, p->opset_import, m->opset_count, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, p->metadata_props, m->metadata_count, error));
  CM_TRY(CM_ARENA_NEW(&w->arena, p->functions, m->function_count, error));
  p->has_ir_version = 1;
  p->ir_version = written_ir_version(m);
  p->has_model_version = m->model_version != 0;
  p->model_version = m->model_version;
  p->producer_name = text_or_null(m->producer_name);
  p->producer_version = text_or_null(m->producer_version);
  p->domain = text_or_null(m->domain);
  p->doc_string = text_or_null(m->doc);
  for (; p->n_opset_import < m->opset_count; p->n_opset_import++) {
    Onnx__OperatorSetIdProto *o;
    CM_TRY(MAKE(w, o, onnx__operator_set_id_proto__init, error));
    o->domain = text(m->opsets[p->n_opset_import].domain);
    o->has_version = 1;
    o->version = m->opsets[p->n_opset_import].version;
    p->opset_import[p->n_opset_import] = o;
  }
  for (; p->n_metadata_props < m->metadata_count; p->n_metadata_props++) {
    Onnx__StringStringEntryProto *e;
    CM_TRY(MAKE(w, e, onnx__string_string_entry_proto__init, error));
    e->key = text(m->metadata[p->n_metadata_props].key);
    e->value = text(m->metadata[p->n_metadata_props].value);
    p->metadata_props[p->n_metadata_props] = e;
  }
  for (; p->n_functions < m->function_count; p->n_functions++) {
    p->functions[p->n_functions] =
        onnx__function_proto__unpack(&w->allocator, m->function_bytes[p->n_functions], m->functions[p->n_functions]);
    if (p->functions[p->n_functions] == NULL)
      return cm_whole(false, "an ONNX model", error);
  }
  return write_graph(w, p->graph, error);
}

cm_status cm_onnx_write_memory(const cm_model *model, uint8_t **bytes, size_t *size, cm_error *error)
{
  writer w = {.model = model};
  Onnx__ModelProto p = ONNX__MODEL_PROTO__INIT;
  uint8_t *packed = NULL;
  cm_arena_init(&w.arena, model->arena.memory);
  w.allocator = (ProtobufCAllocator){.alloc = writer_allocate, .free = writer_free, .allocator_data = &w.arena};
  cm_status status = write_model(&w, &p, error);
  if (status == CM_OK) {
    *size = onnx__model_proto__get_packed_size(&p);
    if (*size > CM_ONNX_BYTES_MAX)
      status = cm_fail(error, CM_TOO_LARGE, "the model has %zu bytes; an ONNX file may have at most %zu", *size,
                       CM_ONNX_BYTES_MAX);
    else
      status = CM_NEW(model->arena.memory, packed, *size, error);
  }
  if (status == CM_OK) {
    (void)onnx__model_proto__pack(&p, packed);
    *bytes = packed;
  }
  cm_arena_free(&w.arena);
  return status;
}

cm_status cm_onnx_write(const cm_model *model, const char *path, cm_error *error)
{
  uint8_t *bytes;
  size_t size;
  CM_TRY(cm_onnx_write_memory(model, &bytes, &size, error));
  cm_status status = cm_file_write(path, bytes, size, error);
  cm_free(bytes);
  return status;
}
