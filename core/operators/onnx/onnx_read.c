/* ONNX bytes to a cm_model. Protocol buffers' types stay here, in onnx_tensor.c and in onnx_write.c.
 *
 * Happy path: walk the bytes and unpack (onnx_tensor.c), take over opsets, values, initializers, nodes, then sort.
 * What can fail: damaged bytes, unsupported parts, names that nobody makes or two make, and memory. */
#include <stdio.h>
#include <string.h>

#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_external.h"
#include "core/operators/onnx/onnx_proto.h"
#include "core/operators/onnx/onnx_reader.h"
#include "core/operators/operator.h"

static cm_status read_names(cm_onnx_reader *r, char **names, size_t count, uint32_t **values, uint32_t *value_count,
                            cm_error *error)
{
  CM_TRY(CM_ARENA_NEW(&r->model->arena, *values, count, error));
  for (size_t i = 0; i < count; i++)
    CM_TRY(cm_onnx_value_of(r, names[i], &(*values)[i], error));
  *value_count = (uint32_t)count;
  return CM_OK;
}

static cm_status read_node(cm_onnx_reader *r, const Onnx__NodeProto *p, cm_node *n, cm_error *error)
{
  const char *domain = p->domain != NULL && strcmp(p->domain, "ai.onnx") != 0 ? p->domain : "";
  n->name = cm_onnx_keep(r, p->name, error);
  n->op = cm_onnx_keep(r, p->op_type, error);
  n->domain = cm_onnx_keep(r, domain, error);
  if (n->name == NULL || n->op == NULL || n->domain == NULL ||
      read_names(r, p->input, p->n_input, &n->inputs, &n->input_count, error) != CM_OK ||
      read_names(r, p->output, p->n_output, &n->outputs, &n->output_count, error) != CM_OK ||
      CM_ARENA_NEW(&r->model->arena, n->attributes, p->n_attribute, error) != CM_OK)
    return error->status;
  for (; n->attribute_count < p->n_attribute; n->attribute_count++)
    if (cm_onnx_read_attribute(r, p->attribute[n->attribute_count], &n->attributes[n->attribute_count], error) != CM_OK) {
      /* What the failing one holds is freed with the others. */
      n->attribute_count++;
      return error->status;
    }
  n->known = cm_operator_find(n->domain, n->op, cm_model_opset(r->model, n->domain));
  return CM_OK;
}

