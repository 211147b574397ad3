/* Instructions of the program, one after the other, to calls in the lanes of the code. */
#include <inttypes.h>
#include <string.h>

#include "core/csource/text/writer.h"

/* ---- transfers ---- */

/* A run, or a box of runs, by the function that moves data to or from outside. */
static cm_status transfer(cm_c_writer *w, uint32_t lane, const cm_instruction *i, cm_error *error)
{
  const cm_program_tensor *t = &w->program->tensors[i->tensor];
  const bool loads = i->opcode == CM_CODE_LOAD;
  const int64_t width = (int64_t)cm_type_bytes(t->type);
  const char *box;
  int64_t numbers[3 * CM_RANK_MAX], strides[CM_RANK_MAX], dense[CM_RANK_MAX], run = width, offset = 0;
  char chip[CM_C_AT_MAX], outside[CM_C_AT_MAX];
  FILE *out = w->body[lane].stream;
  uint32_t rank = t->rank;
  if (cm_c_count(t->rank, i->extent) == 0)
    return CM_OK;
  cm_strides(t->rank, t->dims, strides);
  cm_strides(t->rank, i->extent, dense);
  for (uint32_t d = 0; d < t->rank; d++)
    offset += i->from[d] * strides[d];
  while (rank > 0 && strides[rank - 1] * width == run)
    run *= i->extent[--rank];
  (void)snprintf(chip, sizeof chip, "AT(%s, chip, %" PRIu64 ")", cm_c_type(t->type), cm_c_address(&w->space, i->buffer, i->address));
  cm_c_outside(w, i->tensor, offset, outside);
  fprintf(out, rank == 0 ? "  %s_%s(%s, %s, %" PRId64 ");\n" : "  move_box(%s_%s, %s, %s, %" PRId64, w->name, loads ? "load" : "store",
          loads ? chip : outside, loads ? outside : chip, run);
  if (rank == 0)
    return CM_OK;
  for (uint32_t d = 0; d < rank; d++) {
    numbers[3 * d] = i->extent[d];
    numbers[3 * d + 1] = (loads ? dense : strides)[d] * width;
    numbers[3 * d + 2] = (loads ? strides : dense)[d] * width;
  }
  CM_TRY(cm_c_table(w, numbers, (size_t)3 * rank, &box, error));
  fprintf(out, ", %u, %s);\n", rank, box);
  return CM_OK;
}

/* ---- computations ---- */

static const struct {
  cm_kernel_function family;
  cm_status (*write)(cm_c_piece *piece, cm_error *error);
} emitters[] = {
#define EMITTER(family, writer) {cm_kernel_##family, cm_c_##writer},
#include "core/csource/emitters.def"
#undef EMITTER
};

static cm_shape shape_of(const cm_operand *o)
{
  cm_shape shape = {.type = o->type, .rank = o->type == CM_TYPE_NONE ? CM_UNKNOWN_RANK : o->rank};
  memcpy(shape.dims, o->dims, sizeof shape.dims);
  return shape;
}

/* Whether all of an operand is constants. */
static bool is_known(const cm_c_writer *w, const cm_operand *o)
{
  bool known = o->type != CM_TYPE_NONE;
  for (uint32_t k = 0; k < o->part_count; k++)
    known = known && cm_c_is_constant(w->program, &w->space, &w->program->parts[o->first_part + k]);
  return known;
}

static void print_title(FILE *out, const cm_c_piece *piece)
{
  char label[160];
  const cm_shape *y = &piece->call.output[0];
  (void)cm_node_label(piece->call.node, label, sizeof label);
  fputs("\n  /* ", out);
  for (const char *c = label; *c != '\0'; c++) /* a name can neither end the comment nor hold a mark */
    fputc(*c == '`' || (*c == '/' && c > label && c[-1] == '*') ? '|' : *c, out);
  fprintf(out, ": %s[", cm_type_name(y->type));
  for (uint32_t d = 0; d < y->rank; d++)
    fprintf(out, "%s%" PRId64, d > 0 ? "," : "", y->dims[d]);
  fputs("] */\n", out);
}

