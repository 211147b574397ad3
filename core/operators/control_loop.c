/* Loop and Scan: their bodies once for each iteration, and what iterations leave behind stacked. What can fail: a number of
 * iterations that is not known or too large, memory. */
#include <string.h>

#include "core/operators/unrolling.h"
#include "core/operators/operator.h"

enum { AXES_AS_INPUT_OPSET = 13, SCAN_WITHOUT_BATCH_OPSET = 9 };

/* ---- what iterations leave behind ---- */

typedef struct results {
  const cm_node *node; /* whose outputs they are, from `first` on */
  uint32_t first;
  uint32_t **value;    /* by output, then iteration */
  uint32_t count, room;
} results;

static cm_status keep_results(cm_unrolling *u, results *r, const uint32_t *values, uint32_t outputs, cm_error *error)
{
  CM_TRY_IF(r->value == NULL, CM_ARENA_NEW(&u->model->arena, r->value, outputs, error));
  if (r->count == r->room) {
    uint32_t room = r->room == 0 ? 16 : 2 * r->room;
    for (uint32_t o = 0; o < outputs; o++) {
      uint32_t *more;
      CM_TRY(CM_ARENA_NEW(&u->model->arena, more, room, error));
      if (r->count > 0)
        memcpy(more, r->value[o], r->count * sizeof *more);
      r->value[o] = more;
    }
    r->room = room;
  }
  for (uint32_t o = 0; o < outputs; o++)
    r->value[o][r->count] = values[o];
  r->count++;
  return CM_OK;
}

/* Stacks the values of all iterations, of result number k, along a new axis. */
static cm_status stack(cm_unrolling *u, const results *kept, uint32_t k, int64_t axis, bool backward, cm_error *error)
{
  uint32_t *values = kept->count > 0 ? kept->value[k] : NULL, count = kept->count, output = kept->node->outputs[kept->first + k];
  if (output == CM_NONE)
    return CM_OK;
  if (count == 0)
    return cm_unroll_fail(kept->node, CM_BAD_NETWORK, "has no iteration, so that the shape of what it collects is not known", error);
  uint32_t axes = CM_NONE;
  bool as_input = u->model->opset >= AXES_AS_INPUT_OPSET;
  CM_TRY_IF(as_input, cm_unroll_constant(u, CM_INT64, 1, axis, &axes, error));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t pair[2] = {values[i], axes}, made = CM_NONE;
    const cm_new_node unsqueeze = {"Unsqueeze", pair, as_input ? 2 : 1, as_input ? NULL : "axes", axis};
    CM_TRY(cm_unroll_node(u, &unsqueeze, &made, error));
    values[i] = made;
  }
  for (uint32_t i = 0; backward && i < count / 2; i++) {
    uint32_t swap = values[i];
    values[i] = values[count - 1 - i];
    values[count - 1 - i] = swap;
  }
  return cm_unroll_node(u, &(cm_new_node){"Concat", values, count, "axis", axis}, &output, error);
}

/* ---- Loop ---- */

typedef struct loop {
  const cm_node *node;
  uint32_t carried, collected;
  int64_t trips;       /* -1: as long as the condition holds */
  uint32_t condition;  /* before the next iteration; CM_NONE: true */
  uint32_t alive;      /* whether all conditions so far held; CM_NONE: they are known to */
  uint32_t *state;     /* carried values */
  results kept;
} loop;

static cm_status begin_loop(cm_unrolling *u, const cm_node *n, loop *l, cm_error *error)
{
  *l = (loop){.node = n, .trips = -1, .condition = CM_NONE, .alive = CM_NONE};
  if (n->input_count < 2 || n->output_count < n->input_count - 2)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "has other inputs than outputs", error);
  l->carried = n->input_count - 2;
  l->collected = n->output_count - l->carried;
  l->kept = (results){.node = n, .first = l->carried};
  if (n->inputs[0] != CM_NONE && !cm_unroll_known_integer(u->model, n->inputs[0], &l->trips))
    return cm_unroll_fail(n, CM_BAD_NETWORK, "its number of iterations is not known before the model runs", error);
  l->condition = n->inputs[1];
  CM_TRY(CM_ARENA_NEW(&u->model->arena, l->state, l->carried, error));
  if (l->carried > 0)
    memcpy(l->state, n->inputs + 2, l->carried * sizeof *l->state);
  return CM_OK;
}

