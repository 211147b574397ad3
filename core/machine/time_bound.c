/* Lower bounds on time from dependency cones: what an element needs (bound_cone.c) has to be done before it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/machine/bound_cone.h"

enum {
  CONES_MAX = 160, /* each goes through all that is before it */
  TOLD_MAX = 32,   /* operators before one that may have to tell it */
};

/* By device, of the operator of a kind whose pieces do most; NULL: there is none. */
static const double *main_rates(const cm_plan *plan, cm_unit_kind kind)
{
  const double *rates = NULL;
  uint64_t most = 0;
  for (uint32_t o = 0; o < plan->op_count; o++) {
    const cm_plan_op *op = &plan->ops[o];
    uint64_t work = 0;
    for (uint32_t p = 0; p < op->piece_count; p++)
      work += plan->pieces[op->first_piece + p].work.operations;
    if (op->kind == kind && work > most) {
      most = work;
      rates = op->rates;
    }
  }
  return rates;
}

/* Any weights give a bound; rates of the operator that most is to be done of give the best one where types are mixed. */
static void weigh_lanes(cm_bounding *b)
{
  for (uint32_t d = 0; d < b->target->device_count; d++)
    b->weight[CM_UNIT_DATA][d] = b->target->device[d].moves ? b->target->device[d].bytes_per_ns / cm_target_bandwidth(b->target) : 0;
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++) {
    const double *rates = main_rates(b->plan, k);
    double sum = 0;
    for (uint32_t d = 0; d < b->target->device_count; d++) {
      const cm_device *device = &b->target->device[d];
      for (uint32_t i = 0; i < device->rate_count[k]; i++)
        b->weight[k][d] = fmax(b->weight[k][d], device->rate[k][i].per_ns);
      b->weight[k][d] = rates != NULL && rates[d] > 0 ? rates[d] : b->weight[k][d];
      sum += b->weight[k][d] * device->units;
    }
    b->issue_ns[k] = HUGE_VAL;
    for (uint32_t d = 0; d < b->target->device_count; d++) {
      b->issue_ns[k] = b->weight[k][d] > 0 ? fmin(b->issue_ns[k], b->target->issue_ns + b->target->device[d].latency_ns) : b->issue_ns[k];
      b->weight[k][d] /= sum > 0 ? sum : 1;
    }
  }
}

CM_ORDER(later_first, cm_moment, CM_FALLING(begin) CM_RISING(place))

/* The least time in which all of a cone can be done and known where it is needed, at the core of one piece or, with `out`, at ports:
 * from every time on, what cannot begin before it, and what has to follow the last of it. `loaded` ns of the graph's inputs are moved
 * over all ports, with `tail_ns` to follow. */
static void phases(cm_bounding *b, uint32_t last, bool out, double loaded, double tail_ns, double phase[CM_UNIT_KINDS])
{
  const cm_model *m = b->plan->model;
  double sum[CM_UNIT_KINDS] = {0}, issues[CM_UNIT_KINDS] = {0}, tail[CM_UNIT_KINDS] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL},
         held = (double)b->plan->memory_bytes / cm_target_bandwidth(b->target);
  uint32_t count = 0;
  memset(phase, 0, CM_UNIT_KINDS * sizeof *phase);
  for (uint32_t i = 0; i <= last; i++)
    if (b->work[i] > 0 || b->bytes[i] > 0)
      b->sorted[count++] = (cm_moment){b->begin[i], i};
  qsort(b->sorted, count, sizeof *b->sorted, later_first);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i = b->sorted[k].place, op = b->op_of[m->order[i]];
    cm_unit_kind kind = b->plan->ops[op - 1].kind;
    double t = b->begin[i];
    sum[kind] += b->work[i];
    issues[kind] += b->work[i] > 0 ? b->issues[i] : 0;
    sum[CM_UNIT_DATA] += b->bytes[i];
    if (b->work[i] > 0)
      tail[kind] = fmin(tail[kind], b->tail[i]);
    if (b->bytes[i] > 0)
      tail[CM_UNIT_DATA] = fmin(tail[CM_UNIT_DATA], b->least[i] + b->tail[i]);
    if (sum[kind] > 0)
      phase[kind] = fmax(phase[kind], t + cm_bound_done_ns(b, kind, out, sum[kind], issues[kind]) + tail[kind]);
    if (sum[CM_UNIT_DATA] > held)
      phase[CM_UNIT_DATA] = fmax(phase[CM_UNIT_DATA], t + sum[CM_UNIT_DATA] - held + tail[CM_UNIT_DATA]);
  }
  if (sum[CM_UNIT_DATA] > 0) /* every port that moves any has its latency too */
    phase[CM_UNIT_DATA] =
      fmax(phase[CM_UNIT_DATA], b->latency_ns + cm_reach_ns(&b->reach[out ? 1 : 0][CM_UNIT_DATA], sum[CM_UNIT_DATA]) + tail[CM_UNIT_DATA]);
  if (loaded > 0)
    phase[CM_UNIT_DATA] = fmax(phase[CM_UNIT_DATA], b->latency_ns + cm_reach_ns(&b->reach[out ? 1 : 0][CM_UNIT_DATA], sum[CM_UNIT_DATA] + loaded) +
                                                      fmin(tail[CM_UNIT_DATA], tail_ns));
}

