/* Which device has which piece of an operator (source 4): each a stretch of them in row-major order. */
#include <math.h>

#include "core/machine/plan/cutter.h"

cm_work cm_piece_work(const cm_call *call, const cm_box *output, const cm_box *inputs, uint32_t replaced)
{
  cm_work work = {.operations = cm_split_work(call, output, inputs)};
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i) && i != replaced)
      work.read_bytes += cm_box_count(&inputs[i]) * cm_type_bytes(call->input[i].type);
  for (uint32_t o = 0; o < call->output_count; o++) {
    cm_box whole = cm_box_whole(&call->output[o]);
    work.written_bytes += cm_box_count(o == 0 ? output : &whole) * cm_type_bytes(call->output[o].type);
  }
  return work;
}

/* The largest piece is what the shares are made for. */
static cm_work largest(const cm_plan *plan, const cm_plan_op *op)
{
  cm_work most = {0};
  for (uint32_t p = 0; p < op->piece_count; p++) {
    const cm_work *work = &plan->pieces[op->first_piece + p].work;
    if (p == 0 || work->operations > most.operations)
      most = *work;
  }
  return most;
}

/* Each piece goes to the device whose stretch its tile lies in. */
static void share_stretches(cm_plan *plan, const cm_plan_op *op, const cm_plan_value *value)
{
  int64_t inner = 1;
  for (uint32_t i = value->stretches.axis + 1; i < value->whole.rank; i++)
    inner *= value->count[i];
  for (uint32_t k = 0; k < op->piece_count; k++)
    plan->pieces[op->first_piece + k].device = value->stretches.device[k / inner % value->stretches.count];
}

/* Pieces of unlike sizes: each goes to the device that ends first with it. */
static void share_unlike(cm_plan *plan, const cm_plan_op *op)
{
  const cm_target *target = plan->target;
  double end[CM_TARGET_DEVICES_MAX] = {0};
  for (uint32_t k = 0; k < op->piece_count; k++) {
    cm_piece *piece = &plan->pieces[op->first_piece + k];
    double first = HUGE_VAL;
    for (uint32_t d = 0; d < target->device_count; d++) {
      if (op->rates[d] <= 0 || target->device[d].units == 0)
        continue;
      double then = end[d] + cm_compute_ns(target, &target->device[d], &piece->work, op->rates[d]) / target->device[d].units;
      if (then < first) {
        first = then;
        piece->device = d;
      }
    }
    end[piece->device] = first;
  }
}

/* What a piece takes on each device, or all that it is good for. */
static void piece_times(const cm_plan *plan, const cm_plan_op *op, double *ns)
{
  const cm_target *target = plan->target;
  const cm_work work = largest(plan, op);
  uint32_t fastest = CM_NONE;
  for (uint32_t d = 0; d < target->device_count; d++) {
    ns[d] = op->rates[d] > 0 && target->device[d].units > 0 ? cm_compute_ns(target, &target->device[d], &work, op->rates[d]) : 0;
    if (ns[d] > 0 && (fastest == CM_NONE || ns[d] < ns[fastest]))
      fastest = d;
  }
  for (uint32_t d = 0; d < target->device_count; d++)
    if (plan->division == CM_DIVISION_EVEN)
      ns[d] = ns[d] > 0 ? 1 : 0;
    else if (plan->division == CM_DIVISION_UNSPLIT && d != fastest)
      ns[d] = 0;
}

void cm_plan_share(cm_plan *plan, const cm_plan_op *op, const cm_plan_value *value)
{
  double ns[CM_TARGET_DEVICES_MAX];
  uint32_t share[CM_TARGET_DEVICES_MAX], at = op->first_piece;
  for (uint32_t k = 0; k < op->piece_count; k++)
    plan->pieces[op->first_piece + k].lane = value->stretches.lane != NULL ? value->stretches.lane[k] : CM_NONE;
  if (value->stretches.device != NULL) {
    share_stretches(plan, op, value);
    return;
  }
  if (value->stretches.edge != NULL) {
    share_unlike(plan, op);
    return;
  }
  piece_times(plan, op, ns);
  cm_share_pieces(plan->target, ns, op->piece_count, share);
  for (uint32_t d = 0; d < plan->target->device_count; d++)
    for (uint32_t k = 0; k < share[d]; k++)
      plan->pieces[at++].device = d;
}
