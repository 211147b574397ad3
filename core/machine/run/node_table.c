#include "core/machine/run/node_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

typedef struct row {
  const char *node, *op;
  uint32_t device;
  uint64_t instructions, bytes;
  uint64_t outside_read, outside_written, chip_read, chip_written; /* bytes by memory */
  uint64_t peak_bytes; /* on the chip when most of its memory is held, of what this makes */
  double first_ns, held_until_ns, busy_ns, path_ns, reason_ns[CM_BEGIN_REASONS];
  double needed_ns; /* what its work takes at the rate of its device, without latencies and waits for operands */
} row;

/* What a transfer or a piece does to the memories, and would take at full rate. */
static void add_work(const cm_program *p, const cm_instruction *i, row *r)
{
  const cm_device *device = &p->target.device[r->device];
  if (cm_opcode_computes(i->opcode)) {
    const cm_program_part *made = &p->parts[p->operands[i->first_operand + i->input_count].first_part];
    const bool outside = i->opcode == CM_CODE_HOST && cm_part_is_outside(made);
    *(outside ? &r->outside_read : &r->chip_read) = i->work.read_bytes;
    *(outside ? &r->outside_written : &r->chip_written) = i->work.written_bytes;
    r->needed_ns = i->rate > 0 ? (double)i->work.operations / i->rate : 0;
    return;
  }
  *(i->opcode == CM_CODE_LOAD ? &r->outside_read : &r->chip_read) = i->bytes;
  *(i->opcode == CM_CODE_STORE ? &r->outside_written : &r->chip_written) = i->bytes;
  r->needed_ns = (double)i->bytes / device->bytes_per_ns;
}

/* A row of nothing yet, of what an instruction belongs to. */
static row begin_row(const cm_program *p, uint64_t instruction, double first_ns)
{
  const cm_instruction *i = &p->instructions[instruction];
  row r = {.node = "", .op = "copy", .device = p->lanes[i->lane].device, .first_ns = first_ns};
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_STORE) {
    r.node = p->tensors[i->tensor].name;
    r.op = i->opcode == CM_CODE_LOAD ? "load" : "store";
  } else if (cm_opcode_computes(i->opcode)) {
    r.node = p->operators[i->operator_number].name;
    r.op = p->operators[i->operator_number].op;
  }
  return r;
}

static row busy_row(const cm_program *p, const cm_busy *busy)
{
  const cm_instruction *i = &p->instructions[busy->instruction];
  const double ns = busy->end_ns - busy->start_ns;
  row r = begin_row(p, busy->instruction, busy->start_ns);
  r.instructions = 1;
  r.busy_ns = ns;
  r.bytes = cm_opcode_computes(i->opcode) ? i->work.read_bytes + i->work.written_bytes : i->bytes;
  add_work(p, i, &r);
  if (busy->reason != CM_BEGINS_OFF_PATH) {
    r.path_ns = ns;
    r.reason_ns[busy->reason] = ns;
  }
  return r;
}

static row held_row(const cm_program *p, const cm_held_buffer *buffer, double peak_ns)
{
  row r = begin_row(p, buffer->instruction, buffer->first_ns);
  r.held_until_ns = buffer->last_ns;
  if (buffer->first_ns <= peak_ns && peak_ns < buffer->last_ns)
    r.peak_bytes = buffer->to - buffer->from;
  return r;
}

