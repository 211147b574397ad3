/* Lower bounds on time from dependency cones: what an element needs has to be done before it. */
#include "core/machine/bound.h"

#include "core/machine/bound_reads.h"
#include "core/machine/plan/partial_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONES_MAX = 160 }; /* each goes through all that is before it */

/* What is needed of a value: a box in the cone of the first element, and one in that of the last; of any element at least
 * as much as the smaller along every axis. */
typedef struct needed {
  uint32_t stamp;
  cm_box box[2];
  uint64_t count; /* elements at least; may be more than the boxes have, which only what is before sees */
} needed;

typedef struct moment {
  double begin;
  uint32_t place;
} moment;

typedef struct bounding {
  const cm_plan *plan;
  const cm_target *target;
  cm_run *run;
  needed *value; /* by value */
  uint32_t stamp;
  uint32_t *op_of;   /* by node: its operator + 1 */
  double *begin;     /* by place in the order: before then none of it can begin */
  double *work;      /* by place: operations over the lanes of its kind, ns, in the present cone */
  double *bytes;     /* by place: of parameters, over the ports, ns */
  moment *sorted;
  double weight[CM_UNIT_KINDS][CM_TARGET_DEVICES_MAX]; /* of one lane */
  cm_box *inputs[2];
} bounding;

static double port_rate(const bounding *b)
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
static void need_count(bounding *b, uint32_t value, const cm_box *first, const cm_box *last, uint64_t count)
{
  needed *n = &b->value[value];
  if (count == 0 || (n->stamp == b->stamp && n->count >= count))
    return;
  *n = (needed){b->stamp, {*first, *last}, count};
}

static void need(bounding *b, uint32_t value, const cm_box *first, const cm_box *last)
{
  need_count(b, value, first, last, least_count(first, last));
}

/* Every lane has a weight, in proportion to its best rate for a kind of operation, together 1: operations take at least
 * their least time on any lane times its weight of all lanes' time. With one device for a kind, work over its lanes. */
static double busy_share(const bounding *b, const cm_plan_op *op, double work)
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

static void weigh_lanes(bounding *b)
{
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++) {
    double sum = 0;
    for (uint32_t d = 0; d < b->target->device_count; d++) {
      const cm_device *device = &b->target->device[d];
      for (uint32_t i = 0; i < device->rate_count[k]; i++)
        b->weight[k][d] = fmax(b->weight[k][d], device->rate[k][i].per_ns);
      sum += b->weight[k][d] * device->units;
    }
    for (uint32_t d = 0; d < b->target->device_count; d++)
      b->weight[k][d] /= sum;
  }
}

/* The first input, of which more may be read than what one box has. */
static void need_read(bounding *b, uint32_t value, int64_t reads[2][CM_RANK_MAX])
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
static void narrow_sum(bounding *b, const cm_call *call)
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
static cm_status visit_op(bounding *b, uint32_t place, const cm_plan_op *op, const needed *n, bool alone, cm_error *error)
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
      needed *seen = &b->value[value];
      uint64_t before = seen->stamp == b->stamp ? seen->count : 0;
      if (count > before) {
        *seen = (needed){.stamp = b->stamp, .count = count};
        b->bytes[place] += (double)((count - before) * cm_type_bytes(call->input[i].type)) / port_rate(b);
      }
    } else if (i == 0)
      need_read(b, value, reads);
    else
      need(b, value, &b->inputs[0][i], &b->inputs[1][i]);
  }
  return CM_OK;
}

static void need_concat(bounding *b, const cm_node *node, const needed *n)
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
      need(b, node->inputs[i], &part[0], &part[1]);
  }
}

/* A view: its input is needed as it is where that can be said, else nothing is claimed. */
static void visit_view(bounding *b, const cm_node *node, const needed *n)
{
  cm_kernel_function k = node->known->kernel;
  if (k == cm_kernel_concat) {
    need_concat(b, node, n);
    return;
  }
  if (node->input_count == 0 || node->inputs[0] == CM_NONE || k == cm_kernel_slice || k == cm_kernel_split)
    return;
  cm_box whole = cm_box_whole(&b->plan->model->values[node->outputs[0]].shape),
         source = cm_box_whole(&b->plan->model->values[node->inputs[0]].shape);
  if (k == cm_kernel_identity || k == cm_kernel_dropout)
    need(b, node->inputs[0], &n->box[0], &n->box[1]);
  else if (cm_box_equal(&n->box[0], &whole) && cm_box_equal(&n->box[1], &whole))
    need(b, node->inputs[0], &source, &source);
}

