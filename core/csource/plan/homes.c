/* Buffers: which stay outside, and what constants make. */
#include "core/csource/plan/homes.h"

#include <string.h>

#include "core/machine/run/runner.h"
#include "core/operators/operator.h"

int64_t cm_c_count(uint32_t rank, const int64_t *dims)
{
  int64_t count = 1;
  for (uint32_t d = 0; d < rank; d++)
    count *= dims[d];
  return count;
}

uint64_t cm_c_reach(const cm_program_part *part)
{
  int64_t last = 0;
  for (uint32_t d = 0; d < part->shape->rank; d++)
    last += (part->shape->extent[d] - 1) * part->shape->stride[d];
  return cm_c_count(part->shape->rank, part->shape->extent) > 0 ? (uint64_t)last + 1 : 0;
}

bool cm_c_is_run(const cm_program_tensor *tensor, const int64_t *from, const int64_t *extent, uint64_t *first)
{
  int64_t strides[CM_RANK_MAX];
  bool inside = false; /* behind a dimension that is cut, all are whole; before it, all are of one element */
  *first = 0;
  cm_strides(tensor->rank, tensor->dims, strides);
  for (uint32_t d = 0; d < tensor->rank; d++) {
    *first += (uint64_t)(from[d] * strides[d]);
    if (inside && extent[d] != tensor->dims[d])
      return false;
    inside = inside || extent[d] != 1;
  }
  return true;
}

bool cm_c_is_whole(const cm_program_part *part, const cm_operand *operand)
{
  uint64_t run = 1;
  if (part->to != 0 || cm_c_count(part->shape->rank, part->shape->extent) != cm_c_count(operand->rank, operand->dims))
    return false;
  for (uint32_t d = part->shape->rank; d-- > 0; run *= (uint64_t)part->shape->extent[d])
    if (part->shape->extent[d] != 1 && ((uint64_t)part->shape->stride[d] != run || (uint64_t)part->shape->to_stride[d] != run))
      return false;
  return true;
}

/* ---- which loads are made ---- */

static void list_loads(const cm_program *p, cm_c_space *s)
{
  for (uint64_t i = p->instruction_count; i-- > 0;)
    if (p->instructions[i].opcode == CM_CODE_LOAD) {
      cm_c_buffer *b = &s->buffers[p->instructions[i].buffer];
      s->next_load[i] = b->first_load;
      b->first_load = i + 1;
    }
}

/* Buffers that transfers and copies read or fill stay where they are. */
static void classify(const cm_program *p, cm_c_space *s)
{
  for (uint32_t k = 0; k < p->buffer_count; k++) {
    cm_c_buffer *b = &s->buffers[k];
    uint64_t first;
    b->constant = b->first_load != 0;
    for (uint64_t i = b->first_load; i != 0; i = s->next_load[i - 1])
      b->constant = b->constant && p->tensors[p->instructions[i - 1].tensor].role == CM_ROLE_CONSTANT;
    if (b->first_load == 0 || b->constant)
      continue;
    const cm_instruction *load = &p->instructions[b->first_load - 1];
    b->in_place = s->next_load[b->first_load - 1] == 0 && p->tensors[load->tensor].role == CM_ROLE_INPUT &&
                  cm_c_is_run(&p->tensors[load->tensor], load->from, load->extent, &first);
  }
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    if (at->opcode == CM_CODE_STORE || at->opcode == CM_CODE_COPY)
      s->buffers[at->buffer].constant = s->buffers[at->buffer].in_place = false;
    if (at->opcode == CM_CODE_COPY)
      s->buffers[at->source_buffer].constant = s->buffers[at->source_buffer].in_place = false;
  }
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    const cm_c_buffer *b = &s->buffers[at->buffer];
    s->left_out[i] = at->opcode == CM_CODE_SET || at->opcode == CM_CODE_WAIT || (at->opcode == CM_CODE_LOAD && (b->constant || b->in_place));
  }
}

cm_status cm_c_space_make(const cm_program *p, cm_c_space *s, cm_error *error)
{
  *s = (cm_c_space){0};
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(s->buffers, (size_t)p->buffer_count + 1), CM_ARRAY(s->next_load, p->instruction_count + 1),
                    CM_ARRAY(s->left_out, p->instruction_count + 1)));
  list_loads(p, s);
  classify(p, s);
  return CM_OK;
}