/* What moving the first byte takes at least. */
static double least_latency(const cm_target *target)
{
  double least = HUGE_VAL;
  for (uint32_t d = 0; d < target->device_count; d++)
    if (target->device[d].moves)
      least = fmin(least, target->issue_ns + target->device[d].latency_ns);
  return least < HUGE_VAL ? least : 0;
}

/* What has to follow a piece of an operator: of those who read it, and of the port that takes it out, the one with the least.
 * Without `out` up to where the last one, that of a cone, begins. */
static void find_tails(cm_bounding *b, uint32_t last, bool out)
{
  const cm_model *m = b->plan->model;
  for (size_t v = 0; v < m->value_count; v++)
    b->after[v] = !out || !b->plan->values[v].output ? HUGE_VAL : b->plan->values[v].host ? 0 : b->latency_ns;
  for (uint32_t i = last + 1; i-- > 0;) {
    const cm_node *node = &m->nodes[m->order[i]];
    double tail = !out && i == last ? -b->least[i] : HUGE_VAL;
    for (uint32_t o = 0; o < node->output_count; o++)
      tail = fmin(tail, b->after[node->outputs[o]]);
    b->tail[i] = tail < HUGE_VAL ? tail : 0;
    for (uint32_t k = 0; k < node->input_count && tail < HUGE_VAL; k++)
      if (node->inputs[k] != CM_NONE)
        b->after[node->inputs[k]] = fmin(b->after[node->inputs[k]], b->least[i] + tail);
  }
}

/* What of the graph's inputs is needed, over all ports, and what has to follow it. */
static double inputs_ns(const cm_bounding *b, double *tail_ns)
{
  const cm_model *m = b->plan->model;
  double bytes = 0;
  *tail_ns = HUGE_VAL;
  for (size_t i = 0; i < m->input_count; i++)
    if (b->value[m->inputs[i]].stamp == b->stamp && !b->plan->values[m->inputs[i]].host_reads) {
      bytes += (double)(b->value[m->inputs[i]].count * cm_type_bytes(m->values[m->inputs[i]].shape.type));
      *tail_ns = fmin(*tail_ns, b->after[m->inputs[i]]);
    }
  return bytes / cm_target_bandwidth(b->target);
}

/* Before then no element of the node at a place can begin. */
static cm_status find_begin(cm_bounding *b, uint32_t place, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double phase[CM_UNIT_KINDS], tail_ns;
  cm_bound_need_corners(b, m->nodes[m->order[place]].outputs[0]);
  CM_TRY(cm_bound_walk(b, 0, place, true, error));
  find_tails(b, place, false);
  const double loaded = inputs_ns(b, &tail_ns);
  phases(b, place, false, loaded, tail_ns, phase);
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    b->begin[place] = phase[k] > b->begin[place] ? phase[k] : b->begin[place];
  return cm_run_check(b->run, error);
}