static cm_status write_calls(cm_c_piece *piece, cm_error *error)
{
  print_title(piece->w->body[piece->lane].stream, piece);
  if (piece->call.output[0].rank <= CM_RANK_MAX && cm_c_count(piece->call.output[0].rank, piece->call.output[0].dims) == 0)
    return CM_OK;
  for (size_t k = 0; k < sizeof emitters / sizeof *emitters; k++)
    if (emitters[k].family == piece->call.node->known->kernel)
      return emitters[k].write(piece, error);
  return cm_c_refuse(piece, error, "is of an operator that C is not written for: run the model on another device or replace it");
}

static cm_status compute(cm_c_writer *w, uint32_t lane, const cm_instruction *i, cm_error *error)
{
  cm_c_piece piece = {.w = w, .instruction = i, .lane = lane, .operands = w->program->operands + i->first_operand};
  cm_shape *shapes;
  cm_tensor **values;
  cm_status status = CM_OK;
  CM_TRY(CM_NEW_ALL(w->memory, error, CM_ARRAY(shapes, i->input_count + i->output_count + 1), CM_ARRAY(values, i->input_count + 1)));
  for (uint32_t k = 0; k < i->input_count + i->output_count; k++)
    shapes[k] = shape_of(&piece.operands[k]);
  for (uint32_t k = 0; status == CM_OK && k < i->input_count; k++)
    if (is_known(w, &piece.operands[k]))
      status = cm_c_known(w->program, &w->space, &piece.operands[k], NULL, &values[k], error);
  piece.call = (cm_call){.node = &w->program->operators[i->operator_number], .opset = w->program->opset, .input_count = i->input_count,
                         .output_count = i->output_count, .input = shapes, .value = values, .output = shapes + i->input_count, .memory = w->memory};
  w->scratch_at = 0;
  w->pieces++;
  CM_THEN(status, write_calls(&piece, error));
  for (uint32_t k = 0; k < i->input_count; k++)
    cm_tensor_free(values[k]);
  CM_FREE(values, shapes);
  return status;
}

/* ---- all of them ---- */

cm_status cm_c_steps(cm_c_writer *w, cm_error *error)
{
  const cm_program *p = w->program;
  uint64_t wait = 0;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    const uint32_t lane = w->flow.lane[i];
    if (lane == CM_NONE)
      continue;
    FILE *out = w->body[lane].stream;
    for (; wait < w->flow.wait_count && w->flow.waits[wait].instruction == i; wait++)
      fprintf(out, "  %s_wait(%u, %u);\n", w->name, w->flow.waits[wait].lane, w->flow.waits[wait].count);
    if (w->timed)
      fprintf(out, "\n  %s_piece(%lld);", w->name, cm_opcode_computes(at->opcode) ? (long long)w->pieces : -1);
    cm_status status = CM_OK;
    if (at->opcode == CM_CODE_LOAD || at->opcode == CM_CODE_STORE)
      status = transfer(w, lane, at, error);
    else if (at->opcode == CM_CODE_COPY)
      fprintf(out, "  memmove(AT(void, chip, %" PRIu64 "), AT(void, chip, %" PRIu64 "), %" PRIu64 ");\n", cm_c_address(&w->space, at->buffer, at->address),
              cm_c_address(&w->space, at->source_buffer, at->source), at->bytes);
    else
      status = compute(w, lane, at, error);
    CM_TRY(status);
    if (w->flow.awaited[i])
      fprintf(out, "  %s_signal(%u, %u);\n", w->name, lane, w->flow.number[i]);
    CM_TRY(cm_run_check(w->run, error));
  }
  if (w->timed)
    fprintf(w->body[0].stream, "\n  %s_piece(-1);\n", w->name);
  return CM_OK;
}
