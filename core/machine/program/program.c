#include "core/machine/program/program.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "core/machine/cost.h"
#include "core/operators/tiling/split.h"

enum { SHAPE_LISTS = 1 << 12 };

typedef struct cm_shape_link {
  cm_part_shape shape;
  struct cm_shape_link *next;
} cm_shape_link;

void cm_program_free(cm_program *program)
{
  if (program == NULL)
    return;
  for (uint32_t t = 0; t < program->tensor_count; t++)
    cm_tensor_free(program->tensors[t].data);
  cm_arena_free(&program->arena);
  CM_FREE(program->lanes, program->tensors, program->inputs, program->outputs, program->operators, program->objects,
          program->instructions, program->operands, program->parts, program->shapes, program);
}

static bool alike(const cm_part_shape *a, const cm_part_shape *b)
{
  const size_t bytes = a->rank * sizeof *a->extent;
  return a->rank == b->rank && memcmp(a->extent, b->extent, bytes) == 0 && memcmp(a->stride, b->stride, bytes) == 0 &&
         memcmp(a->to_stride, b->to_stride, bytes) == 0;
}

cm_status cm_program_shape(cm_program *program, const cm_part_shape *given, const cm_part_shape **kept, cm_error *error)
{
  uint64_t hash = given->rank;
  for (uint32_t i = 0; i < given->rank; i++)
    hash = cm_mix(cm_mix(cm_mix(hash ^ (uint64_t)given->extent[i]) ^ (uint64_t)given->stride[i]) ^ (uint64_t)given->to_stride[i]);
  CM_TRY_IF(program->shapes == NULL, CM_NEW(program->memory, program->shapes, SHAPE_LISTS, error));
  cm_shape_link **list = &program->shapes[hash % SHAPE_LISTS], *link = *list;
  while (link != NULL && !alike(&link->shape, given))
    link = link->next;
  if (link == NULL) {
    CM_TRY(CM_ARENA_NEW(&program->arena, link, 1, error));
    *link = (cm_shape_link){*given, *list};
    *list = link;
  }
  *kept = &link->shape;
  return CM_OK;
}

int64_t cm_program_rows(const cm_program *p, uint32_t tensor)
{
  const cm_program_tensor *t = &p->tensors[tensor];
  return p->turns > 1 && t->role != CM_ROLE_CONSTANT ? t->dims[0] / p->turns : 0;
}

const char *cm_opcode_name(cm_opcode opcode)
{
  static const char *const names[] = {"?", "LOAD", "STORE", "COPY", "MATRIX", "VECTOR", "SET", "WAIT", "HOST"};
  return opcode < CM_CODE_COUNT ? names[opcode] : names[0];
}

cm_unit_kind cm_opcode_unit(cm_opcode opcode)
{
  return opcode == CM_CODE_MATRIX   ? CM_UNIT_MATRIX
         : opcode == CM_CODE_VECTOR ? CM_UNIT_VECTOR
         : opcode == CM_CODE_HOST   ? CM_UNIT_HOST
                                    : CM_UNIT_DATA;
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
  const bool remote = t->memory_count > 0;
  if (cm_opcode_computes(i->opcode))
    return cm_compute_ns(t, device, &i->work, i->rate) +
           (remote ? cm_compute_remote_ns(t, device, &i->work, i->rate, &i->remote) : 0);
  return (i->opcode == CM_CODE_COPY ? cm_copy_ns(t, device, i->bytes) : cm_transfer_ns(t, device, i->bytes)) +
         (remote ? cm_transfer_remote_ns(t, device, i->bytes, &i->remote) : 0);
}

void cm_program_rate_name(const cm_program *program, const cm_instruction *i, cm_type type, char name[CM_TARGET_NAME_MAX])
{
  const cm_node *node = &program->operators[i->operator_number];
  const uint32_t weights = cm_split_weights(node);
  cm_rate_name(node, weights < i->input_count ? program->operands[i->first_operand + weights].dims[0] : 0, type, name);
}

/* Bytes at an address, seen from a core. */
static uint64_t elsewhere(const cm_target *t, uint32_t core, uint64_t address, uint64_t bytes, bool reads, double *farthest_ns)
{
  const uint32_t at = t->memory[cm_memory_at(t->memory, t->memory_count, address)].core;
  if (bytes == 0 || at == core || at == CM_CORE_SHARED)
    return 0;
  *farthest_ns = fmax(*farthest_ns, reads ? cm_grid_ns(&t->grid, at, core) : cm_grid_ns(&t->grid, core, at));
  return bytes;
}

static uint64_t part_bytes(const cm_operand *operand, const cm_program_part *part)
{
  uint64_t bytes = cm_type_bytes(operand->type);
  for (uint32_t d = 0; d < part->shape->rank; d++)
    bytes *= (uint64_t)part->shape->extent[d];
  return bytes;
}

cm_remote cm_program_remote(const cm_program *program, const cm_instruction *i, const uint64_t *base)
{
  const cm_target *t = &program->target;
  const uint32_t core = cm_lane_core(t, i->lane);
  cm_remote made = {0};
  double read_ns = 0, written_ns = 0;
  if (t->memory_count == 0 || i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT)
    return made;
  if (i->opcode == CM_CODE_COPY)
    made.read_bytes = elsewhere(t, core, i->source + (base != NULL ? base[i->source_buffer] : 0), i->bytes, true, &read_ns);
  if (!cm_opcode_computes(i->opcode))
    made.written_bytes = elsewhere(t, core, i->address + (base != NULL ? base[i->buffer] : 0), i->bytes, false, &written_ns);
  else
    for (uint32_t k = 0; k < i->input_count + i->output_count; k++) {
      const cm_operand *o = &program->operands[i->first_operand + k];
      const bool reads = k < i->input_count;
      for (uint32_t n = 0; n < o->part_count; n++) {
        const cm_program_part *part = &program->parts[o->first_part + n];
        if (cm_part_is_outside(part))
          continue;
        *(reads ? &made.read_bytes : &made.written_bytes) +=
          elsewhere(t, core, part->address + (base != NULL ? base[part->buffer] : 0), part_bytes(o, part), reads,
                    reads ? &read_ns : &written_ns);
      }
    }
  made.hop_ns = read_ns + written_ns;
  return made;
}