/* Whether there is another iteration, as far as that is known. */
static cm_status goes_on(cm_unrolling *u, loop *l, bool *more, cm_error *error)
{
  int64_t condition = 1;
  *more = l->trips < 0 || (int64_t)l->kept.count < l->trips;
  if (!*more || l->condition == CM_NONE)
    return CM_OK;
  if (cm_unroll_known_integer(u->model, l->condition, &condition)) {
    *more = condition != 0;
    return CM_OK;
  }
  if (l->trips < 0 || l->collected > 0)
    return cm_unroll_fail(l->node, CM_BAD_NETWORK, "when it ends is not known before the model runs", error);
  uint32_t both[2] = {l->alive, l->condition}, made = CM_NONE;
  if (l->alive == CM_NONE)
    made = l->condition;
  else if (cm_unroll_node(u, &(cm_new_node){.op = "And", .inputs = both, .count = 2}, &made, error) != CM_OK)
    return error->status;
  l->alive = made;
  return CM_OK;
}

static cm_status iterate(cm_unrolling *u, loop *l, cm_error *error)
{
  cm_arena *arena = &u->model->arena;
  uint32_t *inputs, *outputs, condition = l->condition;
  CM_TRY(CM_ARENA_NEW(arena, inputs, l->carried + 2, error));
  CM_TRY(CM_ARENA_NEW(arena, outputs, 1 + l->carried + l->collected, error));
  CM_TRY(cm_unroll_constant(u, CM_INT64, 0, l->kept.count, &inputs[0], error));
  CM_TRY_IF(condition == CM_NONE, cm_unroll_constant(u, CM_BOOL, 0, 1, &condition, error));
  inputs[1] = condition;
  if (l->carried > 0)
    memcpy(inputs + 2, l->state, l->carried * sizeof *inputs);
  CM_TRY(cm_unroll_body(u, l->node, "body", &(cm_body_values){inputs, l->carried + 2, outputs, 1 + l->carried + l->collected}, error));
  for (uint32_t c = 0; c < l->carried; c++) {
    uint32_t choice[3] = {l->alive, outputs[1 + c], l->state[c]}, made = CM_NONE;
    CM_TRY_IF(l->alive != CM_NONE, cm_unroll_node(u, &(cm_new_node){.op = "If", .inputs = choice, .count = 3}, &made, error));
    l->state[c] = l->alive != CM_NONE ? made : outputs[1 + c];
  }
  l->condition = outputs[0];
  return keep_results(u, &l->kept, outputs + 1 + l->carried, l->collected, error);
}

cm_status cm_unroll_loop(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  loop l;
  bool more;
  CM_TRY(begin_loop(u, n, &l, error));
  for (;;) {
    CM_TRY(goes_on(u, &l, &more, error));
    if (!more)
      break;
    if (l.kept.count == CM_UNROLL_ITERATIONS_MAX)
      return cm_unroll_fail(n, CM_TOO_LARGE, "has more than 4096 iterations", error);
    CM_TRY(iterate(u, &l, error));
  }
  for (uint32_t c = 0; c < l.carried; c++)
    CM_TRY(cm_unroll_hand_over(u, l.state[c], n->outputs[c], error));
  for (uint32_t k = 0; k < l.collected; k++)
    CM_TRY(stack(u, &l.kept, k, 0, false, error));
  return CM_OK;
}

/* ---- Scan ---- */

typedef struct scan {
  const cm_node *node;
  uint32_t carried, scanned, collected;
  uint32_t *state;
  results kept;
} scan;

/* Number k of a list that may be left out: 0. */
static int64_t listed(const cm_node *n, const char *name, uint32_t k)
{
  const cm_attribute *a = cm_node_attribute(n, name);
  return a != NULL && k < a->count ? a->integers[k] : 0;
}

