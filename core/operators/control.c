/* Control flow in the order of execution: each node is inferred, or spliced and what came of it inferred, so that what a
 * later one needs to know is known. */
#include "core/operators/unrolling.h"

#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"

enum { DEPTH_MAX = 64 };

/* ---- If ---- */

static cm_status unroll_if(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  cm_arena *arena = &u->model->arena;
  uint32_t *chosen, *other;
  int64_t condition;
  if (n->input_count != 1 || n->inputs[0] == CM_NONE)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "needs a condition", error);
  CM_TRY(CM_ARENA_NEW(arena, chosen, n->output_count, error));
  CM_TRY(CM_ARENA_NEW(arena, other, n->output_count, error));
  bool known = cm_unroll_known_integer(u->model, n->inputs[0], &condition);
  const cm_body_values first = {.outputs = chosen, .output_count = n->output_count}, second = {.outputs = other, .output_count = n->output_count};
  CM_TRY(cm_unroll_body(u, n, !known || condition != 0 ? "then_branch" : "else_branch", &first, error));
  CM_TRY_IF(!known, cm_unroll_body(u, n, "else_branch", &second, error));
  for (uint32_t o = 0; o < n->output_count; o++) {
    uint32_t output = n->outputs[o], all[3] = {n->inputs[0], chosen[o], other[o]};
    if (known ? cm_unroll_hand_over(u, chosen[o], output, error) != CM_OK
              : cm_unroll_node(u, &(cm_new_node){.op = "If", .inputs = all, .count = 3}, &output, error) != CM_OK)
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
  CM_TRY(CM_ARENA_NEW(&u->model->arena, outputs, n->output_count, error));
  CM_TRY(cm_onnx_splice_function(u->model, n, found, outputs, error));
  size_t last = u->model->node_count;
  for (size_t i = first; i < last; i++)
    CM_TRY(u->walk(u, (uint32_t)i, error));
  for (uint32_t o = 0; *found && o < n->output_count; o++)
    CM_TRY(cm_unroll_hand_over(u, outputs[o], n->outputs[o], error));
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

static cm_status walk(cm_unrolling *u, uint32_t node, cm_error *error)
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
  const cm_rewrite *row = o == NULL ? cm_rewrite_find(&n) : NULL;
  if (row != NULL) {
    status = cm_unroll_rewrite(u, &n, row, error);
    unrolled = true;
  } else if (o != NULL) {
    status = cm_node_check_kinds(&n, error);
    status = status == CM_OK ? o->unroll(u, &n, error) : status;
    unrolled = true;
  } else
    status = unroll_function(u, &n, &unrolled, error);
  u->depth--;
  if (status == CM_OK && unrolled)
    u->model->nodes[node].removed = true;
  return status != CM_OK || unrolled ? status : cm_infer_node(u->model, node, u->run, error);
}

cm_status cm_model_unroll(cm_model *model, cm_run *run, cm_error *error)
{
  cm_unrolling u = {.model = model, .run = run, .walk = walk};
  /* The order is made anew at the end; until then what is added is walked where it is added. */
  for (size_t i = 0; i < model->order_count; i++)
    CM_TRY(walk(&u, model->order[i], error));
  return cm_model_sort(model, error);
}