static cm_status read_nodes(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  cm_model *m = r->model;
  CM_TRY(CM_ARENA_NEW(&m->arena, m->nodes, g->n_node + 1, error));
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
      if (n->outputs[o] == CM_NONE) /* named when all names of the file are known */
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

static cm_status read_captures(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_node; i++) {
    cm_node *n = &r->model->nodes[i];
    size_t capacity = 0;
    for (size_t j = 0; j < g->node[i]->n_attribute; j++) {
      const Onnx__AttributeProto *a = g->node[i]->attribute[j];
      if (a->g != NULL || a->n_graphs > 0)
        n->known = NULL;
      CM_TRY_IF(a->g != NULL, cm_onnx_capture(r, a->g, &n->captured, &capacity, &n->captured_count, error));
      for (size_t k = 0; k < a->n_graphs; k++)
        CM_TRY(cm_onnx_capture(r, a->graphs[k], &n->captured, &capacity, &n->captured_count, error));
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

static cm_status read_header(cm_onnx_reader *r, const Onnx__ModelProto *p, cm_error *error)
{
  cm_model *m = r->model;
  if (p->graph == NULL || !p->has_ir_version)
    return cm_fail(error, CM_BAD_NETWORK, "no ONNX model: it has no %s", p->graph == NULL ? "graph" : "IR version");
  if (p->n_training_info > 0 || p->graph->n_sparse_initializer > 0)
    return cm_fail(error, CM_BAD_NETWORK, "%s are not supported",
                   p->n_training_info > 0 ? "training graphs" : "sparse initializers");
  m->ir_version = p->ir_version;
  m->model_version = p->model_version;
  m->producer_name = cm_onnx_keep(r, p->producer_name, error);
  m->producer_version = cm_onnx_keep(r, p->producer_version, error);
  m->domain = cm_onnx_keep(r, p->domain, error);
  m->doc = cm_onnx_keep(r, p->doc_string, error);
  m->graph_name = cm_onnx_keep(r, p->graph->name, error);
  m->graph_doc = cm_onnx_keep(r, p->graph->doc_string, error);
  if (m->producer_name == NULL || m->producer_version == NULL || m->domain == NULL || m->doc == NULL || m->graph_name == NULL ||
      m->graph_doc == NULL || CM_ARENA_NEW(&m->arena, m->opsets, p->n_opset_import, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->metadata, p->n_metadata_props, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->functions, p->n_functions, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, m->function_bytes, p->n_functions, error) != CM_OK)
    return error->status;
  for (; m->opset_count < p->n_opset_import; m->opset_count++) {
    const Onnx__OperatorSetIdProto *o = p->opset_import[m->opset_count];
    const char *domain = o->domain != NULL && strcmp(o->domain, "ai.onnx") != 0 ? o->domain : "";
    m->opsets[m->opset_count].version = o->version;
    if ((m->opsets[m->opset_count].domain = cm_onnx_keep(r, domain, error)) == NULL)
      return error->status;
  }
  m->opset = p->n_opset_import == 0 ? 1 : cm_model_opset(m, "");
  if (m->opset < CM_OPSET_MIN || m->opset > CM_OPSET_MAX)
    return cm_fail(error, CM_BAD_NETWORK, "the model uses ONNX opset %lld; supported are %d to %d", (long long)m->opset,
                   CM_OPSET_MIN, CM_OPSET_MAX);
  for (; m->metadata_count < p->n_metadata_props; m->metadata_count++) {
    cm_text_pair *pair = &m->metadata[m->metadata_count];
    pair->key = cm_onnx_keep(r, p->metadata_props[m->metadata_count]->key, error);
    pair->value = cm_onnx_keep(r, p->metadata_props[m->metadata_count]->value, error);
    if (pair->key == NULL || pair->value == NULL)
      return error->status;
  }
  for (; m->function_count < p->n_functions; m->function_count++)
    CM_TRY(cm_onnx_pack(r, &p->functions[m->function_count]->base, &m->functions[m->function_count],
                        &m->function_bytes[m->function_count], error));
  return CM_OK;
}

/* Inner values' types are hints: they fill what inference leaves open. */
static cm_status read_hints(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_value_info; i++) {
    const char *name = g->value_info[i]->name;
    uint32_t slot = name != NULL && name[0] != '\0' ? *cm_onnx_slot_of(r, name) : 0;
    CM_TRY_IF(slot != 0 && r->model->values[slot - 1].shape.type == CM_TYPE_NONE, cm_onnx_read_type(r, g->value_info[i], slot - 1, error));
  }
  return CM_OK;
}

/* A value that no name of the file means. */
static cm_status name_unused(cm_onnx_reader *r, size_t *taken, uint32_t *value, cm_error *error)
{
  char name[40];
  do
    (void)snprintf(name, sizeof name, "unused-%zu", ++*taken);
  while (*cm_onnx_slot_of(r, name) != 0);
  return cm_model_add_value(r->model, name, value, error);
}

static cm_status settle_outputs(cm_onnx_reader *r, cm_error *error)
{
  size_t taken = 0;
  for (size_t i = 0; i < r->model->node_count; i++) {
    cm_node *n = &r->model->nodes[i];
    cm_onnx_trim_outputs(n);
    for (uint32_t o = 0; o < n->output_count; o++)
      CM_TRY_IF(n->outputs[o] == CM_NONE, name_unused(r, &taken, &n->outputs[o], error));
  }
  return CM_OK;
}

static cm_status make_table(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error)
{
  size_t names = g->n_initializer + g->n_input + g->n_output;
  for (size_t i = 0; i < g->n_node; i++)
    names += g->node[i]->n_input + g->node[i]->n_output;
  for (r->table_size = 16; r->table_size < names * 2;)
    r->table_size *= 2;
  return CM_NEW(r->memory, r->table, r->table_size, error);
}

static cm_status read_model(cm_onnx_reader *r, const Onnx__ModelProto *p, cm_error *error)
{
  if (read_header(r, p, error) != CM_OK || make_table(r, p->graph, error) != CM_OK ||
      cm_onnx_read_initializers(r, p->graph, error) != CM_OK || cm_onnx_read_inputs(r, p->graph, error) != CM_OK ||
      read_nodes(r, p->graph, error) != CM_OK || cm_onnx_read_outputs(r, p->graph, error) != CM_OK ||
      read_captures(r, p->graph, error) != CM_OK || read_hints(r, p->graph, error) != CM_OK ||
      settle_outputs(r, error) != CM_OK || check_makers(r->model, error) != CM_OK)
    return error->status;
  return cm_model_sort(r->model, error);
}

cm_status cm_onnx_read_bytes(const void *bytes, size_t size, struct cm_external *source, cm_run *run, cm_model **made,
                             cm_error *error)
{
  cm_onnx_reader r = {.run = run, .memory = run->memory, .account = {.memory = run->memory, .run = run}};
  r.allocator = cm_proto_allocator(&r.account);
  if (size == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the file is empty; expected is an ONNX model");
  if (size > CM_ONNX_BYTES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "an ONNX model may have at most %zu bytes", CM_ONNX_BYTES_MAX);
  CM_TRY(cm_run_check(run, error));
  ProtobufCMessage *p = cm_proto_unpack(&onnx__model_proto__descriptor, bytes, size, &r.allocator, error);
  if (p == NULL)
    return error->status;
  cm_status status = cm_run_check(run, error);
  CM_THEN(status, cm_model_new(run->memory, &r.model, error));
  CM_THEN(status, cm_external_fill((Onnx__ModelProto *)p, source, run, &r.allocator, error));
  CM_THEN(status, read_model(&r, (const Onnx__ModelProto *)p, error));
  protobuf_c_message_free_unpacked(p, &r.allocator);
  cm_free(r.table);
  CM_END(status, *made = r.model, cm_model_free(r.model));
}

cm_status cm_onnx_read_memory(const void *bytes, size_t size, cm_run *run, cm_model **made, cm_error *error)
{
  return cm_onnx_read_bytes(bytes, size, NULL, run, made, error);
}