/* Work and bytes of all that is needed by nodes up to a place, from there back. */
static cm_status walk(bounding *b, uint32_t last, bool alone, cm_error *error)
{
  const cm_model *m = b->plan->model;
  memset(b->work, 0, m->order_count * sizeof *b->work);
  memset(b->bytes, 0, m->order_count * sizeof *b->bytes);
  for (uint32_t i = last + 1; i-- > 0;) {
    const cm_node *node = &m->nodes[m->order[i]];
    const needed *n = NULL;
    for (uint32_t o = 0; o < node->output_count && n == NULL; o++)
      if (node->outputs[o] != CM_NONE && b->value[node->outputs[o]].stamp == b->stamp &&
          b->plan->values[node->outputs[o]].kind != CM_VALUE_CONSTANT)
        n = o == 0 ? &b->value[node->outputs[0]] : NULL;
    if (n == NULL)
      continue;
    const needed copy = *n;
    uint32_t op = b->op_of[m->order[i]];
    if (op == 0)
      visit_view(b, node, &copy);
    else if (visit_op(b, i, &b->plan->ops[op - 1], &copy, alone && i == last, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static int later_first(const void *x, const void *y)
{
  const moment *a = x, *b = y;
  if (a->begin < b->begin || a->begin > b->begin)
    return a->begin > b->begin ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

/* The least time in which all of a cone can be done: from every time on, what cannot begin before it. */
static void phases(bounding *b, uint32_t last, double phase[CM_UNIT_KINDS])
{
  const cm_model *m = b->plan->model;
  double sum[CM_UNIT_KINDS] = {0}, held = (double)b->plan->memory_bytes / port_rate(b);
  uint32_t count = 0;
  memset(phase, 0, CM_UNIT_KINDS * sizeof *phase);
  for (uint32_t i = 0; i <= last; i++)
    if (b->work[i] > 0 || b->bytes[i] > 0)
      b->sorted[count++] = (moment){b->begin[i], i};
  qsort(b->sorted, count, sizeof *b->sorted, later_first);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i = b->sorted[k].place, op = b->op_of[m->order[i]];
    cm_unit_kind kind = b->plan->ops[op - 1].matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR;
    double t = b->begin[i];
    sum[kind] += b->work[i];
    sum[CM_UNIT_DATA] += b->bytes[i];
    phase[kind] = t + sum[kind] > phase[kind] ? t + sum[kind] : phase[kind];
    double more = sum[CM_UNIT_DATA] - held;
    if (more > 0 && t + more > phase[CM_UNIT_DATA])
      phase[CM_UNIT_DATA] = t + more;
  }
  phase[CM_UNIT_DATA] = sum[CM_UNIT_DATA] > phase[CM_UNIT_DATA] ? sum[CM_UNIT_DATA] : phase[CM_UNIT_DATA];
}

/* Before then no element of the node at a place can begin. */
static cm_status find_begin(bounding *b, uint32_t place, cm_error *error)
{
  const cm_model *m = b->plan->model;
  const cm_node *node = &m->nodes[m->order[place]];
  cm_box whole = cm_box_whole(&m->values[node->outputs[0]].shape), first = whole, last = whole;
  double phase[CM_UNIT_KINDS];
  for (uint32_t i = 0; i < whole.rank; i++) {
    first.to[i] = whole.to[i] < 1 ? whole.to[i] : 1;
    last.from[i] = whole.to[i] < 1 ? 0 : whole.to[i] - 1;
  }
  b->stamp++;
  need(b, node->outputs[0], &first, &last);
  if (walk(b, place, true, error) != CM_OK)
    return error->status;
  phases(b, place, phase);
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    b->begin[place] = phase[k] > b->begin[place] ? phase[k] : b->begin[place];
  return cm_run_check(b->run, error);
}

/* Nothing begins before what it reads. */
static void follow(bounding *b, uint32_t place, double *ready)
{
  const cm_model *m = b->plan->model;
  const cm_node *node = &m->nodes[m->order[place]];
  bool any = node->known->kernel == cm_kernel_concat; /* an element of it may need one input alone */
  double least = -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == CM_NONE || b->plan->values[node->inputs[i]].kind == CM_VALUE_CONSTANT)
      continue;
    double t = ready[node->inputs[i]];
    least = least < 0 || (any ? t < least : t > least) ? t : least;
  }
  b->begin[place] = least > 0 ? least : 0;
}

/* Marks the operators that get a cone: of many, those whose work and parameters are the largest share of the whole. */
static cm_status choose_cones(bounding *b, bool *chosen, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double work = 0, bytes = 0;
  uint32_t count = 0;
  for (size_t i = 0; i < m->output_count; i++)
    if (b->plan->values[m->outputs[i]].kind != CM_VALUE_CONSTANT) {
      cm_box whole = cm_box_whole(&m->values[m->outputs[i]].shape);
      need(b, m->outputs[i], &whole, &whole);
    }
  if (walk(b, (uint32_t)m->order_count - 1, false, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < m->order_count; i++) {
    work += b->work[i];
    bytes += b->bytes[i];
  }
  for (uint32_t i = 0; i < m->order_count; i++)
    if (b->work[i] > 0)
      b->sorted[count++] = (moment){b->work[i] / work + (bytes > 0 ? b->bytes[i] / bytes : 0), i};
  qsort(b->sorted, count, sizeof *b->sorted, later_first);
  for (uint32_t k = 0; k < count && k < CONES_MAX; k++)
    chosen[b->sorted[k].place] = true;
  return CM_OK;
}

static cm_status find_begins(bounding *b, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double *ready;
  bool *chosen = NULL;
  if (CM_NEW(b->run->memory, ready, m->value_count + 1, error) != CM_OK)
    return error->status;
  b->stamp++;
  cm_status status = CM_NEW(b->run->memory, chosen, m->order_count + 1, error);
  if (status == CM_OK)
    status = choose_cones(b, chosen, error);
  for (uint32_t i = 0; i < m->order_count && status == CM_OK; i++) {
    const cm_node *node = &m->nodes[m->order[i]];
    uint32_t op = b->op_of[m->order[i]];
    if (node->known == NULL)
      continue;
    follow(b, i, ready);
    if (op != 0 && node->outputs[0] != CM_NONE && chosen[i])
      status = find_begin(b, i, error);
    for (uint32_t o = 0; o < node->output_count; o++)
      if (node->outputs[o] != CM_NONE)
        ready[node->outputs[o]] = b->begin[i];
  }
  cm_free(ready);
  cm_free(chosen);
  return status;
}

/* All that the graph's outputs need, once. */
static cm_status bound_all(bounding *b, cm_time_bound *bound, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double moved = 0;
  b->stamp++;
  for (size_t i = 0; i < m->output_count; i++) {
    cm_box whole = cm_box_whole(&m->values[m->outputs[i]].shape);
    if (b->plan->values[m->outputs[i]].kind == CM_VALUE_CONSTANT)
      continue;
    need(b, m->outputs[i], &whole, &whole);
    moved += (double)cm_plan_bytes(b->plan, m->outputs[i], &whole);
  }
  if (walk(b, (uint32_t)m->order_count - 1, false, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->input_count; i++)
    if (b->value[m->inputs[i]].stamp == b->stamp)
      moved += (double)(b->value[m->inputs[i]].count * cm_type_bytes(m->values[m->inputs[i]].shape.type));
  phases(b, (uint32_t)m->order_count - 1, bound->phase_ns);
  for (uint32_t i = 0; i < m->order_count; i++) {
    uint32_t op = b->op_of[m->order[i]];
    if (op != 0)
      bound->busy_ns[b->plan->ops[op - 1].matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR] += b->work[i];
    bound->busy_ns[CM_UNIT_DATA] += b->bytes[i];
  }
  bound->busy_ns[CM_UNIT_DATA] += moved / port_rate(b);
  for (int k = 0; k < CM_UNIT_KINDS; k++) {
    bound->ns = bound->busy_ns[k] > bound->ns ? bound->busy_ns[k] : bound->ns;
    bound->ns = bound->phase_ns[k] > bound->ns ? bound->phase_ns[k] : bound->ns;
  }
  return CM_OK;
}

static cm_status make_bound(const cm_plan *plan, const cm_target *target, bool cones, cm_run *run, cm_time_bound *made,
                            cm_error *error)
{
  const cm_model *m = plan->model;
  bounding b = {.plan = plan, .target = target, .run = run};
  cm_time_bound bound = {0};
  uint32_t inputs = 8;
  weigh_lanes(&b);
  cm_status status = CM_OK;
  for (uint32_t o = 0; o < plan->op_count; o++)
    inputs = plan->ops[o].call.input_count > inputs ? plan->ops[o].call.input_count : inputs;
  if (m->order_count == 0 || plan->op_count == 0) {
    *made = bound;
    return CM_OK;
  }
  if (CM_NEW(run->memory, b.value, m->value_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.op_of, m->node_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.begin, m->order_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.work, m->order_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.bytes, m->order_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.sorted, m->order_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.inputs[0], inputs + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.inputs[1], inputs + 1, error) != CM_OK)
    status = error->status;
  for (uint32_t o = 0; status == CM_OK && o < plan->op_count; o++)
    /* Whether a view has to be made after all depends on the cut. */
    if (plan->ops[o].copied == CM_NONE && !cm_plan_is_view(m, plan->ops[o].call.node))
      b.op_of[plan->ops[o].call.node - m->nodes] = o + 1;
  if (status == CM_OK && cones)
    status = find_begins(&b, error);
  if (status == CM_OK)
    status = bound_all(&b, &bound, error);
  cm_free(b.value);
  cm_free(b.op_of);
  cm_free(b.begin);
  cm_free(b.work);
  cm_free(b.bytes);
  cm_free(b.sorted);
  cm_free(b.inputs[0]);
  cm_free(b.inputs[1]);
  if (status == CM_OK)
    *made = bound;
  return status;
}

cm_status cm_time_bound_make(const cm_plan *plan, const cm_target *target, cm_run *run, cm_time_bound *bound, cm_error *error)
{
  return make_bound(plan, target, true, run, bound, error);
}

cm_status cm_time_bound_plain(const cm_plan *plan, const cm_target *target, cm_run *run, double *ns, cm_error *error)
{
  cm_time_bound bound;
  if (make_bound(plan, target, false, run, &bound, error) != CM_OK)
    return error->status;
  *ns = fmax(bound.busy_ns[CM_UNIT_DATA], fmax(bound.busy_ns[CM_UNIT_MATRIX], bound.busy_ns[CM_UNIT_VECTOR]));
  return CM_OK;
}