void cm_c_space_end(cm_c_space *s)
{
  CM_FREE(s->buffers, s->next_load, s->left_out);
  *s = (cm_c_space){0};
}

uint64_t cm_c_address(const cm_c_space *s, uint32_t buffer, uint64_t address)
{
  return s->buffers[buffer].home + (address - s->buffers[buffer].from);
}

/* ---- values that are known ---- */

bool cm_c_is_constant(const cm_program *p, const cm_c_space *s, const cm_program_part *part)
{
  return cm_part_is_outside(part) ? p->tensors[cm_part_tensor(part)].role == CM_ROLE_CONSTANT : s->buffers[part->buffer].constant;
}

/* What constants make of a part goes from `to` on: from the tensor, or from an image of the buffer after all of its loads. */
static cm_status place(const cm_program *p, const cm_c_space *s, const cm_program_part *part, size_t width, uint8_t *to, const int64_t *to_stride, cm_error *error)
{
  const bool outside = cm_part_is_outside(part);
  const uint64_t first = outside ? 0 : s->buffers[part->buffer].first_load;
  uint64_t base = outside ? 0 : UINT64_MAX, end = 0;
  uint8_t *image = NULL;
  for (uint64_t i = first; i != 0; i = s->next_load[i - 1]) {
    const cm_instruction *load = &p->instructions[i - 1];
    base = load->address < base ? load->address : base;
    end = load->address + load->bytes > end ? load->address + load->bytes : end;
  }
  if (!outside && (part->address < base || part->address + cm_c_reach(part) * width > end))
    return cm_fail(error, CM_DAMAGED, "a part at 0x%llx is not loaded", (unsigned long long)part->address);
  CM_TRY_IF(!outside, CM_NEW(p->memory, image, end - base, error));
  for (uint64_t i = first; i != 0; i = s->next_load[i - 1]) {
    const cm_instruction *load = &p->instructions[i - 1];
    const cm_tensor *t = p->tensors[load->tensor].data;
    int64_t strides[CM_RANK_MAX], dense[CM_RANK_MAX], offset = 0;
    cm_strides(t->rank, t->dims, strides);
    cm_strides(t->rank, load->extent, dense);
    for (uint32_t d = 0; d < t->rank; d++)
      offset += load->from[d] * strides[d];
    if (load->bytes > 0)
      cm_copy_elements(image + (load->address - base), dense, (const uint8_t *)t->data + (size_t)offset * cm_type_bytes(t->type), strides, t->rank, load->extent,
                       cm_type_bytes(t->type));
  }
  const uint8_t *from = outside ? p->tensors[cm_part_tensor(part)].data->data : image;
  cm_copy_elements(to, to_stride, from + (part->address - base), part->shape->stride, part->shape->rank, part->shape->extent, width);
  cm_free(image);
  return CM_OK;
}

cm_status cm_c_known(const cm_program *p, const cm_c_space *s, const cm_operand *o, const cm_program_part *only, cm_tensor **made, cm_error *error)
{
  const size_t width = cm_type_bytes(o->type);
  const cm_part_shape *shape = only != NULL ? only->shape : NULL;
  int64_t dense[CM_RANK_MAX];
  cm_tensor *t;
  CM_TRY(cm_tensor_new(p->memory, o->type, only != NULL ? shape->rank : o->rank, only != NULL ? shape->extent : o->dims, &t, error));
  cm_strides(t->rank, t->dims, dense);
  cm_status status = only != NULL ? place(p, s, only, width, t->data, dense, error) : CM_OK;
  if (only == NULL && o->part_count == 0 && t->count <= CM_RANK_MAX && o->type == CM_INT64)
    memcpy(t->data, o->numbers, t->count * sizeof *o->numbers);
  for (uint32_t k = 0; only == NULL && status == CM_OK && t->count > 0 && k < o->part_count; k++) {
    const cm_program_part *part = &p->parts[o->first_part + k];
    status = place(p, s, part, width, (uint8_t *)t->data + (size_t)part->to * width, part->shape->to_stride, error);
  }
  CM_END(status, *made = t, cm_tensor_free(t));
}
