/* Instructions in the queues of the units, each with what it waits for. */
#include <math.h>
#include <string.h>

#include "core/machine/emit/emitter.h"

cm_status cm_emitter_buffer(cm_emitter *e, uint32_t tile, uint64_t address, uint32_t *number, cm_error *error)
{
  cm_buffer_map *map = &e->out->buffers;
  uint64_t bytes = e->plan->tiles[tile].bytes;
  const uint64_t wanted = (uint64_t)map->count + 1;
  CM_TRY(CM_ROOM(e->memory, map->address, &e->address_room, wanted, error));
  CM_TRY(CM_ROOM(e->memory, map->bytes, &e->bytes_room, wanted, error));
  CM_TRY(CM_ROOM(e->memory, e->writer, &e->writer_room, wanted, error));
  CM_TRY(CM_ROOM(e->memory, e->access, &e->access_room, wanted * e->lanes, error));
  memset(e->access + (size_t)map->count * e->lanes, 0, e->lanes * sizeof *e->access);
  e->writer[map->count] = 0;
  map->address[map->count] = address;
  map->bytes[map->count] = bytes;
  /* Whatever was done to what lay here comes first. */
  uint32_t last = CM_NONE;
  for (uint64_t line = address / CM_ALIGNMENT; line < (address + bytes) / CM_ALIGNMENT; line++) {
    uint32_t owner = e->line_owner[line];
    e->line_owner[line] = map->count + 1;
    if (owner == 0 || owner == last)
      continue;
    last = owner;
    for (uint32_t l = 0; l < e->lanes; l++) {
      uint64_t symbol = e->access[(size_t)(owner - 1) * e->lanes + l];
      e->wait[l] = symbol > e->wait[l] ? symbol : e->wait[l];
    }
  }
  e->buffer_of[tile] = map->count + 1;
  *number = map->count++;
  return CM_OK;
}

void cm_emitter_wait(cm_emitter *e, uint64_t symbol)
{
  if (symbol == 0)
    return;
  uint32_t lane = e->symbol[symbol - 1].lane;
  e->wait[lane] = symbol > e->wait[lane] ? symbol : e->wait[lane];
}

/* What is read has to be there. */
void cm_emitter_wait_filled(cm_emitter *e, uint32_t buffer)
{
  cm_emitter_wait_all(e, e->writer[buffer]);
}

void cm_emitter_wait_all(cm_emitter *e, uint64_t list)
{
  for (uint64_t at = list; at != 0; at = e->links[at - 1].next)
    cm_emitter_wait(e, e->links[at - 1].symbol);
}

cm_status cm_emitter_list(cm_emitter *e, uint64_t *list, uint64_t symbol, cm_error *error)
{
  CM_TRY(CM_ROOM(e->memory, e->links, &e->link_room, e->link_count + 1, error));
  e->links[e->link_count] = (cm_symbol_link){symbol, *list};
  *list = ++e->link_count;
  return CM_OK;
}

/* What an instruction takes in a lane; 0: it cannot run there. */
static double ns_in(const cm_emitter *e, const cm_instruction *given, uint32_t lane)
{
  cm_instruction there = *given;
  cm_unit_kind kind = cm_opcode_unit(given->opcode);
  uint32_t device = e->program->lanes[lane].device;
  if (!cm_device_does(&e->program->target.device[device], kind))
    return 0;
  there.lane = lane;
  there.rate = kind == CM_UNIT_DATA ? 0 : e->rates[device];
  return kind == CM_UNIT_DATA || there.rate > 0 ? cm_instruction_ns(e->program, &there) : 0;
}

/* When a lane knows that all is done that the next instruction waits for. */
static double ready_in(const cm_emitter *e, uint32_t lane)
{
  double ready = 0;
  for (uint32_t l = 0; l < e->lanes; l++)
    if (e->wait[l] > 0)
      ready = fmax(ready, e->symbol[e->wait[l] - 1].done + cm_hop_ns(&e->hops, l, lane));
  return ready;
}

/* The lane where an instruction can end first. */
static uint32_t choose_lane(const cm_emitter *e, const cm_instruction *given)
{
  uint32_t best = CM_NONE, device = CM_NONE;
  double best_end = 0, ns = 0;
  for (uint32_t l = 0; l < e->lanes; l++) {
    if (e->program->lanes[l].device != device)
      ns = ns_in(e, given, l);
    device = e->program->lanes[l].device;
    double end = ns > 0 ? fmax(e->lane_free[l], ready_in(e, l)) + ns : 0;
    if (ns > 0 && (best == CM_NONE || end < best_end)) {
      best = l;
      best_end = end;
    }
  }
  return best;
}

cm_status cm_emitter_append(cm_emitter *e, const cm_instruction *given, uint64_t *symbol, cm_error *error)
{
  cm_object *o = e->object;
  CM_TRY(CM_ROOM(e->memory, o->instructions, &o->instruction_room, o->instruction_count + 1, error));
  CM_TRY(CM_ROOM(e->memory, e->symbol, &e->symbol_room, e->symbol_count + 1, error));
  uint32_t lane = e->lane != CM_NONE ? e->lane : choose_lane(e, given), device = e->program->lanes[lane].device;
  double ready = ready_in(e, lane);
  for (uint32_t l = 0; l < e->lanes; l++) {
    uint64_t other = e->wait[l];
    e->wait[l] = 0;
    if (other == 0 || l == lane || e->known[(size_t)lane * e->lanes + l] >= e->symbol[other - 1].seq)
      continue;
    e->known[(size_t)lane * e->lanes + l] = e->symbol[other - 1].seq;
    CM_TRY(CM_ROOM(e->memory, o->waits, &o->wait_room, o->wait_count + 1, error));
    o->waits[o->wait_count++] = (cm_object_wait){(uint32_t)o->instruction_count, other - 1};
  }
  cm_instruction *made = &o->instructions[o->instruction_count++];
  *made = *given;
  made->lane = lane;
  made->rate = cm_opcode_unit(given->opcode) == CM_UNIT_DATA ? 0 : e->rates[device];
  made->remote = cm_program_remote(e->program, made, e->out->buffers.address);
  const cm_idle idle = {e->lane_free, 1};
  const cm_issue_read read = cm_issue_next(&e->issue, idle);
  const double ns = cm_instruction_ns(e->program, made), start = fmax(fmax(e->lane_free[lane], ready), read.from + read.ns);
  cm_issue_begin(&e->issue, &read, start, idle);
  e->lane_free[lane] = start + ns;
  e->out->busy_ns[device] += ns;
  e->symbol[e->symbol_count] = (cm_emitter_symbol){++e->lane_count[lane], lane, start + ns};
  *symbol = ++e->symbol_count; /* from 1 */
  return CM_OK;
}

cm_status cm_emitter_touch(cm_emitter *e, uint32_t buffer, uint64_t symbol, cm_error *error)
{
  e->access[(size_t)buffer * e->lanes + e->symbol[symbol - 1].lane] = symbol;
  /* Nobody touches a buffer before it is filled. */
  return e->writer[buffer] == 0 ? cm_emitter_list(e, &e->writer[buffer], symbol, error) : CM_OK;
}