static cm_status scan_length(cm_unrolling *u, const scan *s, int64_t *length, cm_error *error)
{
  *length = CM_UNKNOWN_DIM;
  for (uint32_t k = 0; k < s->scanned; k++) {
    uint32_t value = s->node->inputs[s->carried + k];
    const cm_shape *x = value != CM_NONE ? &u->model->values[value].shape : NULL;
    int64_t axis = listed(s->node, "scan_input_axes", k);
    if (x == NULL || x->rank == CM_UNKNOWN_RANK)
      continue;
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis >= (int64_t)x->rank || (*length >= 0 && x->dims[axis] >= 0 && x->dims[axis] != *length))
      return cm_unroll_fail(s->node, CM_BAD_NETWORK, "its inputs cannot be scanned together", error);
    *length = x->dims[axis] >= 0 ? x->dims[axis] : *length;
  }
  if (*length < 0)
    return cm_unroll_fail(s->node, CM_BAD_NETWORK, "its number of iterations is not known before the model runs", error);
  return *length <= CM_UNROLL_ITERATIONS_MAX ? CM_OK
                                             : cm_unroll_fail(s->node, CM_TOO_LARGE, "has more than 4096 iterations", error);
}

static cm_status scan_once(cm_unrolling *u, scan *s, int64_t step, int64_t length, cm_error *error)
{
  uint32_t *inputs, *outputs;
  CM_TRY(CM_ARENA_NEW(&u->model->arena, inputs, s->carried + s->scanned, error));
  CM_TRY(CM_ARENA_NEW(&u->model->arena, outputs, s->carried + s->collected, error));
  if (s->carried > 0)
    memcpy(inputs, s->state, s->carried * sizeof *inputs);
  for (uint32_t k = 0; k < s->scanned; k++) {
    uint32_t pair[2] = {s->node->inputs[s->carried + k], CM_NONE}, made = CM_NONE;
    int64_t place = listed(s->node, "scan_input_directions", k) != 0 ? length - 1 - step : step;
    CM_TRY(cm_unroll_constant(u, CM_INT64, 0, place, &pair[1], error));
    CM_TRY(cm_unroll_node(u, &(cm_new_node){"Gather", pair, 2, "axis", listed(s->node, "scan_input_axes", k)}, &made, error));
    inputs[s->carried + k] = made;
  }
  CM_TRY(cm_unroll_body(u, s->node, "body", &(cm_body_values){inputs, s->carried + s->scanned, outputs, s->carried + s->collected}, error));
  if (s->carried > 0)
    memcpy(s->state, outputs, s->carried * sizeof *outputs);
  return keep_results(u, &s->kept, outputs + s->carried, s->collected, error);
}

cm_status cm_unroll_scan(cm_unrolling *u, const cm_node *n, cm_error *error)
{
  scan s = {.node = n};
  int64_t scanned = cm_node_integer(n, "num_scan_inputs", 0), length;
  if (u->model->opset < SCAN_WITHOUT_BATCH_OPSET)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "Scan is supported from opset 9 on", error);
  if (scanned < 1 || scanned > (int64_t)n->input_count || n->input_count - scanned > n->output_count)
    return cm_unroll_fail(n, CM_BAD_NETWORK, "has other inputs than outputs", error);
  s.scanned = (uint32_t)scanned;
  s.carried = n->input_count - s.scanned;
  s.collected = n->output_count - s.carried;
  s.kept = (results){.node = n, .first = s.carried};
  CM_TRY(scan_length(u, &s, &length, error));
  CM_TRY(CM_ARENA_NEW(&u->model->arena, s.state, s.carried, error));
  if (s.carried > 0)
    memcpy(s.state, n->inputs, s.carried * sizeof *s.state);
  for (int64_t step = 0; step < length; step++)
    CM_TRY(scan_once(u, &s, step, length, error));
  for (uint32_t c = 0; c < s.carried; c++)
    CM_TRY(cm_unroll_hand_over(u, s.state[c], n->outputs[c], error));
  for (uint32_t k = 0; k < s.collected; k++)
    CM_TRY(stack(u, &s.kept, k, listed(n, "scan_output_axes", k), listed(n, "scan_output_directions", k) != 0, error));
  return CM_OK;
}
