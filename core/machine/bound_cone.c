/* The cone of what an element needs: how much of every value, and what that costs at least, from the last operator back. */
#include <math.h>
#include <string.h>

#include "core/machine/bound_cone.h"
#include "core/machine/plan/partial_sums.h"
#include "core/operators/operator.h"

/* A host computes an operator whole, with all that it moves. */
static double host_ns(const cm_bounding *b, const cm_plan_op *op, uint32_t device)
{
  return cm_compute_ns(b->target, &b->target->device[device], &b->plan->pieces[op->first_piece].work, op->rates[device]);
}

/* Every lane has a weight, in proportion to its best rate for a kind of operation, together 1: operations take at least
 * their least time on any lane times its weight of all lanes' time. With one device for a kind, work over its lanes. */
static double busy_share(const cm_bounding *b, const cm_plan_op *op, double work, double *issues)
{
  const cm_target *t = b->target;
  const double *weight = b->weight[op->kind];
  double least = HUGE_VAL, issue = HUGE_VAL, whole = HUGE_VAL;
  for (uint32_t d = 0; d < t->device_count; d++)
    if (op->rates[d] > 0) {
      least = fmin(least, weight[d] / op->rates[d]);
      issue = fmin(issue, weight[d] * (t->issue_ns + t->device[d].latency_ns));
      whole = op->kind == CM_UNIT_HOST ? fmin(whole, weight[d] * host_ns(b, op, d)) : work * least + issue;
    }
  *issues = issue;
  return whole;
}

/* Every lane that does any has an issue before it. */
double cm_bound_done_ns(const cm_bounding *b, cm_unit_kind kind, bool out, double work, double issues)
{
  const cm_reach *reach = &b->reach[out && kind != CM_UNIT_HOST ? 1 : 0][kind]; /* what a host makes lies outside */
  return fmax(cm_reach_ns(reach, work), work > issues ? b->issue_ns[kind] + cm_reach_ns(reach, work - issues) : 0);
}

/* ---- what pieces read ---- */

enum { INPUTS_CUT = 8 }; /* of operators of which less than the whole is known */

/* Channels of a grouped convolution that one piece may make: of several groups the whole ones. */
static void whole_groups(const cm_call *call, cm_box *box)
{
  int64_t group = cm_node_integer(call->node, "group", 1), filters = call->output[0].dims[1] / (group > 0 ? group : 1);
  if (group <= 1 || filters < 1 || box->from[1] / filters == (box->to[1] - 1) / filters)
    return;
  int64_t from = (box->from[1] + filters - 1) / filters * filters, to = box->to[1] / filters * filters;
  if (from < to) {
    box->from[1] = from;
    box->to[1] = to;
  } else
    box->to[1] = from; /* the part in the first of two */
}

/* What a piece that makes `box` makes: along axes that the operator may not be cut along, all. O(axes). */
static cm_box piece_box(const cm_call *call, const cm_box *box)
{
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  cm_box made = cm_box_whole(&call->output[0]);
  for (uint32_t i = 0; i < count; i++) {
    made.from[axes[i]] = box->from[axes[i]];
    made.to[axes[i]] = box->to[axes[i]];
    int64_t least = cm_split_extent(call, axes[i], 1);
    if (least > 1) { /* groups stay whole */
      made.from[axes[i]] = made.from[axes[i]] / least * least;
      made.to[axes[i]] = (made.to[axes[i]] + least - 1) / least * least;
    } else if (axes[i] == 1 && made.rank > 2 && cm_split_is_matrix(call))
      whole_groups(call, &made);
  }
  return made;
}

/* What the first element along an axis (of groups, the first group) and the others read together. */
static cm_status read_cut(const cm_call *call, const cm_box *box, uint32_t axis, cm_box *inputs, cm_error *error)
{
  cm_split_change change;
  cm_box other[INPUTS_CUT], head = *box, rest = *box;
  int64_t group = cm_node_integer(call->node, "group", 1), first = axis == 1 && group > 1 ? call->output[0].dims[1] / group : 1;
  head.to[axis] = rest.from[axis] = box->from[axis] + first;
  CM_TRY(cm_split_piece(call, &head, inputs, &change, error));
  CM_TRY(cm_split_piece(call, &rest, other, &change, error));
  for (uint32_t i = 0; i < call->input_count; i++)
    for (uint32_t a = 0; a < inputs[i].rank; a++) {
      inputs[i].from[a] = other[i].from[a] < inputs[i].from[a] ? other[i].from[a] : inputs[i].from[a];
      inputs[i].to[a] = other[i].to[a] > inputs[i].to[a] ? other[i].to[a] : inputs[i].to[a];
    }
  return CM_OK;
}