static int by_key(const void *left, const void *right)
{
  const row *a = left, *b = right;
  const int node = strcmp(a->node, b->node), op = node != 0 ? node : strcmp(a->op, b->op);
  if (op != 0)
    return op;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

static int by_start(const void *left, const void *right)
{
  const row *a = left, *b = right;
  return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns ? 1 : by_key(left, right);
}

static void add(row *to, const row *more)
{
  to->instructions += more->instructions;
  to->bytes += more->bytes;
  to->outside_read += more->outside_read;
  to->outside_written += more->outside_written;
  to->chip_read += more->chip_read;
  to->chip_written += more->chip_written;
  to->needed_ns += more->needed_ns;
  to->busy_ns += more->busy_ns;
  to->path_ns += more->path_ns;
  to->peak_bytes += more->peak_bytes;
  to->held_until_ns = more->held_until_ns > to->held_until_ns ? more->held_until_ns : to->held_until_ns;
  for (int r = 0; r < CM_BEGIN_REASONS; r++)
    to->reason_ns[r] += more->reason_ns[r];
}

/* Rows of one key become one; their number. */
static size_t merge(row *rows, size_t count)
{
  size_t made = 0;
  for (size_t i = 0; i < count; i++)
    if (made > 0 && rows[made - 1].device == rows[i].device && strcmp(rows[made - 1].node, rows[i].node) == 0 && strcmp(rows[made - 1].op, rows[i].op) == 0)
      add(&rows[made - 1], &rows[i]);
    else
      rows[made++] = rows[i];
  return made;
}

/* Of all turns, which are like the first. */
static void multiply(row *r, uint32_t turns)
{
  uint64_t *const counts[] = {&r->instructions, &r->bytes, &r->outside_read, &r->outside_written, &r->chip_read, &r->chip_written};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    *counts[k] *= turns;
  r->needed_ns *= turns;
  r->busy_ns *= turns;
  r->path_ns *= turns;
}

static json_t *row_json(const cm_program *p, const cm_analysis *analysis, const row *r)
{
  const cm_device *device = &p->target.device[r->device];
  const double lanes = (double)device->units * device->ports;
  cm_begin_reason reason = CM_BEGINS_AT_START;
  for (int k = CM_BEGINS_AT_START; k < CM_BEGIN_REASONS; k++)
    reason = r->reason_ns[k] > r->reason_ns[reason] ? (cm_begin_reason)k : reason;
  const double time = analysis->time_ns;
  return json_pack("{s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:{s:I, s:I, s:I, s:I}, s:I, s:f, s:s*}", "node", r->node, "operator", r->op, "device", device->name, "instructions",
                   (json_int_t)r->instructions, "busy_ns", r->busy_ns, "share", time > 0 ? r->busy_ns / lanes / time : 0, "utilisation",
                   r->busy_ns > 0 ? r->needed_ns / r->busy_ns : 0, "path_ns", r->path_ns, "path_share", time > 0 ? r->path_ns / time : 0,
                   "bytes", (json_int_t)r->bytes, "memory", "outside_read", (json_int_t)r->outside_read, "outside_written",
                   (json_int_t)r->outside_written, "chip_read", (json_int_t)r->chip_read, "chip_written", (json_int_t)r->chip_written, "peak_bytes",
                   (json_int_t)r->peak_bytes, "held_until_ns", r->held_until_ns, "waits", r->path_ns > 0 ? cm_begin_reason_name(reason) : NULL);
}

cm_status cm_node_table(const cm_program *program, const cm_analysis *analysis, json_t **table, cm_error *error)
{
  row *rows;
  const uint64_t refusals = cm_json_refusals();
  CM_TRY(CM_NEW(program->memory, rows, analysis->busy_count + analysis->buffer_count + 1, error));
  size_t count = 0;
  for (size_t i = 0; i < analysis->busy_count; i++)
    rows[count++] = busy_row(program, &analysis->busy[i]);
  for (size_t i = 0; i < analysis->buffer_count; i++)
    if (analysis->buffers[i].to > analysis->buffers[i].from)
      rows[count++] = held_row(program, &analysis->buffers[i], analysis->held_max_ns);
  qsort(rows, count, sizeof *rows, by_key);
  count = merge(rows, count);
  qsort(rows, count, sizeof *rows, by_start);
  json_t *made = json_array();
  for (size_t i = 0; i < count; i++) {
    multiply(&rows[i], program->turns);
    (void)json_array_append_new(made, row_json(program, analysis, &rows[i]));
  }
  if (analysis->path_hops_ns > 0)
    (void)json_array_append_new(made, json_pack("{s:s, s:s, s:f, s:f}", "node", "", "operator", "hops", "path_ns", analysis->path_hops_ns, "path_share",
                                                  analysis->time_ns > 0 ? analysis->path_hops_ns / analysis->time_ns : 0));
  cm_free(rows);
  cm_status status = cm_json_whole(refusals, "the table of nodes", error);
  CM_END(status, *table = made, json_decref(made));
}
