/* The operators that a program was made of, and what they read of one another. */
#include "base/json.h"
#include "core/machine/report.h"

/* Who makes a value: a node, or the input that it is. */
static const char *maker_of(const cm_model *m, const cm_value *v)
{
  return v->producer == CM_NONE ? v->name : cm_node_name(m, &m->nodes[v->producer]);
}

static json_t *read_json(const cm_model *m, const cm_value *v)
{
  json_t *shape = v->shape.rank == CM_UNKNOWN_RANK ? json_null() : json_array();
  for (uint32_t k = 0; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++)
    (void)json_array_append_new(shape, json_integer(v->shape.dims[k]));
  return json_pack("{s:s, s:s, s:s, s:o}", "from", maker_of(m, v), "value", v->name, "type", cm_type_name(v->shape.type), "shape", shape);
}

/* Values that are known before the program runs are left out. */
static json_t *node_json(const cm_model *m, const cm_node *node)
{
  json_t *reads = json_array();
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CM_NONE && !m->values[node->inputs[i]].constant && !m->values[node->inputs[i]].initializer)
      (void)json_array_append_new(reads, read_json(m, &m->values[node->inputs[i]]));
  return json_pack("{s:s, s:s, s:o}", "node", cm_node_name(m, node), "operator", node->op, "reads", reads);
}

static bool known_before(const cm_model *m, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !m->values[node->outputs[o]].constant)
      return false;
  return true;
}

json_t *cm_graph_report(const cm_model *model)
{
  json_t *graph = json_array();
  for (size_t i = 0; i < model->order_count; i++)
    if (!known_before(model, &model->nodes[model->order[i]]))
      (void)json_array_append_new(graph, node_json(model, &model->nodes[model->order[i]]));
  return graph;
}
