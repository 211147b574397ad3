/* Control flow in the order of execution: each node is inferred, or spliced and what came of it inferred, so that what a
 * later one needs to know is known. */
#include "core/operators/control_internal.h"

#include <stdio.h>
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"

enum { DEPTH_MAX = 64 };

/* A failure of the node that is unrolled; `why` may be the error's own text. */
cm_status cm_unroll_fail(const cm_node *node, cm_status status, const char *why, cm_error *error)
{
  char label[160], text[500];
  (void)snprintf(text, sizeof text, "%s", why);
  (void)cm_fail(error, status, "node %s: %s", cm_node_label(node, label, sizeof label), text);
  return cm_fail_at(error, "node %.80s", node->name);
}

/* ---- nodes that are added ---- */

static cm_status name_value(cm_unrolling *u, const char *stem, uint32_t *value, cm_error *error)
{
  char name[80];
  (void)snprintf(name, sizeof name, "%.40s#%u", stem, ++u->model->splices);
  return cm_model_add_value(u->model, name, value, error);
}

cm_status cm_unroll_constant(cm_unrolling *u, cm_type type, uint32_t rank, int64_t number, uint32_t *value,
                              cm_error *error)
{
  cm_tensor *tensor;
  int64_t one = 1;
  if (name_value(u, "constant", value, error) != CM_OK ||
      cm_tensor_new(u->model->arena.memory, type, rank, &one, &tensor, error) != CM_OK)
    return error->status;
  cm_tensor_put_integer(tensor, 0, number);
  cm_value *v = &u->model->values[*value];
  v->tensor = tensor;
  v->constant = v->initializer = true;
  v->shape = cm_shape_of(tensor);
  return CM_OK;
}

/* A node of one output (CM_NONE: a new value), inferred at once; `attribute` may be NULL. */
cm_status cm_unroll_node(cm_unrolling *u, const char *op, const uint32_t *inputs, uint32_t count, const char *attribute,
                          int64_t number, uint32_t *output, cm_error *error)
{
  uint32_t node;
  if ((*output == CM_NONE && name_value(u, op, output, error) != CM_OK) ||
      cm_model_add_node(u->model, op, inputs, count, output, 1, &node, error) != CM_OK)
    return error->status;
  cm_node *n = &u->model->nodes[node];
  cm_status status = attribute == NULL ? CM_OK
                     : strcmp(attribute, "axes") == 0
                         ? cm_node_set_integers(u->model, n, attribute, &number, 1, error)
                         : cm_node_set_integer(u->model, n, attribute, number, error);
  return status == CM_OK ? cm_unroll_walk(u, node, error) : status;
}

/* Gives what was computed to those who read the node's output. */
cm_status cm_unroll_hand_over(cm_unrolling *u, uint32_t from, uint32_t output, cm_error *error)
{
  return output == CM_NONE ? CM_OK : cm_unroll_node(u, "Identity", &from, 1, NULL, 0, &output, error);
}

