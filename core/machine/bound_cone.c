/* The cone of what an element needs: how much of every value, and what that costs at least, from the last operator back. */
#include <math.h>
#include <string.h>

#include "core/machine/bound_cone.h"
#include "core/machine/bound_reads.h"
#include "core/machine/plan/partial_sums.h"

double cm_bound_port_rate(const cm_bounding *b)
{
  return cm_target_bandwidth(b->target);
}

static uint64_t least_count(const cm_box *a, const cm_box *b)
{
  uint64_t count = 1;
  for (uint32_t i = 0; i < a->rank; i++) {
    int64_t x = a->to[i] - a->from[i], y = b->to[i] - b->from[i], less = x < y ? x : y;
    count *= less > 0 ? (uint64_t)less : 0;
  }
  return count;
}

/* A value is needed, `count` elements at least: of several readers the one that needs most is kept. */
static void need_count(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last, uint64_t count)
{
  cm_needed *n = &b->value[value];
  if (count == 0 || (n->stamp == b->stamp && n->count >= count))
    return;
  *n = (cm_needed){b->stamp, {*first, *last}, count};
}

void cm_bound_need(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last)
{
  need_count(b, value, first, last, least_count(first, last));
}

/* Every lane has a weight, in proportion to its best rate for a kind of operation, together 1: operations take at least
 * their least time on any lane times its weight of all lanes' time. With one device for a kind, work over its lanes. */
static double busy_share(const cm_bounding *b, const cm_plan_op *op, double work)
{
  const cm_target *t = b->target;
  const double *weight = b->weight[op->matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR];
  double least = HUGE_VAL, issue = HUGE_VAL;
  for (uint32_t d = 0; d < t->device_count; d++)
    if (op->rates[d] > 0) {
      least = fmin(least, weight[d] / op->rates[d]);
      issue = fmin(issue, weight[d] * (t->issue_ns + t->device[d].latency_ns));
    }
  return work * least + issue;
}

/* The first input, of which more may be read than what one box has. */
static void need_read(cm_bounding *b, uint32_t value, int64_t reads[2][CM_RANK_MAX])
{
  const cm_box *first = &b->inputs[0][0], *last = &b->inputs[1][0];
  uint64_t count = 1;
  for (uint32_t a = 0; a < first->rank; a++) {
    int64_t less = reads[0][a] < reads[1][a] ? reads[0][a] : reads[1][a];
    count *= less > 0 ? (uint64_t)less : 0;
  }
  need_count(b, value, first, last, count);
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

/* Adds what an operator has to do for a need to its place in the order, and what it reads to the needs. With `alone` only
 * its parameters count: it is the one that is to begin. */
static cm_status visit_op(cm_bounding *b, uint32_t place, const cm_plan_op *op, const cm_needed *n, bool alone, cm_error *error)
{
  const cm_call *call = &op->call;
  cm_box box[2];
  double per_element[2];
  int64_t reads[2][CM_RANK_MAX];
  if (op->copied != CM_NONE)
    return CM_OK; /* a copy of a view: what is behind it is needed through the view */
  for (int c = 0; c < 2; c++) {
    box[c] = cm_bound_piece_box(call, &n->box[c]);
    if (cm_bound_read_boxes(call, &box[c], b->inputs[c], error) != CM_OK)
      return error->status;
    per_element[c] = (double)cm_split_work(call, &box[c], b->inputs[c]) / (double)cm_box_count(&box[c]);
    /* How many rows meet a piece of a transposed convolution depends on where it lies between strides: by one at most. */
    for (uint32_t i = 2; op->call.node->known->split == CM_SPLIT_TRANSPOSED && i < b->inputs[c][0].rank; i++)
      if (b->inputs[c][0].to[i] - b->inputs[c][0].from[i] < call->input[0].dims[i])
        b->inputs[c][0].to[i]--;
    /* So it is of a resized axis, of which every element reads at least one. */
    for (uint32_t i = 0; op->call.node->known->split == CM_SPLIT_RESIZE && i < b->inputs[c][0].rank; i++)
      if (call->input[0].dims[i] != call->output[0].dims[i] && b->inputs[c][0].to[i] - b->inputs[c][0].from[i] > 1 &&
          b->inputs[c][0].to[i] - b->inputs[c][0].from[i] < call->input[0].dims[i])
        b->inputs[c][0].to[i]--;
  }
  if (alone)
    narrow_sum(b, call);
  for (int c = 0; c < 2; c++)
    if (call->input_count > 0 && cm_bound_leave_gaps(call, &box[c], c == 1, &b->inputs[c][0], reads[c], error) != CM_OK)
      return error->status;
  uint64_t least = least_count(&box[0], &box[1]);
  double made = (double)(least > n->count ? least : n->count), work = made;
  bool counted = op->matrix || call->node->known->kernel == cm_kernel_pool;
  if (counted)
    work *= per_element[0] < per_element[1] ? per_element[0] : per_element[1];
  if (!alone)
    b->work[place] += busy_share(b, op, work);
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!cm_has(call, i) || i >= call->node->input_count)
      continue;
    uint32_t value = call->node->inputs[i];
    if (b->plan->values[value].kind == CM_VALUE_CONSTANT) {
      uint64_t count = least_count(&b->inputs[0][i], &b->inputs[1][i]);
      cm_needed *seen = &b->value[value];
      uint64_t before = seen->stamp == b->stamp ? seen->count : 0;
      if (count > before) {
        *seen = (cm_needed){.stamp = b->stamp, .count = count};
        b->bytes[place] += (double)((count - before) * cm_type_bytes(call->input[i].type)) / cm_bound_port_rate(b);
      }
    } else if (i == 0)
      need_read(b, value, reads);
    else
      cm_bound_need(b, value, &b->inputs[0][i], &b->inputs[1][i]);
  }
  return CM_OK;
}

