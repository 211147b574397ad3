#include "core/machine/program/program.h"

#include <string.h>

#include "core/machine/cost.h"

void cm_program_free(cm_program *program)
{
  if (program == NULL)
    return;
  for (uint32_t t = 0; t < program->tensor_count; t++)
    cm_tensor_free(program->tensors[t].data);
  cm_arena_free(&program->arena);
  cm_free(program->lanes);
  cm_free(program->tensors);
  cm_free(program->inputs);
  cm_free(program->outputs);
  cm_free(program->operators);
  cm_free(program->objects);
  cm_free(program->instructions);
  cm_free(program->operands);
  cm_free(program->parts);
  cm_free(program);
}

const char *cm_opcode_name(cm_opcode opcode)
{
  static const char *const names[] = {"?", "LOAD", "STORE", "COPY", "MATRIX", "VECTOR", "SET", "WAIT"};
  return opcode < CM_CODE_COUNT ? names[opcode] : names[0];
}

cm_unit_kind cm_opcode_unit(cm_opcode opcode)
{
  return opcode == CM_CODE_MATRIX ? CM_UNIT_MATRIX : opcode == CM_CODE_VECTOR ? CM_UNIT_VECTOR : CM_UNIT_DATA;
}

double cm_instruction_ns(const cm_program *program, const cm_instruction *i)
{
  const cm_target *t = &program->target;
  if (i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT)
    return 0;
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_STORE)
    return cm_transfer_ns(t, i->bytes);
  return i->opcode == CM_CODE_COPY ? cm_copy_ns(t, i->bytes) : cm_compute_ns(t, i->work, i->rate);
}
