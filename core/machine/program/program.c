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

void cm_program_number_lanes(cm_program *p)
{
  p->lane_count = 0;
  for (uint32_t d = 0; d < p->target.device_count; d++)
    for (uint32_t u = 0; u < p->target.device[d].units; u++)
      for (uint32_t port = 0; port < p->target.device[d].ports; port++)
        p->lanes[p->lane_count++] = (cm_lane){d, u, port};
}

void cm_lane_name(const cm_program *p, uint32_t lane, char name[CM_LANE_NAME_MAX])
{
  const cm_lane *l = &p->lanes[lane];
  const cm_device *device = &p->target.device[l->device];
  if (device->ports > 1)
    (void)snprintf(name, CM_LANE_NAME_MAX, "%s %u port %u", device->name, l->unit, l->port);
  else
    (void)snprintf(name, CM_LANE_NAME_MAX, "%s %u", device->name, l->unit);
}

double cm_instruction_ns(const cm_program *program, const cm_instruction *i)
{
  const cm_target *t = &program->target;
  const cm_device *device = &t->device[program->lanes[i->lane].device];
  if (i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT)
    return 0;
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_STORE)
    return cm_transfer_ns(t, device, i->bytes);
  return i->opcode == CM_CODE_COPY ? cm_copy_ns(t, device, i->bytes) : cm_compute_ns(t, device, &i->work, i->rate);
}
