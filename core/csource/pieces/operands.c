/* Where inputs and outputs of pieces begin. */
#include <inttypes.h>
#include <string.h>

#include "core/csource/text/writer.h"

void cm_c_scratch(cm_c_piece *piece, cm_type type, int64_t count, char at[CM_C_AT_MAX])
{
  cm_c_writer *w = piece->w;
  (void)snprintf(at, CM_C_AT_MAX, "AT(%s, scratch, %" PRIu64 ")", cm_c_type(type), w->scratch_at);
  w->scratch_at += cm_c_whole_lines((uint64_t)count * cm_type_bytes(type));
  if (w->scratch_at > w->scratch[piece->lane])
    w->scratch[piece->lane] = w->scratch_at;
}

bool cm_c_makes(const cm_c_piece *piece, uint32_t output)
{
  return output < piece->call.output_count && piece->operands[piece->instruction->input_count + output].type != CM_TYPE_NONE;
}

uint64_t cm_c_scratch_bytes(const cm_c_writer *w)
{
  uint64_t bytes = 0;
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    bytes += w->scratch[l];
  return bytes;
}

void cm_c_outside(const cm_c_writer *w, uint32_t tensor, int64_t first, char at[CM_C_AT_MAX])
{
  const cm_tensor_role role = w->program->tensors[tensor].role;
  (void)snprintf(at, CM_C_AT_MAX, first > 0 ? "%s%s + %" PRId64 : "%s%s", role == CM_ROLE_INPUT || role == CM_ROLE_OUTPUT ? "ends." : "",
                 w->homes[tensor], first);
}

/* Where a part of an operand begins. */
static void part_at(const cm_c_writer *w, const cm_program_part *part, cm_type type, char at[CM_C_AT_MAX])
{
  if (cm_part_is_outside(part)) {
    cm_c_outside(w, cm_part_tensor(part), (int64_t)(part->address / cm_type_bytes(type)), at);
    return;
  }
  const cm_c_buffer *b = &w->space.buffers[part->buffer];
  uint64_t first;
  if (!b->in_place) {
    (void)snprintf(at, CM_C_AT_MAX, "AT(%s, chip, %" PRIu64 ")", cm_c_type(type), cm_c_address(&w->space, part->buffer, part->address));
    return;
  }
  const cm_instruction *load = &w->program->instructions[b->first_load - 1];
  (void)cm_c_is_run(&w->program->tensors[load->tensor], load->from, load->extent, &first);
  first += (part->address - load->address) / cm_type_bytes(type);
  cm_c_outside(w, load->tensor, (int64_t)first, at);
}

/* Copies of parts that lie on the chip, as one call. */
typedef struct copies {
  int64_t *numbers;
  uint64_t count, room;
} copies;

static cm_status gather_part(cm_c_piece *piece, const cm_operand *o, const cm_program_part *part, const char *at, copies *c, cm_error *error)
{
  cm_c_writer *w = piece->w;
  cm_c_stream to = {.type = o->type}, from = {.type = o->type};
  memcpy(to.strides, part->shape->to_stride, sizeof to.strides);
  memcpy(from.strides, part->shape->stride, sizeof from.strides);
  (void)snprintf(to.at, sizeof to.at, part->to > 0 ? "%.60s + %" PRId64 : "%.60s", at, part->to);
  if (cm_c_is_constant(w->program, &w->space, part)) {
    cm_tensor *known;
    CM_TRY(cm_c_known(w->program, &w->space, o, part, &known, error));
    const cm_status status = cm_c_array(w, known, from.at, error);
    cm_strides(known->rank, known->dims, from.strides);
    cm_tensor_free(known);
    CM_TRY(status);
  } else if (cm_part_is_outside(part) || w->space.buffers[part->buffer].in_place || o->part_count == 1)
    part_at(w, part, o->type, from.at);
  else {
    CM_TRY(CM_ROOM(w->memory, c->numbers, &c->room, 3 * c->count + 4, error));
    int64_t *row = c->numbers + 1 + 3 * c->count;
    c->numbers[0] = (int64_t)++c->count;
    row[0] = part->to * (int64_t)cm_type_bytes(o->type);
    row[1] = (int64_t)cm_c_address(&w->space, part->buffer, part->address);
    return cm_c_box(w, part, o->type, &row[2], error);
  }
  return cm_c_copy(piece, part->shape->rank, part->shape->extent, &to, &from, error);
}

/* Where a dense element stands in a frame. */
static int64_t in_frame(const cm_c_frame *f, int64_t i)
{
  return ((i / f->in[1] / f->in[0] * f->wide[0]) + i / f->in[1] % f->in[0] + f->before[0]) * f->wide[1] + i % f->in[1] + f->before[1];
}

