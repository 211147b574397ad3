#include "core/machine/run/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

typedef struct analysing {
  const cm_program *program;
  cm_analysis *made;
  uint64_t *busy_of; /* by instruction: its place in busy + 1 */
} analysing;

const char *cm_begin_reason_name(cm_begin_reason reason)
{
  static const char *const names[] = {"", "start", "lane", "data", "room", "issue"};
  return names[reason];
}

static void collect(void *user, uint64_t instruction, double start, double end, uint64_t after)
{
  analysing *a = user;
  a->made->busy[a->made->busy_count++] = (cm_busy){instruction, start, end, after, CM_BEGINS_OFF_PATH};
  a->busy_of[instruction] = a->made->busy_count;
}

/* ---- memory over time ---- */

static void touch(analysing *a, uint32_t number, uint64_t from, uint64_t to, const cm_busy *at)
{
  cm_held_buffer *b = &a->made->buffers[number];
  if (from == to)
    return;
  if (b->from == b->to)
    *b = (cm_held_buffer){from, to, at->start_ns, at->end_ns, at->instruction, false};
  b->from = from < b->from ? from : b->from;
  b->to = to > b->to ? to : b->to;
  b->first_ns = at->start_ns < b->first_ns ? at->start_ns : b->first_ns;
  b->last_ns = !b->taken && at->end_ns > b->last_ns ? at->end_ns : b->last_ns;
}

static void touch_operand(analysing *a, const cm_operand *operand, const cm_busy *at)
{
  for (uint32_t k = 0; k < operand->part_count; k++) {
    const cm_program_part *part = &a->program->parts[operand->first_part + k];
    if (!cm_part_is_outside(part))
      touch(a, part->buffer, part->address, part->address + cm_part_span(part, cm_type_bytes(operand->type)), at);
  }
}

/* What is read and lies where this writes ends when this begins: an output in place of an input, a move. */
static void take(analysing *a, uint32_t read, uint32_t written, const cm_busy *at)
{
  if (((read | written) & CM_PART_OUTSIDE) != 0)
    return;
  cm_held_buffer *r = &a->made->buffers[read], *w = &a->made->buffers[written];
  if (read == written || r->from >= w->to || w->from >= r->to)
    return;
  r->taken = true;
  r->last_ns = at->start_ns;
}

static void use(analysing *a, const cm_busy *at)
{
  const cm_program *p = a->program;
  const cm_instruction *i = &p->instructions[at->instruction];
  if (!cm_opcode_computes(i->opcode)) {
    touch(a, i->buffer, i->address, i->address + i->bytes, at);
    if (i->opcode == CM_CODE_COPY) {
      touch(a, i->source_buffer, i->source, i->source + i->bytes, at);
      take(a, i->source_buffer, i->buffer, at);
    }
    return;
  }
  const cm_operand *operands = p->operands + i->first_operand;
  for (uint32_t k = 0; k < i->input_count + i->output_count; k++)
    touch_operand(a, &operands[k], at);
  for (uint32_t o = i->input_count; o < i->input_count + i->output_count; o++)
    for (uint32_t k = 0; k < i->input_count && operands[o].part_count > 0; k++)
      for (uint32_t part = 0; part < operands[k].part_count; part++)
        take(a, p->parts[operands[k].first_part + part].buffer, p->parts[operands[o].first_part].buffer, at);
}

typedef struct change {
  double ns;
  int64_t bytes;
} change;

/* At one time what is given up comes first. */
CM_ORDER(by_time, change, CM_RISING(ns) CM_RISING(bytes))

CM_ORDER(by_start, cm_busy, CM_RISING(start_ns) CM_RISING(instruction))

static cm_status find_held(analysing *a, cm_error *error)
{
  const cm_program *p = a->program;
  cm_analysis *made = a->made;
  change *changes;
  size_t count = 0;
  for (size_t k = 0; k < made->busy_count; k++)
    use(a, &made->busy[k]);
  CM_TRY(CM_NEW(p->memory, changes, 2 * (size_t)p->buffer_count + 1, error));
  cm_status status = CM_NEW(p->memory, made->held, 2 * (size_t)p->buffer_count + 1, error);
  for (size_t b = 0; status == CM_OK && b < made->buffer_count; b++) {
    const cm_held_buffer *held = &made->buffers[b];
    if (held->last_ns <= held->first_ns)
      continue;
    changes[count++] = (change){held->first_ns, (int64_t)(held->to - held->from)};
    changes[count++] = (change){held->last_ns, -(int64_t)(held->to - held->from)};
  }
  if (status == CM_OK && count > 0) {
    int64_t bytes = 0;
    qsort(changes, count, sizeof *changes, by_time);
    for (size_t k = 0; k < count; k++) {
      bytes += changes[k].bytes;
      if (k + 1 < count && changes[k + 1].ns <= changes[k].ns)
        continue;
      made->held[made->held_count++] = (cm_held){changes[k].ns, (uint64_t)bytes};
      if ((uint64_t)bytes > made->held_max) {
        made->held_max = (uint64_t)bytes;
        made->held_max_ns = changes[k].ns;
      }
    }
  }
  cm_free(changes);
  return status;
}

