/* Instructions on simulated memory: operands are gathered from their parts, the evaluator's kernels compute. */
#include <string.h>

#include "core/machine/run/runner.h"
#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

void cm_copy_elements(uint8_t *to, const int64_t *to_stride, const uint8_t *from, const int64_t *from_stride,
                      uint32_t rank, const int64_t *extent, size_t width)
{
  int64_t index[CM_RANK_MAX] = {0}, run = rank > 0 ? extent[rank - 1] : 1;
  uint32_t outer = rank > 0 ? rank - 1 : 0;
  /* Trailing dims that lie together on both sides are one run. */
  while (outer > 0 && to_stride[rank - 1] == 1 && from_stride[rank - 1] == 1 && to_stride[outer - 1] == run &&
         from_stride[outer - 1] == run)
    run *= extent[--outer];
  bool dense = rank == 0 || (to_stride[rank - 1] == 1 && from_stride[rank - 1] == 1) || run == 1;
  do {
    int64_t t = 0, f = 0;
    for (uint32_t i = 0; i < outer; i++) {
      t += index[i] * to_stride[i];
      f += index[i] * from_stride[i];
    }
    if (dense)
      memcpy(to + t * (int64_t)width, from + f * (int64_t)width, (size_t)run * width);
    else
      for (int64_t k = 0; k < run; k++)
        memcpy(to + (t + k * to_stride[rank - 1]) * (int64_t)width,
               from + (f + k * from_stride[rank - 1]) * (int64_t)width, width);
  } while (cm_next_index(outer, extent, index));
}

/* Where the first element of a part lies. */
static uint8_t *part_at(const cm_runner *r, const cm_program_part *part)
{
  return (cm_part_is_outside(part) ? (uint8_t *)r->outside[cm_part_tensor(part)]->data : r->chip) + part->address;
}

/* The bytes of a part, run by run, go to the checker. */
static cm_status check_part(cm_runner *r, uint32_t lane, const cm_program_part *part, size_t width, bool writes, cm_error *error)
{
  int64_t index[CM_RANK_MAX] = {0}, run = 1;
  uint32_t outer = part->shape->rank;
  if (cm_part_is_outside(part)) {
    const cm_home_box box = {cm_part_tensor(part), part->shape->rank, (int64_t)(part->address / width), part->shape->extent, part->shape->stride};
    return cm_checker_home(r, lane, &box, writes, error);
  }
  while (outer > 0 && part->shape->stride[outer - 1] == run)
    run *= part->shape->extent[--outer];
  do {
    int64_t at = 0;
    for (uint32_t i = 0; i < outer; i++)
      at += index[i] * part->shape->stride[i];
    uint64_t address = part->address + (uint64_t)at * width, bytes = (uint64_t)run * width;
    if ((writes ? cm_checker_write(r, lane, part->buffer, address, bytes, error)
                : cm_checker_read(r, lane, part->buffer, address, bytes, error)) != CM_OK)
      return error->status;
  } while (cm_next_index(outer, part->shape->extent, index));
  return CM_OK;
}

static void reach(cm_runner *r, uint64_t end)
{
  if (end > r->result->peak_bytes)
    r->result->peak_bytes = end;
}

/* ---- data units ---- */

static cm_status transfer(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  const cm_tensor *tensor = r->outside[i->tensor];
  int64_t strides[CM_RANK_MAX], dense[CM_RANK_MAX], offset = 0;
  size_t width = cm_type_bytes(tensor->type);
  bool loads = i->opcode == CM_CODE_LOAD;
  cm_strides(tensor->rank, tensor->dims, strides);
  cm_strides(tensor->rank, i->extent, dense);
  for (uint32_t d = 0; d < tensor->rank; d++)
    offset += i->from[d] * strides[d];
  if (r->checker != NULL && i->bytes > 0) {
    const cm_home_box box = {i->tensor, tensor->rank, offset, i->extent, strides};
    if (cm_checker_home(r, i->lane, &box, !loads, error) != CM_OK ||
        (loads ? cm_checker_write(r, i->lane, i->buffer, i->address, i->bytes, error)
               : cm_checker_read(r, i->lane, i->buffer, i->address, i->bytes, error)) != CM_OK)
      return error->status;
  }
  uint8_t *outside = (uint8_t *)tensor->data + (size_t)offset * width, *chip = r->chip + i->address;
  if (i->bytes == 0)
    return CM_OK;
  if (loads) {
    cm_copy_elements(chip, dense, outside, strides, tensor->rank, i->extent, width);
    reach(r, i->address + i->bytes);
  } else
    cm_copy_elements(outside, strides, chip, dense, tensor->rank, i->extent, width);
  return CM_OK;
}

