/* The linker: objects in the order of the data flow, symbols to addresses and flags, one program. */
#include <string.h>

#include "core/machine/emit/object.h"

typedef struct linker {
  cm_emission *in;
  cm_program *out;
  uint64_t symbols, waits;
  uint32_t *lane_of;      /* by symbol */
  uint64_t *first_signal; /* by symbol, + 1 at the end: in `to` */
  uint32_t *to;           /* lanes that wait for a symbol */
  uint64_t *ordinal;      /* by signal: what the flag counts to */
  uint64_t *signal_of;    /* by wait, in the order of objects */
  uint64_t *filled;       /* by symbol: signals placed so far */
  uint32_t *flag_of;      /* by pair of lanes: flag + 1 */
  uint64_t *flag_value;
} linker;

/* ---- flags ---- */

static cm_status check_symbols(linker *l, cm_error *error)
{
  for (uint32_t o = 0; o < l->in->object_count; o++) {
    const cm_object *object = &l->in->objects[o];
    if (object->first_symbol != l->symbols)
      return cm_fail(error, CM_INTERNAL, "object '%s' is not linked in the order of the data flow", object->name);
    for (size_t w = 0; w < object->wait_count; w++)
      if (object->waits[w].symbol >= object->first_symbol + object->waits[w].instruction)
        return cm_fail(error, CM_INTERNAL, "object '%s', instruction %u: waits for symbol %llu, which comes later",
                       object->name, object->waits[w].instruction, (unsigned long long)object->waits[w].symbol);
    l->symbols += object->instruction_count;
    l->waits += object->wait_count;
  }
  return CM_OK;
}

static void list_signals(linker *l)
{
  uint64_t symbol = 0, wait = 0;
  for (uint32_t o = 0; o < l->in->object_count; o++)
    for (size_t i = 0; i < l->in->objects[o].instruction_count; i++)
      l->lane_of[symbol++] = l->in->objects[o].instructions[i].lane;
  for (uint32_t o = 0; o < l->in->object_count; o++)
    for (size_t w = 0; w < l->in->objects[o].wait_count; w++)
      l->first_signal[l->in->objects[o].waits[w].symbol + 1]++;
  for (uint64_t s = 0; s < l->symbols; s++)
    l->first_signal[s + 1] += l->first_signal[s];
  for (uint32_t o = 0; o < l->in->object_count; o++) {
    const cm_object *object = &l->in->objects[o];
    for (size_t w = 0; w < object->wait_count; w++, wait++) {
      uint64_t s = object->waits[w].symbol, at = l->first_signal[s] + l->filled[s]++;
      l->signal_of[wait] = at;
      l->to[at] = l->lane_of[object->first_symbol + object->waits[w].instruction];
    }
  }
}

static uint32_t flag_of(linker *l, uint32_t from, uint32_t to)
{
  uint32_t *flag = &l->flag_of[(size_t)from * l->out->lane_count + to];
  if (*flag == 0)
    *flag = ++l->out->flag_count;
  return *flag - 1;
}

/* ---- relocation ---- */

static cm_status locate(const linker *l, const cm_object *object, uint32_t buffer, uint64_t bytes, uint64_t *address,
                        cm_error *error)
{
  const cm_buffer_map *map = &l->in->buffers;
  if (buffer >= map->count || map->address[buffer] + map->bytes[buffer] > l->out->target.memory_bytes)
    return cm_fail(error, CM_INTERNAL, "object '%s': buffer %u does not lie on the chip", object->name, buffer);
  if (*address + bytes > map->bytes[buffer])
    return cm_fail(error, CM_INTERNAL, "object '%s': %llu bytes are used of buffer %u, which has %llu", object->name,
                   (unsigned long long)(*address + bytes), buffer, (unsigned long long)map->bytes[buffer]);
  *address += map->address[buffer];
  return CM_OK;
}

static cm_status relocate_operands(const linker *l, const cm_object *object, const cm_instruction *given, cm_error *error)
{
  const cm_program *p = l->out;
  for (uint32_t k = 0; k < given->input_count + given->output_count; k++) {
    const cm_operand *operand = &p->operands[given->first_operand + k];
    for (uint32_t i = 0; i < operand->part_count; i++) {
      cm_program_part *part = &p->parts[operand->first_part + i];
      CM_TRY_IF(!cm_part_is_outside(part), locate(l, object, part->buffer, cm_part_span(part, cm_type_bytes(operand->type)), &part->address, error));
    }
  }
  return CM_OK;
}