/* What is read for a box (call->input_count boxes). Of a whole one what cut pieces read, which may be less: not the rows and
 * columns behind the last window. O(axes * inputs). */
static cm_status read_boxes(const cm_call *call, const cm_box *box, cm_box *inputs, cm_error *error)
{
  cm_split_change change;
  cm_box whole = cm_box_whole(&call->output[0]), cut[INPUTS_CUT], both;
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes), rank = box->rank, band = rank > 3 ? 2 : rank == 3 ? 1 : 0;
  const cm_split_kind kind = call->node->known->split;
  bool window = kind == CM_SPLIT_CONVOLUTION || kind == CM_SPLIT_POOL || kind == CM_SPLIT_TRANSPOSED;
  CM_TRY(cm_split_piece(call, box, inputs, &change, error));
  if (!cm_box_equal(box, &whole) || call->input_count > INPUTS_CUT)
    return CM_OK;
  for (uint32_t k = 0; k < count; k++) {
    if (!window && axes[k] != band)
      continue;
    CM_TRY(read_cut(call, box, axes[k], cut, error));
    for (uint32_t i = 0; i < call->input_count; i++)
      if (inputs[i].rank > 0 && cm_box_intersect(&inputs[i], &cut[i], &both))
        inputs[i] = both;
  }
  return CM_OK;
}

static int64_t length(const cm_box *box, uint32_t axis)
{
  return box->to[axis] - box->from[axis];
}

/* The first input's interval for one place of a box along an axis. */
static cm_status read_place(const cm_call *call, const cm_box *box, uint32_t axis, int64_t place, cm_box *input, cm_error *error)
{
  cm_split_change change;
  cm_box inputs[INPUTS_CUT], one = *box;
  one.from[axis] = place;
  one.to[axis] = place + 1;
  CM_TRY(cm_split_piece(call, &one, inputs, &change, error));
  *input = inputs[0];
  return CM_OK;
}

/* Where a stride is longer than the window, small pieces do not read what lies between windows: `input`, the first one of
 * `box`, becomes what one element reads, that at the high end with `last`. reads[axis] is how many places all of the box
 * read together at least. O(axes). */
static cm_status leave_gaps(const cm_call *call, const cm_box *box, bool last, cm_box *input, int64_t *reads, cm_error *error)
{
  const cm_split_kind kind = call->node->known->split;
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  for (uint32_t a = 0; a < input->rank; a++)
    reads[a] = length(input, a);
  if ((kind != CM_SPLIT_CONVOLUTION && kind != CM_SPLIT_POOL) || call->input_count > INPUTS_CUT)
    return CM_OK;
  for (uint32_t k = 0; k < count; k++) {
    cm_box first, second, end;
    uint32_t a = axes[k];
    int64_t places = length(box, a);
    if (a < 2 || places < 2)
      continue;
    CM_TRY(read_place(call, box, a, box->from[a], &first, error));
    CM_TRY(read_place(call, box, a, box->from[a] + 1, &second, error));
    CM_TRY(read_place(call, box, a, box->to[a] - 1, &end, error));
    if (second.from[a] <= first.to[a])
      continue;
    int64_t least = length(&first, a) < length(&second, a) ? length(&first, a) : length(&second, a);
    least = least < length(&end, a) ? least : length(&end, a);
    reads[a] = length(&first, a) + (places - 2) * least + length(&end, a);
    input->from[a] = last ? end.from[a] : first.from[a];
    input->to[a] = last ? end.to[a] : first.to[a];
  }
  return CM_OK;
}

/* ---- needs ---- */

/* The first input, of which more may be read than what one box has. */
static void need_read(cm_bounding *b, uint32_t value, int64_t reads[2][CM_RANK_MAX])
{
  const cm_box *first = &b->inputs[0][0], *last = &b->inputs[1][0];
  uint64_t count = 1;
  for (uint32_t a = 0; a < first->rank; a++) {
    int64_t less = reads[0][a] < reads[1][a] ? reads[0][a] : reads[1][a];
    count *= less > 0 ? (uint64_t)less : 0;
  }
  cm_bound_need_count(b, value, first, last, count);
}

/* A piece of a product that may be cut along its sum begins with one part of it, of which the shortest is so long. */
static void narrow_sum(cm_bounding *b, const cm_call *call)
{
  uint32_t parts = cm_sum_parts(call, b->target, b->plan->memory_bytes);
  int64_t extent = cm_sum_extent(call);
  if (parts < 2)
    return;
  cm_sum_boxes(call, 0, extent / parts, b->inputs[0]);
  cm_sum_boxes(call, extent - extent / parts, extent, b->inputs[1]);
}