static cm_status copy(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  if (r->checker != NULL && (cm_checker_read(r, i->lane, i->source_buffer, i->source, i->bytes, error) != CM_OK ||
                             cm_checker_write(r, i->lane, i->buffer, i->address, i->bytes, error) != CM_OK))
    return error->status;
  memmove(r->chip + i->address, r->chip + i->source, i->bytes);
  reach(r, i->address + i->bytes);
  return CM_OK;
}

/* ---- matrix and vector units ---- */

static cm_status gather(cm_runner *r, const cm_instruction *i, const cm_operand *operand, cm_tensor **made, cm_error *error)
{
  cm_tensor *t;
  CM_TRY(cm_tensor_new(r->memory, operand->type, operand->rank, operand->dims, &t, error));
  size_t width = cm_type_bytes(operand->type);
  cm_status status = CM_OK;
  if (operand->part_count == 0 && t->count <= CM_RANK_MAX && operand->type == CM_INT64)
    memcpy(t->data, operand->numbers, t->count * sizeof *operand->numbers);
  for (uint32_t k = 0; status == CM_OK && t->count > 0 && k < operand->part_count; k++) {
    const cm_program_part *part = &r->program->parts[operand->first_part + k];
    if (r->checker != NULL)
      status = check_part(r, i->lane, part, width, false, error);
    cm_copy_elements((uint8_t *)t->data + (size_t)part->to * width, part->shape->to_stride, part_at(r, part),
                     part->shape->stride, part->shape->rank, part->shape->extent, width);
  }
  CM_END(status, *made = t, cm_tensor_free(t));
}

static cm_status scatter(cm_runner *r, const cm_instruction *i, const cm_operand *operand, const cm_tensor *result,
                         cm_error *error)
{
  if (result == NULL || result->type != operand->type || result->rank != operand->rank ||
      memcmp(result->dims, operand->dims, result->rank * sizeof *result->dims) != 0) {
    (void)cm_fail(error, CM_DAMAGED, "instruction %llu: its operator makes another shape than it has room for: ", (unsigned long long)r->at);
    for (uint32_t k = 0; result != NULL && k < result->rank; k++)
      cm_fail_more(error, "%s%lld", k > 0 ? " x " : "", (long long)result->dims[k]);
    for (uint32_t k = 0; k < operand->rank; k++)
      cm_fail_more(error, "%s%lld", k > 0 ? " x " : ", not ", (long long)operand->dims[k]);
    return error->status;
  }
  const cm_program_part *part = &r->program->parts[operand->first_part];
  size_t width = cm_type_bytes(operand->type);
  if (result->count == 0)
    return CM_OK;
  CM_TRY_IF(r->checker != NULL, check_part(r, i->lane, part, width, true, error));
  memcpy(part_at(r, part), result->data, (size_t)result->count * width);
  if (!cm_part_is_outside(part))
    reach(r, part->address + result->count * width);
  return CM_OK;
}

static cm_status compute(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  const cm_node *node = &r->program->operators[i->operator_number];
  const cm_operand *operands = r->program->operands + i->first_operand;
  cm_tensor **inputs = NULL, **results = NULL;
  cm_status status = CM_NEW_ALL(r->memory, error, CM_ARRAY(inputs, i->input_count + 1), CM_ARRAY(results, i->output_count + 1));
  for (uint32_t k = 0; status == CM_OK && k < i->input_count; k++)
    if (operands[k].type != CM_TYPE_NONE)
      status = gather(r, i, &operands[k], &inputs[k], error);
  CM_THEN(status, cm_evaluate_node(node, r->program->opset, inputs, r->memory, results, error));
  for (uint32_t k = 0; status == CM_OK && k < i->output_count; k++)
    if (operands[i->input_count + k].type != CM_TYPE_NONE)
      status = scatter(r, i, &operands[i->input_count + k], results[k], error);
  for (uint32_t k = 0; inputs != NULL && k < i->input_count; k++)
    cm_tensor_free(inputs[k]);
  for (uint32_t k = 0; results != NULL && k < i->output_count; k++)
    cm_tensor_free(results[k]);
  CM_FREE(inputs, results);
  return status;
}

static cm_status execute(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  switch (i->opcode) {
  case CM_CODE_LOAD:
  case CM_CODE_STORE:
    return transfer(r, i, error);
  case CM_CODE_COPY:
    return copy(r, i, error);
  default:
    return compute(r, i, error);
  }
}

cm_status cm_execute(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  cm_status status = execute(r, i, error);
  return status == CM_OK && r->checker != NULL && r->program->target.memory_count > 0 ? cm_checker_end(r, i, error) : status;
}