/* The part as it goes into a frame; whether that is a box too. */
static bool frame_part(const cm_c_frame *f, const cm_program_part *part, cm_program_part *made, cm_part_shape *shape)
{
  int64_t index[CM_RANK_MAX] = {0};
  bool box = true;
  *shape = *part->shape;
  *made = (cm_program_part){.buffer = part->buffer, .address = part->address, .to = in_frame(f, part->to), .shape = shape};
  for (uint32_t d = 0; d < shape->rank; d++)
    shape->to_stride[d] = shape->extent[d] > 1 ? in_frame(f, part->to + part->shape->to_stride[d]) - made->to : 0;
  do {
    int64_t dense = part->to, framed = made->to;
    for (uint32_t d = 0; d < shape->rank; d++) {
      dense += index[d] * part->shape->to_stride[d];
      framed += index[d] * shape->to_stride[d];
    }
    box = in_frame(f, dense) == framed;
  } while (box && cm_next_index(shape->rank, shape->extent, index));
  return box;
}

static cm_status gather(cm_c_piece *piece, const cm_operand *o, cm_c_frame *frame, char at[CM_C_AT_MAX], cm_error *error)
{
  const cm_program_part *parts = piece->w->program->parts + o->first_part;
  FILE *out = piece->w->body[piece->lane].stream;
  copies c = {0};
  const char *table;
  cm_program_part framed;
  cm_part_shape shape;
  cm_status status = CM_OK;
  bool frames = frame != NULL;
  for (uint32_t k = 0; frames && k < o->part_count; k++)
    frames = frame_part(frame, &parts[k], &framed, &shape);
  const int64_t count = frames ? frame->planes * frame->wide[0] * frame->wide[1] : cm_c_count(o->rank, o->dims);
  cm_c_scratch(piece, o->type, count, at);
  if (frames) {
    fprintf(out, "  memset(%s, %d, %" PRIu64 ");\n", at, frame->fill, (uint64_t)count * cm_type_bytes(o->type));
    frame->made = true;
  }
  for (uint32_t k = 0; status == CM_OK && k < o->part_count; k++)
    status = gather_part(piece, o, frames && frame_part(frame, &parts[k], &framed, &shape) ? &framed : &parts[k], at, &c, error);
  CM_THEN_IF(status, c.count > 0, cm_c_table(piece->w, c.numbers, 3 * c.count + 1, &table, error));
  if (status == CM_OK && c.count > 0)
    fprintf(out, "  copy_boxes(%s, %s);\n", at, table);
  cm_free(c.numbers);
  return status;
}

/* Of inputs, then outputs. */
static cm_status operand_at(cm_c_piece *piece, uint32_t number, cm_c_frame *frame, char at[CM_C_AT_MAX], cm_error *error)
{
  const cm_operand *o = &piece->operands[number];
  const bool in = number < piece->instruction->input_count;
  const cm_program_part *part = &piece->w->program->parts[o->first_part];
  if (o->type == CM_TYPE_NONE)
    (void)snprintf(at, CM_C_AT_MAX, "NULL");
  else if (cm_c_type(o->type) == NULL)
    return cm_c_refuse(piece, error, "%s %s, which C does not have", in ? "computes" : "makes", cm_type_name(o->type));
  else if (in && piece->call.value[number] != NULL)
    return cm_c_array(piece->w, piece->call.value[number], at, error);
  else if (in && (o->part_count != 1 || !cm_c_is_whole(part, o)))
    return gather(piece, o, frame, at, error);
  else
    part_at(piece->w, part, o->type, at);
  return CM_OK;
}

cm_status cm_c_input(cm_c_piece *piece, uint32_t input, char at[CM_C_AT_MAX], cm_error *error)
{
  return operand_at(piece, input, NULL, at, error);
}

cm_status cm_c_input_framed(cm_c_piece *piece, uint32_t input, cm_c_frame *frame, char at[CM_C_AT_MAX], cm_error *error)
{
  return operand_at(piece, input, frame->planes > 0 && frame->in[0] > 0 && frame->in[1] > 0 ? frame : NULL, at, error);
}

cm_status cm_c_output(cm_c_piece *piece, uint32_t output, char at[CM_C_AT_MAX], cm_error *error)
{
  return operand_at(piece, piece->instruction->input_count + output, NULL, at, error);
}

cm_status cm_c_input_stream(cm_c_piece *piece, uint32_t input, const cm_shape *wide, cm_c_stream *stream, cm_error *error)
{
  const cm_shape *x = &piece->call.input[input];
  cm_tensor shaped = {.type = x->type, .rank = x->rank};
  memcpy(shaped.dims, x->dims, sizeof shaped.dims);
  stream->type = x->type;
  cm_broadcast_strides(&shaped, wide, stream->strides);
  return cm_c_input(piece, input, stream->at, error);
}

cm_status cm_c_output_stream(cm_c_piece *piece, uint32_t output, cm_c_stream *stream, cm_error *error)
{
  const cm_shape *y = &piece->call.output[output];
  stream->type = y->type;
  cm_strides(y->rank, y->dims, stream->strides);
  return cm_c_output(piece, output, stream->at, error);
}