/* Splices a subgraph and infers its nodes. */
cm_status cm_unroll_body(cm_unrolling *u, const cm_node *node, const char *attribute, const uint32_t *inputs,
                          uint32_t input_count, uint32_t *outputs, uint32_t output_count, cm_error *error)
{
  size_t first = u->model->node_count;
  if (u->model->node_count > CM_UNROLL_NODES_MAX)
    return cm_unroll_fail(node, CM_TOO_LARGE, "unrolled, the model has too many nodes", error);
  if (cm_onnx_splice(u->model, cm_node_attribute(node, attribute), inputs, input_count, outputs, output_count, error) !=
      CM_OK)
    return error->status == CM_BAD_NETWORK ? cm_unroll_fail(node, CM_BAD_NETWORK, error->detail, error) : error->status;
  size_t last = u->model->node_count;
  for (size_t i = first; i < last; i++)
    if (cm_unroll_walk(u, (uint32_t)i, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* The single element of a value that is known; false when it is not. */
bool cm_unroll_known_integer(const cm_model *m, uint32_t value, int64_t *number)
{
  const cm_tensor *t = m->values[value].tensor;
  if (t == NULL || t->count != 1)
    return false;
  *number = cm_tensor_integer(t, 0);
  return true;
}

/* ---- If ---- */

static cm_status unroll_if(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  cm_arena *arena = &u->model->arena;
  uint32_t *chosen, *other;
  int64_t condition;
  if (n->input_count != 1 || n->inputs[0] == CM_NONE)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "needs a condition", error);
  if (CM_ARENA_NEW(arena, chosen, n->output_count, error) != CM_OK ||
      CM_ARENA_NEW(arena, other, n->output_count, error) != CM_OK)
    return error->status;
  bool known = cm_unroll_known_integer(u->model, n->inputs[0], &condition);
  if (cm_unroll_body(u, n, !known || condition != 0 ? "then_branch" : "else_branch", NULL, 0, chosen, n->output_count,
               error) != CM_OK ||
      (!known && cm_unroll_body(u, n, "else_branch", NULL, 0, other, n->output_count, error) != CM_OK))
    return error->status;
  for (uint32_t o = 0; o < n->output_count; o++) {
    uint32_t output = n->outputs[o], all[3] = {n->inputs[0], chosen[o], other[o]};
    if (known ? cm_unroll_hand_over(u, chosen[o], output, error) != CM_OK
              : cm_unroll_node(u, "If", all, 3, NULL, 0, &output, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- functions ---- */

static cm_status unroll_function(cm_unrolling *u, const cm_node *n, bool *found, cm_error *error)
{
  uint32_t *outputs;
  size_t first = u->model->node_count;
  *found = false;
  if (u->model->function_count == 0)
    return CM_OK;
  if (CM_ARENA_NEW(&u->model->arena, outputs, n->output_count, error) != CM_OK ||
      cm_onnx_splice_function(u->model, n, found, outputs, error) != CM_OK)
    return error->status;
  size_t last = u->model->node_count;
  for (size_t i = first; i < last; i++)
    if (cm_unroll_walk(u, (uint32_t)i, error) != CM_OK)
      return error->status;
  for (uint32_t o = 0; *found && o < n->output_count; o++)
    if (cm_unroll_hand_over(u, outputs[o], n->outputs[o], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* ---- the walk ---- */

/* Operators that are other operators: a row each. `subgraph` is the attribute that it needs; NULL: none, but an output. */
typedef struct unrolled_operator {
  const char *name, *subgraph;
  cm_status (*unroll)(cm_unrolling *u, const cm_node *node, cm_error *error);
} unrolled_operator;

static const unrolled_operator *unrolled_find(const cm_node *n)
{
  static const unrolled_operator rows[] = {
      {"If", "then_branch", unroll_if},
      {"Loop", "body", cm_unroll_loop},
      {"Scan", "body", cm_unroll_scan},
      {"Attention", NULL, cm_unroll_attention},
      {"RotaryEmbedding", NULL, cm_unroll_rotary},
      {"CenterCropPad", NULL, cm_unroll_center},
  };
  for (size_t i = 0; n->domain[0] == '\0' && i < sizeof rows / sizeof *rows; i++)
    if (strcmp(n->op, rows[i].name) == 0)
      return (rows[i].subgraph != NULL ? cm_node_attribute(n, rows[i].subgraph) != NULL : n->output_count > 0) ? &rows[i] : NULL;
  return NULL;
}

cm_status cm_unroll_walk(cm_unrolling *u, uint32_t node, cm_error *error)
{
  /* Nodes move when others are added: what is unrolled is a copy; what it points to stays. */
  const cm_node n = u->model->nodes[node];
  bool unrolled = false;
  cm_status status = CM_OK;
  if (n.known != NULL || n.removed)
    return n.removed ? CM_OK : cm_infer_node(u->model, node, u->run, error);
  if (++u->depth > DEPTH_MAX)
    return cm_unroll_fail(&n, CM_BAD_NETWORK, "subgraphs and functions are nested too deeply", error);
  const unrolled_operator *o = unrolled_find(&n);
  if (o != NULL)
    status = o->unroll(u, &n, error), unrolled = true;
  else
    status = unroll_function(u, &n, &unrolled, error);
  u->depth--;
  if (status == CM_OK && unrolled)
    u->model->nodes[node].removed = true;
  return status != CM_OK || unrolled ? status : cm_infer_node(u->model, node, u->run, error);
}

cm_status cm_model_unroll(cm_model *model, cm_run *run, cm_error *error)
{
  cm_unrolling u = {.model = model, .run = run};
  /* The order is made anew at the end; until then what is added is walked where it is added. */
  for (size_t i = 0; i < model->order_count; i++)
    if (cm_unroll_walk(&u, model->order[i], error) != CM_OK)
      return error->status;
  return cm_model_sort(model, error);
}