/* Nor before all lanes that made what every element of it needs have told it, and those before them these. */
static cm_status find_told(cm_bounding *b, uint32_t place, cm_error *error)
{
  const cm_model *m = b->plan->model;
  const uint32_t first = place > TOLD_MAX ? place - TOLD_MAX : 0;
  cm_bound_need_corners(b, m->nodes[m->order[place]].outputs[0]);
  CM_TRY(cm_bound_walk(b, first, place, true, error));
  find_tails(b, place, false);
  for (uint32_t j = first; j < place; j++) {
    const cm_node *node = &m->nodes[m->order[j]];
    const uint32_t op = b->op_of[m->order[j]];
    const cm_needed *n = &b->value[node->outputs[0]];
    if (b->work[j] <= 0 || node->output_count > 1 || n->stamp != b->stamp || !cm_box_equal(&n->box[0], &n->box[1]))
      continue;
    const cm_unit_kind kind = b->plan->ops[op - 1].kind;
    const cm_exchange *e = &b->exchange[kind];
    const double work = b->work[j] - b->issues[j],
                 at = fmax(b->told[j] > 0 ? b->told[j] + cm_exchange_ns(e, work, 2) : 0, b->begin[j] + cm_exchange_ns(e, work, 1));
    b->told[place] = e->count > 0 ? fmax(b->told[place], at + b->issue_ns[kind] + b->tail[j]) : b->told[place];
  }
  b->begin[place] = fmax(b->begin[place], b->told[place]);
  return cm_run_check(b->run, error);
}

/* When what there is of a value at `ready` can be read: a host reads outside, what lies there from the start at once; what it makes is loaded. */
static double read_at(const cm_bounding *b, const cm_plan_op *op, uint32_t value, double ready)
{
  const cm_plan_value *v = &b->plan->values[value];
  const bool host = op != NULL && op->kind == CM_UNIT_HOST, made = v->kind == CM_VALUE_MADE;
  const double moved = op == NULL || (made && host == v->host) ? 0 : made ? b->latency_ns : host ? -b->latency_ns : 0;
  return ready + moved;
}

/* Nothing begins before what it reads, and before anything is loaded. */
static void follow(cm_bounding *b, uint32_t place, const double *ready)
{
  const cm_model *m = b->plan->model;
  const uint32_t op = b->op_of[m->order[place]];
  const cm_node *node = &m->nodes[m->order[place]];
  bool any = node->known->makes == CM_MAKES_JOINED; /* an element of it may need one input alone */
  double least = -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == CM_NONE)
      continue;
    double t = read_at(b, op > 0 ? &b->plan->ops[op - 1] : NULL, node->inputs[i], ready[node->inputs[i]]);
    least = least < 0 || (any ? t < least : t > least) ? t : least;
  }
  b->begin[place] = fmax(least, 0);
}

/* Marks the operators that get a cone: of many, those whose work and parameters are the largest share of the whole. */
static cm_status choose_cones(cm_bounding *b, bool *chosen, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double work = 0, bytes = 0;
  uint32_t count = 0;
  for (size_t i = 0; i < m->output_count; i++)
    if (b->plan->values[m->outputs[i]].kind != CM_VALUE_CONSTANT) {
      cm_box whole = cm_box_whole(&m->values[m->outputs[i]].shape);
      cm_bound_need(b, m->outputs[i], &whole, &whole);
    }
  CM_TRY(cm_bound_walk(b, 0, (uint32_t)m->order_count - 1, false, error));
  for (uint32_t i = 0; i < m->order_count; i++) {
    work += b->work[i];
    bytes += b->bytes[i];
  }
  for (uint32_t i = 0; i < m->order_count; i++)
    if (b->work[i] > 0)
      b->sorted[count++] = (cm_moment){b->work[i] / work + (bytes > 0 ? b->bytes[i] / bytes : 0), i};
  qsort(b->sorted, count, sizeof *b->sorted, later_first);
  for (uint32_t k = 0; k < count && k < CONES_MAX; k++)
    chosen[b->sorted[k].place] = true;
  return CM_OK;
}

