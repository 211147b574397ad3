#include "core/machine/plan/row_turns.h"

#include <string.h>

#include "core/machine/program/program.h"
#include "core/operators/permute/permute.h"

enum {
  PIECES_MOST = 1 << 14,  /* of a program without turns: about half a second and 100 MB */
  PIECES_A_TURN = 1 << 11, /* lanes meet between turns: what that costs is nothing beside so many */
  PARAMETERS_SHARE = 256,  /* parameters are at most this part of what all turns together move, loaded again by each */
};

static bool is_constant(const cm_model *m, uint32_t value)
{
  return cm_value_is_constant(&m->values[value]);
}

/* Whether rows of a value can be shared evenly. */
static bool divides(const cm_model *m, uint32_t value, uint32_t turns)
{
  const cm_shape *s = &m->values[value].shape;
  return cm_shape_known(s) && s->rank > 0 && s->dims[0] > 0 && s->dims[0] % turns == 0;
}

/* Whether a box is the rows of one turn. */
static bool is_turn(const cm_shape *shape, const cm_box *box, uint32_t turns, uint32_t turn)
{
  const int64_t rows = shape->dims[0] / turns;
  return box->from[0] == turn * rows && box->to[0] == (turn + 1) * rows;
}

/* Views take rows from the same rows: none joins or cuts them. */
static bool view_may(const cm_model *m, const cm_node *node)
{
  const cm_makes_kind makes = node->known->makes;
  const cm_shape *out = &m->values[node->outputs[0]].shape;
  for (uint32_t i = 0; i < node->input_count && makes == CM_MAKES_JOINED; i++)
    if (node->inputs[i] != CM_NONE && (is_constant(m, node->inputs[i]) || m->values[node->inputs[i]].shape.dims[0] != out->dims[0]))
      return false;
  return makes != CM_MAKES_PART || m->values[node->inputs[0]].shape.dims[0] == out->dims[0];
}

/* Every turn reads its own rows, and the same constants in the same way. */
static cm_status call_may(const cm_model *m, const cm_call *call, uint32_t turns, cm_box *inputs[2], bool *may, cm_error *error)
{
  uint32_t axes[CM_RANK_MAX];
  cm_split_change change[2];
  cm_box box = cm_box_whole(&call->output[0]);
  const int64_t rows = box.to[0] / turns;
  *may = false;
  for (uint32_t k = cm_split_axes(call, axes); k-- > 0;)
    *may = *may || axes[k] == 0;
  *may = *may && cm_split_extent(call, 0, rows) == rows && (call->output_count == 1 || cm_split_outputs_alike(call));
  for (uint32_t t = 0; t < turns && *may; t++) {
    const int k = t > 0;
    memset(&change[k], 0, sizeof change[k]);
    box.from[0] = t * rows;
    box.to[0] = box.from[0] + rows;
    CM_TRY(cm_split_piece(call, &box, inputs[k], &change[k], error));
    *may = memcmp(&change[0], &change[k], sizeof *change) == 0;
    for (uint32_t i = 0; i < call->input_count && *may; i++)
      *may = !cm_has(call, i) || (is_constant(m, call->node->inputs[i]) ? cm_box_equal(&inputs[0][i], &inputs[k][i])
                                                                        : is_turn(&call->input[i], &inputs[k][i], turns, t));
  }
  return CM_OK;
}

static cm_status node_may(cm_plan *plan, const cm_node *node, uint32_t turns, cm_run *run, bool *may, cm_error *error)
{
  const cm_model *m = plan->model;
  const cm_call *call;
  const cm_tensor *tensor;
  cm_box *inputs[2];
  for (uint32_t k = 0; k < node->input_count + node->output_count && *may; k++) {
    const uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    *may = value == CM_NONE || is_constant(m, value) || divides(m, value, turns);
  }
  *may = *may && node->known != NULL && (!cm_plan_is_view(m, node) || view_may(m, node));
  if (!*may || cm_plan_is_view(m, node))
    return CM_OK;
  for (uint32_t i = 0; i < node->input_count; i++)
    CM_TRY_IF(node->inputs[i] != CM_NONE && is_constant(m, node->inputs[i]), cm_constant_tensor(plan->model, node->inputs[i], run, &tensor, error));
  CM_TRY(cm_plan_call(plan, node, &call, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, inputs[0], node->input_count + 1, error));
  CM_TRY(CM_ARENA_NEW(&plan->arena, inputs[1], node->input_count + 1, error));
  return call_may(m, call, turns, inputs, may, error);
}

cm_status cm_turns_may(cm_model *m, uint32_t turns, cm_run *run, bool *may, cm_error *error)
{
  cm_plan plan = {.model = m, .memory = run->memory};
  cm_status status = CM_NEW(run->memory, plan.calls, m->node_count + 1, error);
  cm_arena_init(&plan.arena, run->memory);
  *may = status == CM_OK;
  for (size_t i = 0; i < m->input_count && *may; i++)
    *may = is_constant(m, m->inputs[i]) || divides(m, m->inputs[i], turns);
  for (size_t i = 0; i < m->order_count && *may && status == CM_OK; i++)
    if (!is_constant(m, m->nodes[m->order[i]].outputs[0]))
      status = node_may(&plan, &m->nodes[m->order[i]], turns, run, may, error);
  cm_arena_free(&plan.arena);
  cm_free(plan.calls);
  return status;
}

/* The greatest divisor of the rows of all values that are not constant, up to `most`. */
static uint32_t divisor(const cm_model *m, uint64_t most)
{
  for (uint32_t turns = most < CM_TURNS_MAX ? (uint32_t)most : CM_TURNS_MAX; turns > 1; turns--) {
    bool all = true;
    for (size_t v = 0; v < m->value_count && all; v++)
      all = m->values[v].use_count == 0 || is_constant(m, (uint32_t)v) || divides(m, (uint32_t)v, turns);
    if (all)
      return turns;
  }
  return 1;
}

cm_status cm_turns_find(cm_model *m, uint64_t memory_bytes, cm_run *run, uint32_t *turns, cm_error *error)
{
  uint64_t made = 0, moved = 0, parameters = 1;
  bool may = false;
  for (size_t v = 0; v < m->value_count; v++)
    parameters += m->values[v].use_count > 0 && is_constant(m, (uint32_t)v) ? cm_value_bytes(&m->values[v]) : 0;
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[m->order[i]];
    for (uint32_t o = 0; o < node->output_count && node->known != NULL && !cm_plan_is_view(m, node); o++)
      made += is_constant(m, node->outputs[o]) ? 0 : cm_value_bytes(&m->values[node->outputs[o]]);
  }
  for (size_t i = 0; i < m->input_count + m->output_count; i++)
    moved += cm_value_bytes(&m->values[i < m->input_count ? m->inputs[i] : m->outputs[i - m->input_count]]);
  const double pieces = (double)made / cm_settings_default(memory_bytes).piece_bytes;
  const uint64_t by_parameters = moved / (PARAMETERS_SHARE * parameters), by_pieces = (uint64_t)(pieces / PIECES_A_TURN);
  *turns = pieces > PIECES_MOST && made + moved <= CM_OUTSIDE_BYTES_MAX ? divisor(m, by_pieces < by_parameters ? by_pieces : by_parameters) : 1;
  CM_TRY_IF(*turns > 1, cm_turns_may(m, *turns, run, &may, error));
  *turns = may ? *turns : 1;
  return CM_OK;
}
