#include "core/machine/order_graph.h"

static uint32_t node_of(const cm_plan *plan, const cm_plan_op *op)
{
  const cm_model *m = plan->model;
  return op->copied != CM_NONE ? m->values[op->copied].producer : (uint32_t)(op->call.node - m->nodes);
}

/* The one node of the graph that a node of the model reads; CM_NONE: none. *several: it reads more. */
static uint32_t only_maker(const cm_order_graph *g, const cm_node *node, bool *several)
{
  uint32_t only = CM_NONE;
  *several = false;
  for (uint32_t k = 0; k < node->input_count; k++) {
    uint32_t producer = node->inputs[k] != CM_NONE ? g->model->values[node->inputs[k]].producer : CM_NONE,
             maker = producer != CM_NONE ? g->host[producer] : CM_NONE;
    *several = *several || (maker != CM_NONE && only != CM_NONE && maker != only);
    only = maker != CM_NONE ? maker : only;
  }
  return only;
}

static void number_nodes(const cm_plan *plan, cm_order_graph *g)
{
  const cm_model *m = plan->model;
  uint32_t op = 0;
  for (size_t i = 0; i < m->order_count; i++) {
    uint32_t number = m->order[i], first = op;
    bool several;
    while (op < plan->op_count && node_of(plan, &plan->ops[op]) == number)
      op++;
    g->host[number] = CM_NONE;
    if (cm_node_is_constant(m, &m->nodes[number]))
      continue;
    uint32_t maker = only_maker(g, &m->nodes[number], &several);
    if (op == first && !several) {
      g->host[number] = maker;
      continue;
    }
    g->first_op[g->node_count] = first;
    g->node[g->node_count] = number;
    g->host[number] = g->node_count++;
  }
  g->first_op[g->node_count] = op;
}

static cm_status make_arcs(cm_order_graph *g, cm_memory *memory, cm_error *error)
{
  cm_arc *arcs;
  uint64_t count = 0, inputs = 0;
  for (uint32_t v = 0; v < g->node_count; v++)
    inputs += g->model->nodes[g->node[v]].input_count;
  CM_TRY(CM_NEW(memory, arcs, inputs + 1, error));
  for (uint32_t v = 0; v < g->node_count; v++) {
    const cm_node *node = &g->model->nodes[g->node[v]];
    for (uint32_t k = 0; k < node->input_count; k++) {
      uint32_t producer = node->inputs[k] != CM_NONE ? g->model->values[node->inputs[k]].producer : CM_NONE;
      if (producer != CM_NONE && g->host[producer] != CM_NONE)
        arcs[count++] = (cm_arc){.from = g->host[producer], .to = v};
    }
  }
  cm_status status = cm_dag_new(memory, g->node_count, arcs, count, &g->dag, error);
  cm_free(arcs);
  return status;
}

static cm_status find_latency(const cm_plan_op *op, cm_memory *memory, uint64_t *latency, cm_error *error)
{
  cm_box whole = cm_box_whole(&op->call.output[0]), *inputs;
  cm_split_change change;
  if (op->copied != CM_NONE)
    return CM_OK;
  CM_TRY(CM_NEW(memory, inputs, op->call.input_count + 1, error));
  cm_status status = cm_split_piece(&op->call, &whole, inputs, &change, error);
  if (status == CM_OK)
    *latency += (uint64_t)((double)cm_split_work(&op->call, &whole, inputs) / op->rate);
  cm_free(inputs);
  return status;
}

cm_status cm_order_graph_make(const cm_plan *plan, cm_run *run, cm_order_graph *g, cm_error *error)
{
  const cm_model *m = plan->model;
  cm_memory *memory = run->memory;
  *g = (cm_order_graph){.model = m};
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(g->host, m->node_count + 1), CM_ARRAY(g->node, m->order_count + 1),
                    CM_ARRAY(g->first_op, m->order_count + 2), CM_ARRAY(g->latency, m->order_count + 1)));
  number_nodes(plan, g);
  for (uint32_t v = 0; v < g->node_count; v++)
    for (uint32_t op = g->first_op[v]; op < g->first_op[v + 1]; op++)
      CM_TRY(find_latency(&plan->ops[op], memory, &g->latency[v], error));
  return make_arcs(g, memory, error);
}

void cm_order_graph_free(cm_order_graph *g)
{
  cm_dag_free(g->dag);
  CM_FREE(g->latency, g->first_op, g->host, g->node);
  *g = (cm_order_graph){0};
}

cm_status cm_order_graph_ops(const cm_order_graph *g, const uint32_t *order, uint32_t count, cm_memory *memory, uint32_t **ops,
                             cm_error *error)
{
  uint32_t made = 0;
  CM_TRY(CM_NEW(memory, *ops, g->first_op[g->node_count] + 1, error));
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t op = g->first_op[order[k]]; op < g->first_op[order[k] + 1]; op++)
      (*ops)[made++] = op;
  return CM_OK;
}

cm_status cm_order_graph_nodes(const cm_order_graph *g, const uint32_t *order, cm_memory *memory, uint32_t *nodes,
                               cm_error *error)
{
  const cm_model *m = g->model;
  uint32_t *place, *next;
  CM_TRY(CM_NEW(memory, place, g->node_count + 1, error));
  cm_status status = CM_NEW(memory, next, g->node_count + 2, error);
  if (status == CM_OK) {
    /* Those before all come first, then each node with what stands behind it, in the order of the file. */
    for (uint32_t k = 0; k < g->node_count; k++)
      place[order[k]] = k + 1;
    for (size_t i = 0; i < m->order_count; i++)
      if (g->host[m->order[i]] == CM_NONE)
        next[1]++;
      else
        next[place[g->host[m->order[i]]] + 1]++;
    for (uint32_t k = 1; k <= g->node_count; k++)
      next[k] += next[k - 1];
    for (size_t i = 0; i < m->order_count; i++) {
      uint32_t host = g->host[m->order[i]];
      nodes[next[host == CM_NONE ? 0 : place[host]]++] = m->order[i];
    }
  }
  CM_FREE(place, next);
  return status;
}