static cm_status find_begins(cm_bounding *b, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double *ready;
  bool *chosen = NULL, tells = b->exchange[CM_UNIT_MATRIX].count + b->exchange[CM_UNIT_VECTOR].count > 0;
  CM_TRY(CM_NEW(b->run->memory, ready, m->value_count + 1, error));
  cm_bound_begin_needs(b);
  cm_status status = CM_NEW(b->run->memory, chosen, m->order_count + 1, error);
  CM_THEN(status, choose_cones(b, chosen, error));
  for (uint32_t i = 0; i < m->order_count && status == CM_OK; i++)
    if (b->op_of[m->order[i]] != 0)
      status = cm_bound_least_ns(b, &b->plan->ops[b->op_of[m->order[i]] - 1], &b->least[i], error);
  for (size_t v = 0; v < m->value_count; v++)
    ready[v] = b->latency_ns;
  for (uint32_t i = 0; i < m->order_count && status == CM_OK; i++) {
    const cm_node *node = &m->nodes[m->order[i]];
    if (node->known == NULL)
      continue;
    follow(b, i, ready);
    if (b->op_of[m->order[i]] != 0)
      status = cm_bound_after_inputs(b, i, &b->begin[i], error);
    CM_THEN_IF(status, tells && b->op_of[m->order[i]] != 0, find_told(b, i, error));
    CM_THEN_IF(status, chosen[i], find_begin(b, i, error));
    for (uint32_t o = 0; o < node->output_count; o++)
      ready[node->outputs[o]] = b->begin[i] + b->least[i];
  }
  CM_FREE(ready, chosen);
  return status;
}

/* All that the graph's outputs need, once. */
static cm_status bound_all(cm_bounding *b, cm_time_bound *bound, cm_error *error)
{
  const cm_model *m = b->plan->model;
  double moved = 0, tail_ns;
  cm_bound_begin_needs(b);
  for (size_t i = 0; i < m->output_count; i++) {
    cm_box whole = cm_box_whole(&m->values[m->outputs[i]].shape);
    if (b->plan->values[m->outputs[i]].kind == CM_VALUE_CONSTANT)
      continue;
    cm_bound_need(b, m->outputs[i], &whole, &whole);
    moved += b->plan->values[m->outputs[i]].host ? 0 : (double)cm_plan_bytes(b->plan, m->outputs[i], &whole);
  }
  CM_TRY(cm_bound_walk(b, 0, (uint32_t)m->order_count - 1, false, error));
  find_tails(b, (uint32_t)m->order_count - 1, true);
  const double loaded = inputs_ns(b, &tail_ns);
  phases(b, (uint32_t)m->order_count - 1, true, loaded, tail_ns, bound->phase_ns);
  for (uint32_t i = 0; i < m->order_count; i++) {
    uint32_t op = b->op_of[m->order[i]];
    if (b->work[i] > 0)
      bound->way_ns = fmax(bound->way_ns, b->begin[i] + b->least[i] + b->tail[i]);
    if (op != 0)
      bound->busy_ns[b->plan->ops[op - 1].kind] += b->work[i];
    bound->busy_ns[CM_UNIT_DATA] += b->bytes[i];
  }
  bound->busy_ns[CM_UNIT_DATA] += loaded + moved / cm_target_bandwidth(b->target) + (loaded + moved > 0 ? b->latency_ns : 0);
  bound->ns = bound->way_ns;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    bound->ns = fmax(bound->ns, fmax(bound->busy_ns[k], bound->phase_ns[k]));
  return CM_OK;
}