/* ---- the critical path ---- */

/* `buffer`: or, as in parts, a tensor. */
static bool writes(const cm_program *p, const cm_instruction *i, uint32_t buffer)
{
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_COPY)
    return i->buffer == buffer;
  if (i->opcode == CM_CODE_STORE)
    return (CM_PART_OUTSIDE | i->tensor) == buffer;
  for (uint32_t o = 0; cm_opcode_computes(i->opcode) && o < i->output_count; o++) {
    const cm_operand *operand = &p->operands[i->first_operand + i->input_count + o];
    if (operand->part_count > 0 && p->parts[operand->first_part].buffer == buffer)
      return true;
  }
  return false;
}

/* True when an instruction reads what another wrote, on the chip or outside. */
static bool reads_from(const cm_program *p, const cm_instruction *i, const cm_instruction *other)
{
  if (i->opcode == CM_CODE_STORE)
    return writes(p, other, i->buffer);
  if (i->opcode == CM_CODE_COPY)
    return writes(p, other, i->source_buffer);
  if (i->opcode == CM_CODE_LOAD)
    return writes(p, other, CM_PART_OUTSIDE | i->tensor);
  for (uint32_t k = 0; k < i->input_count; k++) {
    const cm_operand *operand = &p->operands[i->first_operand + k];
    for (uint32_t part = 0; part < operand->part_count; part++)
      if (writes(p, other, p->parts[operand->first_part + part].buffer))
        return true;
  }
  return false;
}

static void find_path(analysing *a)
{
  const cm_program *p = a->program;
  cm_analysis *made = a->made;
  size_t at = 0;
  double until = HUGE_VAL; /* what follows on the path begins */
  for (size_t k = 1; k < made->busy_count; k++)
    at = made->busy[k].end_ns > made->busy[at].end_ns ? k : at;
  for (bool more = made->busy_count > 0; more;) {
    cm_busy *b = &made->busy[at];
    const cm_instruction *i = &p->instructions[b->instruction];
    const double ns = fmin(b->end_ns, until) - b->start_ns;
    until = b->start_ns;
    more = b->after != CM_NO_INSTRUCTION;
    b->reason = CM_BEGINS_AT_START;
    if (more) {
      const cm_instruction *before = &p->instructions[b->after];
      const cm_busy *that = &made->busy[at = a->busy_of[b->after] - 1];
      b->reason = that->end_ns > until ? CM_BEGINS_AFTER_ISSUE
                  : before->lane == i->lane ? CM_BEGINS_AFTER_LANE
                  : reads_from(p, i, before) ? CM_BEGINS_AFTER_DATA
                             : CM_BEGINS_AFTER_ROOM;
      made->path_hops_ns += fmax(0, until - that->end_ns);
    } else
      made->path_hops_ns += until;
    made->path_length++;
    made->path_ns[p->lanes[i->lane].device] += ns;
    made->reason_ns[b->reason] += ns;
  }
}

/* Of all turns, which are like the first. */
static void multiply(cm_analysis *made, uint32_t turns)
{
  const double first = made->time_ns;
  double path = 0;
  for (uint32_t d = 0; d < CM_TARGET_DEVICES_MAX; d++)
    path += made->path_ns[d] *= turns;
  for (int r = 0; r < CM_BEGIN_REASONS; r++)
    made->reason_ns[r] *= turns;
  made->path_length *= turns;
  made->path_hops_ns = first - path;
}

cm_status cm_analysis_make(const cm_program *program, cm_run *run, cm_analysis *analysis, cm_error *error)
{
  cm_analysis made = {0};
  cm_simulation result = {0};
  analysing a = {.program = program, .made = &made};
  const cm_simulation_options options = {.trace = collect, .user = &a};
  cm_status status = CM_NEW_ALL(program->memory, error, CM_ARRAY(made.busy, program->instruction_count + 1),
                                CM_ARRAY(a.busy_of, program->instruction_count + 1),
                                CM_ARRAY(made.buffers, (size_t)program->buffer_count + 1));
  CM_THEN(status, cm_simulate(program, NULL, &options, run, NULL, &result, error));
  if (status == CM_OK) {
    find_path(&a);
    made.time_ns = result.time_ns;
    if (program->turns > 1)
      multiply(&made, program->turns);
    made.buffer_count = program->buffer_count;
    qsort(made.busy, made.busy_count, sizeof *made.busy, by_start); /* what is taken was used before */
    status = find_held(&a, error);
  }
  cm_free(a.busy_of);
  CM_END(status, *analysis = made, cm_analysis_free(&made));
}

void cm_analysis_free(cm_analysis *analysis)
{
  CM_FREE(analysis->busy, analysis->held, analysis->buffers);
  *analysis = (cm_analysis){0};
}
