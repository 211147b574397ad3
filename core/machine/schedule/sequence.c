#include "core/machine/schedule/sequence.h"

#include <math.h>
#include <string.h>

#include "core/machine/memory/ordering.h"

/* Bytes of constants that an operator reads. */
static uint64_t parameter_bytes(const cm_plan *plan, const cm_plan_op *op)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < op->call.input_count && op->copied == CM_NONE; i++) {
    uint32_t value = op->call.node->inputs[i];
    if (cm_has(&op->call, i) && plan->values[value].kind == CM_VALUE_CONSTANT)
      bytes += cm_aligned(cm_plan_bytes(plan, value, &plan->values[value].whole));
  }
  return bytes;
}

/* Operators with hardly any parameters continue the segment that they follow. */
static uint32_t segment_end(const cm_ordering *o, uint32_t first, uint32_t end, uint64_t most)
{
  const cm_plan *plan = o->plan;
  uint64_t little = plan->memory_bytes / 256, bytes = parameter_bytes(plan, &plan->ops[o->op_at[first]]);
  if (plan->division == CM_DIVISION_LAYERS)
    return first + 1;
  for (uint32_t k = first + 1; k < end; k++) {
    uint64_t more = parameter_bytes(plan, &plan->ops[o->op_at[k]]);
    if (more > little && bytes + more > most)
      return k;
    bytes += more;
  }
  return end;
}

/* How often what a segment reads is loaded: slices of the parameters with all activations for each, or bands of the
 * activations with all parameters for each. */
static cm_blocking choose_blocking(const cm_ordering *o, uint32_t first, uint32_t end, double room)
{
  const cm_plan *plan = o->plan;
  double most = 0, data = 0;
  for (uint32_t k = first; k < end; k++) {
    const cm_plan_op *op = &plan->ops[o->op_at[k]];
    double bytes = (double)parameter_bytes(plan, op), read = 0;
    for (uint32_t i = 0; i < op->call.input_count; i++)
      if (cm_has(&op->call, i) && plan->values[op->call.node->inputs[i]].kind != CM_VALUE_CONSTANT)
        read += (double)cm_plan_bytes(plan, op->call.node->inputs[i], &plan->values[op->call.node->inputs[i]].whole);
    if (bytes > most) {
      most = bytes;
      data = read;
    }
  }
  if (most <= room)
    return (cm_blocking){true, 1}; /* they stay: band by band */
  double by_slices = most + ceil(most / room) * data, by_bands = data + ceil(data / room) * most;
  return by_slices <= by_bands ? (cm_blocking){true, room / most} : (cm_blocking){false, data > 0 ? room / data : 1};
}

static cm_status fill(cm_ordering *o, uint32_t first, uint32_t end, cm_sequence *made, cm_error *error)
{
  const cm_plan *plan = o->plan;
  const cm_settings *settings = plan->settings;
  uint64_t most = (uint64_t)(settings->segment_share * (double)plan->memory_bytes), room = 0;
  CM_TRY(CM_NEW(plan->memory, made->pieces, plan->piece_count + 1, error));
  for (uint32_t next; first < end; first = next) {
    CM_TRY(CM_ROOM(plan->memory, made->segments, &room, made->segment_count + 1, error));
    next = segment_end(o, first, end, most);
    const cm_blocking blocking = choose_blocking(o, first, next, settings->fill * 0.6 * (double)plan->memory_bytes);
    o->blocking = &blocking;
    cm_ordering_make(o, first, next - 1, false);
    o->blocking = NULL;
    made->segments[made->segment_count++] = (cm_segment){
      .first_op = first, .op_count = next - first, .first_piece = made->piece_count, .piece_count = o->count};
    memcpy(made->pieces + made->piece_count, o->pieces, o->count * sizeof *o->pieces);
    made->piece_count += o->count;
  }
  return CM_OK;
}

cm_status cm_sequence_ordering(cm_plan *plan, const cm_ordering *like, cm_ordering *ordering, cm_error *error)
{
  cm_status status = cm_ordering_begin(ordering, plan, like, error);
  ordering->by_place = true;
  return status;
}

cm_status cm_sequence_part(cm_ordering *ordering, uint32_t first, uint32_t end, cm_sequence *sequence, cm_error *error)
{
  cm_sequence made = {0};
  CM_END(fill(ordering, first, end, &made, error), *sequence = made, cm_memory_plan_free(&made));
}

cm_status cm_sequence_make(cm_plan *plan, cm_sequence *sequence, cm_error *error)
{
  cm_ordering o;
  cm_status status = cm_sequence_ordering(plan, NULL, &o, error);
  CM_THEN(status, cm_sequence_part(&o, 0, plan->op_count, sequence, error));
  cm_ordering_end(&o);
  return status;
}