static cm_status make_room(cm_bounding *b, cm_error *error)
{
  const cm_model *m = b->plan->model;
  cm_memory *memory = b->run->memory;
  uint32_t inputs = 8;
  for (uint32_t o = 0; o < b->plan->op_count; o++)
    inputs = b->plan->ops[o].call.input_count > inputs ? b->plan->ops[o].call.input_count : inputs;
  const size_t values = m->value_count + 1, nodes = m->node_count + 1, places = m->order_count + 1;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(b->value, values), CM_ARRAY(b->met, values), CM_ARRAY(b->op_of, nodes),
                    CM_ARRAY(b->place_of, nodes), CM_ARRAY(b->begin, places), CM_ARRAY(b->work, places),
                    CM_ARRAY(b->bytes, places), CM_ARRAY(b->least, places), CM_ARRAY(b->tail, places),
                    CM_ARRAY(b->issues, places), CM_ARRAY(b->told, places), CM_ARRAY(b->after, values), CM_ARRAY(b->sorted, places),
                    CM_ARRAY(b->inputs[0], inputs + 1), CM_ARRAY(b->inputs[1], inputs + 1),
                    CM_ARRAY(b->whole_inputs, inputs + 1)));
  for (uint32_t i = 0; i < m->order_count; i++)
    b->place_of[m->order[i]] = i;
  for (uint32_t o = 0; o < b->plan->op_count; o++) {
    const cm_plan_op *op = &b->plan->ops[o];
    /* Whether a view has to be made after all depends on the cut. */
    if (op->copied == CM_NONE && !cm_plan_is_view(m, op->call.node))
      b->op_of[op->call.node - m->nodes] = o + 1;
  }
  return CM_OK;
}

static cm_status make_reaches(cm_bounding *b, bool cones, cm_error *error)
{
  cm_hop_times hops;
  cm_status status = cm_hop_times_make(b->target, b->run->memory, &hops, error);
  for (int i = 0; i < 2 * CM_UNIT_KINDS && status == CM_OK; i++)
    status = cm_reach_make(&(cm_reach_of){b->target, &hops, b->weight[i / 2], i % 2 == 1}, b->run->memory, &b->reach[i % 2][i / 2], error);
  for (cm_unit_kind k = CM_UNIT_MATRIX; k <= CM_UNIT_VECTOR && cones && status == CM_OK; k++)
    status = cm_exchange_make(&(cm_reach_of){b->target, &hops, b->weight[k], false}, b->run->memory, &b->exchange[k], error);
  cm_hop_times_end(&hops);
  return status;
}

static cm_status make_bound(cm_plan *plan, const cm_target *target, bool cones, cm_run *run, cm_time_bound *made, cm_error *error)
{
  cm_bounding b = {.plan = plan, .target = target, .run = run, .latency_ns = least_latency(target)};
  cm_time_bound bound = {0};
  weigh_lanes(&b);
  if (plan->model->order_count == 0 || plan->op_count == 0) {
    *made = bound;
    return CM_OK;
  }
  cm_status status = make_room(&b, error);
  CM_THEN(status, make_reaches(&b, cones, error));
  CM_THEN_IF(status, cones, find_begins(&b, error));
  CM_THEN(status, bound_all(&b, &bound, error));
  CM_FREE(b.value, b.met, b.op_of, b.place_of, b.begin, b.work, b.bytes, b.issues, b.least, b.tail, b.after, b.told, b.sorted, b.inputs[0], b.inputs[1],
          b.whole_inputs);
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    CM_FREE(b.reach[0][k].step, b.reach[1][k].step, b.exchange[k].apart);
  if (status == CM_OK)
    *made = bound;
  return status;
}

cm_status cm_time_bound_make(cm_plan *plan, const cm_target *target, cm_run *run, cm_time_bound *bound, cm_error *error)
{
  return make_bound(plan, target, true, run, bound, error);
}

cm_status cm_time_bound_plain(cm_plan *plan, const cm_target *target, cm_run *run, double *ns, cm_error *error)
{
  cm_time_bound bound;
  CM_TRY(make_bound(plan, target, false, run, &bound, error));
  *ns = 0;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    *ns = fmax(*ns, bound.busy_ns[k]);
  return CM_OK;
}