/* Operations an element at least: of the pieces for the first and the last one, and where more elements share some, of all. */
static cm_status work_of_element(cm_bounding *b, const cm_call *call, const double per_element[2], double *work, cm_error *error)
{
  const cm_box whole = cm_box_whole(&call->output[0]);
  cm_split_change change;
  cm_box *inputs = b->whole_inputs;
  CM_TRY(cm_split_piece(call, &whole, inputs, &change, error));
  *work = (double)cm_split_work(call, &whole, inputs) / fmax((double)cm_box_count(&whole), 1);
  *work = fmin(*work, fmin(per_element[0], per_element[1]));
  return CM_OK;
}

/* The boxes of the pieces for a need, what they read (b->inputs), and the operations that it takes at least. */
static cm_status read_need(cm_bounding *b, const cm_call *call, const cm_needed *n, cm_box box[2], double *work, cm_error *error)
{
  double per_element[2];
  for (int c = 0; c < 2; c++) {
    box[c] = piece_box(call, &n->box[c]);
    CM_TRY(read_boxes(call, &box[c], b->inputs[c], error));
    per_element[c] = (double)cm_split_work(call, &box[c], b->inputs[c]) / (double)cm_box_count(&box[c]);
    /* How many rows meet a piece of a transposed convolution depends on where it lies between strides: by one at most. */
    for (uint32_t i = 2; call->node->known->split == CM_SPLIT_TRANSPOSED && i < b->inputs[c][0].rank; i++)
      if (b->inputs[c][0].to[i] - b->inputs[c][0].from[i] < call->input[0].dims[i])
        b->inputs[c][0].to[i]--;
    /* So it is of a resized axis, of which every element reads at least one. */
    for (uint32_t i = 0; call->node->known->split == CM_SPLIT_RESIZE && i < b->inputs[c][0].rank; i++)
      if (call->input[0].dims[i] != call->output[0].dims[i] && b->inputs[c][0].to[i] - b->inputs[c][0].from[i] > 1 &&
          b->inputs[c][0].to[i] - b->inputs[c][0].from[i] < call->input[0].dims[i])
        b->inputs[c][0].to[i]--;
  }
  const uint64_t least = cm_bound_least_count(&box[0], &box[1]);
  CM_TRY(work_of_element(b, call, per_element, work, error));
  *work *= (double)(least > n->count ? least : n->count);
  return CM_OK;
}

/* Parameters that were not needed yet, over the ports. */
static void need_constant(cm_bounding *b, uint32_t place, const cm_call *call, uint32_t input)
{
  cm_needed *seen = &b->value[call->node->inputs[input]];
  const uint64_t count = cm_bound_least_count(&b->inputs[0][input], &b->inputs[1][input]), before = seen->stamp == b->stamp ? seen->count : 0;
  if (count <= before)
    return;
  *seen = (cm_needed){.stamp = b->stamp, .count = count};
  b->bytes[place] += (double)((count - before) * cm_type_bytes(call->input[input].type)) / cm_target_bandwidth(b->target);
}

/* Adds what an operator has to do for a need to its place in the order, and what it reads to the needs. With `alone` only
 * its parameters count: it is the one that is to begin. */
static cm_status visit_op(cm_bounding *b, uint32_t place, const cm_plan_op *op, const cm_needed *n, bool alone, cm_error *error)
{
  const cm_call *call = &op->call;
  cm_box box[2];
  double work;
  int64_t reads[2][CM_RANK_MAX];
  CM_TRY(read_need(b, call, n, box, &work, error));
  if (alone)
    narrow_sum(b, call);
  else
    b->work[place] = busy_share(b, op, work, &b->issues[place]);
  for (int c = 0; c < 2; c++)
    CM_TRY_IF(call->input_count > 0, leave_gaps(call, &box[c], c == 1, &b->inputs[c][0], reads[c], error));
  for (uint32_t i = 0; i < call->input_count && i < call->node->input_count; i++) {
    if (!cm_has(call, i))
      continue;
    if (b->plan->values[call->node->inputs[i]].kind == CM_VALUE_CONSTANT) {
      if (op->kind != CM_UNIT_HOST) /* it reads them outside */
        need_constant(b, place, call, i);
    } else if (i == 0)
      need_read(b, call->node->inputs[0], reads);
    else
      cm_bound_need(b, call->node->inputs[i], &b->inputs[0][i], &b->inputs[1][i]);
  }
  return CM_OK;
}

/* What is needed of all outputs together, as a box of the first: those that are cut together are alike, others are made at
 * once. False when nothing of the node is needed. */
