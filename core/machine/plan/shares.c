/* Which device has which piece of an operator (source 4): each a stretch of them in row-major order. */
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

void cm_plan_share(cm_plan *plan, const cm_plan_op *op)
{
  const cm_target *target = plan->target;
  const cm_work work = largest(plan, op);
  double ns[CM_TARGET_DEVICES_MAX];
  uint32_t share[CM_TARGET_DEVICES_MAX], at = op->first_piece;
  for (uint32_t d = 0; d < target->device_count; d++)
    ns[d] = op->rates[d] > 0 ? cm_compute_ns(target, &target->device[d], &work, op->rates[d]) : 0;
  cm_share_pieces(target, ns, op->piece_count, share);
  for (uint32_t d = 0; d < target->device_count; d++)
    for (uint32_t k = 0; k < share[d]; k++)
      plan->pieces[at++].device = d;
}