static cm_status relocate(linker *l, const cm_object *object, const cm_instruction *given, cm_error *error)
{
  cm_instruction *made = &l->out->instructions[l->out->instruction_count++];
  *made = *given;
  if (cm_opcode_computes(given->opcode))
    return relocate_operands(l, object, given, error);
  CM_TRY_IF(given->opcode == CM_CODE_COPY, locate(l, object, given->source_buffer, given->bytes, &made->source, error));
  return locate(l, object, given->buffer, given->bytes, &made->address, error);
}

static void append_flag(linker *l, cm_opcode opcode, uint32_t lane, uint32_t flag, uint64_t value)
{
  l->out->instructions[l->out->instruction_count++] =
      (cm_instruction){.opcode = opcode, .lane = lane, .flag = flag, .value = value};
}

static cm_status link_object(linker *l, const cm_object *object, uint64_t *wait, cm_error *error)
{
  size_t w = 0;
  for (size_t i = 0; i < object->instruction_count; i++) {
    uint64_t symbol = object->first_symbol + i;
    for (; w < object->wait_count && object->waits[w].instruction == i; w++, (*wait)++) {
      uint32_t from = l->lane_of[object->waits[w].symbol], to = object->instructions[i].lane;
      append_flag(l, CM_CODE_WAIT, to, flag_of(l, from, to), l->ordinal[l->signal_of[*wait]]);
    }
    CM_TRY(relocate(l, object, &object->instructions[i], error));
    for (uint64_t s = l->first_signal[symbol]; s < l->first_signal[symbol + 1]; s++) {
      uint32_t flag = flag_of(l, l->lane_of[symbol], l->to[s]);
      l->ordinal[s] = ++l->flag_value[flag];
      append_flag(l, CM_CODE_SET, l->lane_of[symbol], flag, 0);
    }
  }
  return CM_OK;
}

/* ---- the whole ---- */

static cm_status make_room(linker *l, cm_error *error)
{
  cm_program *p = l->out;
  cm_memory *m = p->memory;
  size_t pairs = (size_t)p->lane_count * p->lane_count;
  CM_TRY(CM_NEW_ALL(m, error, CM_ARRAY(l->lane_of, l->symbols + 1), CM_ARRAY(l->first_signal, l->symbols + 2),
                    CM_ARRAY(l->to, l->waits + 1), CM_ARRAY(l->ordinal, l->waits + 1), CM_ARRAY(l->signal_of, l->waits + 1),
                    CM_ARRAY(l->filled, l->symbols + 1), CM_ARRAY(l->flag_of, pairs), CM_ARRAY(l->flag_value, pairs),
                    CM_ARRAY(p->instructions, l->symbols + 2 * l->waits + 1), CM_ARRAY(p->objects, l->in->object_count + 1)));
  return CM_OK;
}

static void end(linker *l)
{
  CM_FREE(l->lane_of, l->first_signal, l->to, l->ordinal, l->signal_of, l->filled, l->flag_of, l->flag_value);
}

cm_status cm_link(cm_emission *emission, cm_program **made, cm_error *error)
{
  linker l = {.in = emission, .out = emission->program};
  uint64_t wait = 0;
  cm_status status = check_symbols(&l, error);
  CM_THEN(status, make_room(&l, error));
  if (status == CM_OK)
    list_signals(&l);
  for (uint32_t o = 0; status == CM_OK && o < emission->object_count; o++) {
    cm_program_object *object = &l.out->objects[l.out->object_count];
    object->name = cm_arena_text(&l.out->arena, emission->objects[o].name, strlen(emission->objects[o].name), error);
    object->first = l.out->instruction_count;
    status = object->name != NULL ? link_object(&l, &emission->objects[o], &wait, error) : error->status;
    object->count = l.out->instruction_count - object->first;
    l.out->object_count++;
  }
  end(&l);
  if (status != CM_OK)
    return status;
  l.out->buffer_count = emission->buffers.count;
  emission->program = NULL;
  *made = l.out;
  return CM_OK;
}