static bool needed_of(const cm_bounding *b, const cm_plan_op *op, cm_needed *needed)
{
  const cm_node *node = op->call.node;
  const bool alike = cm_split_outputs_alike(&op->call);
  const cm_box whole = cm_box_whole(&op->call.output[0]);
  needed->count = 0;
  for (uint32_t o = 0; o < node->output_count; o++) {
    const cm_needed *n = &b->value[node->outputs[o]];
    if (n->stamp != b->stamp || b->plan->values[node->outputs[o]].kind == CM_VALUE_CONSTANT)
      continue;
    const cm_needed all = {b->stamp, {whole, whole}, cm_box_count(&whole)};
    if (o > 0 && !alike)
      *needed = all;
    else if (n->count > needed->count)
      *needed = *n;
  }
  return needed->count > 0;
}

static cm_status visit_view(cm_bounding *b, const cm_node *node, cm_error *error)
{
  for (uint32_t o = 0; o < node->output_count; o++) {
    const cm_needed n = b->value[node->outputs[o]];
    CM_TRY_IF(n.stamp == b->stamp && b->plan->values[node->outputs[o]].kind != CM_VALUE_CONSTANT, cm_bound_view(b, node, o, &n, error));
  }
  return CM_OK;
}

cm_status cm_bound_walk(cm_bounding *b, uint32_t first, uint32_t last, bool alone, cm_error *error)
{
  const cm_model *m = b->plan->model;
  memset(b->work, 0, m->order_count * sizeof *b->work);
  memset(b->bytes, 0, m->order_count * sizeof *b->bytes);
  for (uint32_t i = last + 1; i-- > first;) {
    const cm_node *node = &m->nodes[m->order[i]];
    const uint32_t op = b->op_of[m->order[i]];
    cm_needed n;
    if (op == 0 ? visit_view(b, node, error) != CM_OK
                : needed_of(b, &b->plan->ops[op - 1], &n) &&
                      visit_op(b, i, &b->plan->ops[op - 1], &n, alone && i == last, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_bound_least_ns(cm_bounding *b, const cm_plan_op *op, double *ns, cm_error *error)
{
  const cm_call *call = &op->call;
  const cm_target *t = b->target;
  const uint32_t parts = cm_sum_parts(call, t, b->plan->memory_bytes);
  double work = HUGE_VAL;
  for (int c = 0; c < 2; c++) {
    cm_split_change change;
    const cm_box corner = cm_bound_corner(&call->output[0], c == 1), box = piece_box(call, &corner);
    CM_TRY(cm_split_piece(call, &box, b->inputs[0], &change, error));
    work = fmin(work, (double)cm_split_work(call, &box, b->inputs[0]) / parts);
  }
  *ns = HUGE_VAL;
  for (uint32_t d = 0; d < t->device_count; d++)
    if (op->rates[d] > 0)
      *ns = fmin(*ns, op->kind == CM_UNIT_HOST ? host_ns(b, op, d) : t->issue_ns + t->device[d].latency_ns + work / op->rates[d]);
  return CM_OK;
}

/* When what is needed of a value can be there at the earliest; 0: it is a view, or nothing is known. */
static cm_status made_at(cm_bounding *b, uint32_t value, double *ns, cm_error *error)
{
  const uint32_t producer = b->plan->model->values[value].producer, number = producer != CM_NONE ? b->op_of[producer] : 0;
  const cm_plan_op *op = number > 0 ? &b->plan->ops[number - 1] : NULL;
  cm_box box[2];
  cm_needed n;
  double work, issues;
  *ns = 0;
  if (op == NULL || !needed_of(b, op, &n))
    return CM_OK;
  CM_TRY(read_need(b, &op->call, &n, box, &work, error));
  const uint32_t place = b->place_of[producer];
  work = busy_share(b, op, work, &issues);
  *ns = b->begin[place] + fmax(b->least[place], cm_bound_done_ns(b, op->kind, false, work, issues));
  return CM_OK;
}

cm_status cm_bound_after_inputs(cm_bounding *b, uint32_t place, double *ns, cm_error *error)
{
  const cm_model *m = b->plan->model;
  const uint32_t output = m->nodes[m->order[place]].outputs[0];
  const cm_plan_op *op = &b->plan->ops[b->op_of[m->order[place]] - 1];
  cm_needed n;
  cm_bound_need_corners(b, output);
  b->bytes[place] = 0;
  if (!needed_of(b, op, &n))
    return CM_OK;
  CM_TRY(visit_op(b, place, op, &n, true, error));
  for (uint32_t i = 0; i < b->met_count; i++) {
    const uint32_t producer = m->values[b->met[i]].producer;
    CM_TRY_IF(b->met[i] != output && producer != CM_NONE && b->op_of[producer] == 0, visit_view(b, &m->nodes[producer], error));
  }
  for (uint32_t i = 0; i < b->met_count; i++) {
    double at;
    if (b->met[i] == output)
      continue;
    CM_TRY(made_at(b, b->met[i], &at, error));
    *ns = fmax(*ns, at);
  }
  return CM_OK;
}
