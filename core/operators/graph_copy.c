/* Copying an operator graph: all that it points to lies in the copy's arena, tensors are held by both. */
#include <string.h>

#include "core/operators/graph.h"
#include "core/operators/permute/layout.h"

/* A block of the copy's arena with the same bytes; NULL stays NULL. */
static cm_status dup(cm_model *m, const void *from, size_t bytes, const void **copy, cm_error *error)
{
  if (from == NULL)
    return CM_OK;
  void *made = cm_arena_allocate(&m->arena, bytes, 1, error);
  if (made == NULL)
    return error->status;
  if (bytes > 0)
    memcpy(made, from, bytes);
  *copy = made;
  return CM_OK;
}

/* Replaces a pointer into the original by one into the copy. */
#define DUP(m, pointer, bytes, error) dup((m), (pointer), (bytes), (const void **)(uintptr_t) & (pointer), (error))
#define DUP_TEXT(m, text, error) DUP(m, text, (text) != NULL ? strlen(text) + 1 : 0, error)

static cm_status copy_header(cm_model *m, cm_error *error)
{
  if (DUP_TEXT(m, m->producer_name, error) != CM_OK || DUP_TEXT(m, m->producer_version, error) != CM_OK ||
      DUP_TEXT(m, m->domain, error) != CM_OK || DUP_TEXT(m, m->doc, error) != CM_OK ||
      DUP_TEXT(m, m->graph_name, error) != CM_OK || DUP_TEXT(m, m->graph_doc, error) != CM_OK ||
      DUP(m, m->opsets, m->opset_count * sizeof *m->opsets, error) != CM_OK ||
      DUP(m, m->metadata, m->metadata_count * sizeof *m->metadata, error) != CM_OK ||
      DUP(m, m->functions, m->function_count * sizeof *m->functions, error) != CM_OK ||
      DUP(m, m->function_bytes, m->function_count * sizeof *m->function_bytes, error) != CM_OK ||
      DUP(m, m->inputs, m->input_count * sizeof *m->inputs, error) != CM_OK ||
      DUP(m, m->outputs, m->output_count * sizeof *m->outputs, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->opset_count; i++)
    CM_TRY(DUP_TEXT(m, m->opsets[i].domain, error));
  for (size_t i = 0; i < m->metadata_count; i++)
    if (DUP_TEXT(m, m->metadata[i].key, error) != CM_OK || DUP_TEXT(m, m->metadata[i].value, error) != CM_OK)
      return error->status;
  for (size_t i = 0; i < m->function_count; i++)
    CM_TRY(DUP(m, m->functions[i], m->function_bytes[i], error));
  return CM_OK;
}

static cm_status copy_value(cm_model *m, cm_value *v, cm_error *error)
{
  for (uint32_t k = 0; k < CM_RANK_MAX; k++)
    CM_TRY(DUP_TEXT(m, v->dim_names[k], error));
  CM_TRY(DUP_TEXT(m, v->name, error));
  return DUP(m, v->packed_type, v->packed_type_bytes, error);
}

static cm_status copy_attribute(cm_model *m, cm_attribute *a, cm_error *error)
{
  CM_TRY(DUP_TEXT(m, a->name, error));
  CM_TRY(DUP(m, a->text, a->text != NULL ? a->count + 1 : 0, error));
  CM_TRY(DUP(m, a->integers, a->integers != NULL ? a->count * sizeof *a->integers : 0, error));
  CM_TRY(DUP(m, a->numbers, a->numbers != NULL ? a->count * sizeof *a->numbers : 0, error));
  return DUP(m, a->packed, a->packed != NULL ? a->count : 0, error);
}

/* Its tensors are shared one by one, so that a failure leaves nothing shared that is not in the copy. */
static cm_status copy_node(cm_model *m, const cm_node *from, cm_node *n, cm_error *error)
{
  n->attribute_count = 0;
  CM_TRY(DUP_TEXT(m, n->name, error));
  CM_TRY(DUP_TEXT(m, n->op, error));
  CM_TRY(DUP_TEXT(m, n->domain, error));
  CM_TRY(DUP(m, n->inputs, n->input_count * sizeof *n->inputs, error));
  CM_TRY(DUP(m, n->outputs, n->output_count * sizeof *n->outputs, error));
  CM_TRY(DUP(m, n->captured, n->captured_count * sizeof *n->captured, error));
  CM_TRY(DUP(m, n->layout, sizeof(struct cm_layout), error));
  CM_TRY(CM_ARENA_NEW(&m->arena, n->attributes, from->attribute_count + 1, error));
  while (n->attribute_count < from->attribute_count) {
    cm_attribute *a = &n->attributes[n->attribute_count];
    *a = from->attributes[n->attribute_count++];
    (void)cm_tensor_share(a->tensor);
    CM_TRY(copy_attribute(m, a, error));
  }
  return CM_OK;
}

static cm_status copy_lists(const cm_model *model, cm_model *m, cm_error *error)
{
  size_t values = model->value_count + model->value_count / 8 + 1, nodes = model->node_count + model->node_count / 8 + 1;
  m->value_count = m->node_count = 0;
  CM_TRY(copy_header(m, error));
  CM_TRY(CM_ARENA_NEW(&m->arena, m->values, values, error));
  CM_TRY(CM_ARENA_NEW(&m->arena, m->nodes, nodes, error));
  m->value_capacity = values;
  m->node_capacity = nodes;
  while (m->value_count < model->value_count) {
    cm_value *v = &m->values[m->value_count];
    *v = model->values[m->value_count++];
    (void)cm_tensor_share(v->tensor);
    CM_TRY(copy_value(m, v, error));
  }
  while (m->node_count < model->node_count) {
    cm_node *n = &m->nodes[m->node_count];
    *n = model->nodes[m->node_count++];
    CM_TRY(copy_node(m, &model->nodes[m->node_count - 1], n, error));
  }
  return cm_model_sort(m, error);
}

cm_status cm_model_copy(const cm_model *model, cm_memory *memory, cm_model **made, cm_error *error)
{
  cm_model *m;
  CM_TRY(cm_model_new(memory, &m, error));
  cm_arena arena = m->arena;
  *m = *model;
  m->arena = arena;
  CM_END(copy_lists(model, m, error), *made = m, cm_model_free(m));
}
