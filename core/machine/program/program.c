#include "core/machine/program/program.h"

#include <string.h>

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
  const cm_unit *data = &t->unit[CM_UNIT_DATA];
  if (i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT)
    return 0;
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_STORE)
    return t->issue_ns + data->latency_ns + (double)i->bytes / data->bytes_per_ns;
  if (i->opcode == CM_CODE_COPY)
    return t->issue_ns + (double)i->bytes / data->bytes_per_ns;
  return t->issue_ns + (double)i->work / i->rate;
}