static void need_concat(cm_bounding *b, const cm_node *node, const cm_needed *n)
{
  int64_t axis = cm_node_integer(node, "axis", 1), at = 0;
  axis += axis < 0 ? (int64_t)n->box[0].rank : 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    cm_box part[2];
    bool both = true;
    if (node->inputs[i] == CM_NONE)
      continue;
    cm_box whole = cm_box_whole(&b->plan->model->values[node->inputs[i]].shape);
    for (int c = 0; c < 2; c++) {
      cm_box shifted = n->box[c];
      shifted.from[axis] -= at;
      shifted.to[axis] -= at;
      both = cm_box_intersect(&whole, &shifted, &part[c]) && both;
    }
    at += whole.to[axis];
    /* What only one of the two elements needs is not needed of every one. */
    if (both)
      cm_bound_need(b, node->inputs[i], &part[0], &part[1]);
  }
}

/* A view: its input is needed as it is where that can be said, else nothing is claimed. */
static void visit_view(cm_bounding *b, const cm_node *node, const cm_needed *n)
{
  const cm_makes_kind makes = node->known->makes;
  if (makes == CM_MAKES_JOINED) {
    need_concat(b, node, n);
    return;
  }
  if (node->input_count == 0 || node->inputs[0] == CM_NONE || makes == CM_MAKES_PART)
    return;
  cm_box whole = cm_box_whole(&b->plan->model->values[node->outputs[0]].shape),
         source = cm_box_whole(&b->plan->model->values[node->inputs[0]].shape);
  if (makes == CM_MAKES_SAME)
    cm_bound_need(b, node->inputs[0], &n->box[0], &n->box[1]);
  else if (cm_box_equal(&n->box[0], &whole) && cm_box_equal(&n->box[1], &whole))
    cm_bound_need(b, node->inputs[0], &source, &source);
}

cm_status cm_bound_walk(cm_bounding *b, uint32_t last, bool alone, cm_error *error)
{
  const cm_model *m = b->plan->model;
  memset(b->work, 0, m->order_count * sizeof *b->work);
  memset(b->bytes, 0, m->order_count * sizeof *b->bytes);
  for (uint32_t i = last + 1; i-- > 0;) {
    const cm_node *node = &m->nodes[m->order[i]];
    const cm_needed *n = NULL;
    for (uint32_t o = 0; o < node->output_count && n == NULL; o++)
      if (b->value[node->outputs[o]].stamp == b->stamp &&
          b->plan->values[node->outputs[o]].kind != CM_VALUE_CONSTANT)
        n = o == 0 ? &b->value[node->outputs[0]] : NULL;
    if (n == NULL)
      continue;
    const cm_needed copy = *n;
    uint32_t op = b->op_of[m->order[i]];
    if (op == 0)
      visit_view(b, node, &copy);
    else if (visit_op(b, i, &b->plan->ops[op - 1], &copy, alone && i == last, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}
