/* Loads before their turn. The memory is granted in the order of the sequence, and outputs hold theirs from when it is
 * granted: where much lies between, parameters that are needed later would come late though ports are idle now. What can
 * fail: memory. */
#include "core/machine/schedule/timing.h"

enum { BLOCK = 64, LOOK_MAX = 4096 }; /* pieces that are looked through at once */

cm_status cm_timing_live(cm_timing *t, cm_error *error)
{
  const cm_plan *plan = t->plan;
  uint64_t used = 0, count = t->sequence->piece_count;
  bool *lies;
  CM_TRY(CM_NEW_ALL(plan->memory, error, CM_ARRAY(t->live, count + 1), CM_ARRAY(t->live_peak, count / BLOCK + 1),
                    CM_ARRAY(lies, plan->tile_count + 1)));
  for (uint64_t p = 0; p < count; p++) {
    const cm_piece *piece = &plan->pieces[t->sequence->pieces[p]];
    const uint32_t *tiles = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++) {
      used += lies[tiles[i]] ? 0 : plan->tiles[tiles[i]].bytes;
      lies[tiles[i]] = true;
    }
    t->live[p] = used;
    if (used > t->live_peak[p / BLOCK])
      t->live_peak[p / BLOCK] = used;
    for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
      if (lies[tiles[i]] && t->next_use[piece->first_tile + i] == CM_NEVER) {
        used -= plan->tiles[tiles[i]].bytes;
        lies[tiles[i]] = false;
      }
  }
  cm_free(lies);
  return CM_OK;
}

/* The most that lies there at places [from, to). */
static uint64_t peak(const cm_timing *t, uint64_t from, uint64_t to)
{
  uint64_t most = 0;
  for (uint64_t p = from; p < to;)
    if (p % BLOCK == 0 && p + BLOCK <= to) {
      most = t->live_peak[p / BLOCK] > most ? t->live_peak[p / BLOCK] : most;
      p += BLOCK;
    } else {
      most = t->live[p] > most ? t->live[p] : most;
      p++;
    }
  return most;
}

/* The first tile at or after t->ahead_at that has to be loaded and can be from the start; CM_NONE: none near. */
static uint32_t find(cm_timing *t)
{
  const cm_plan *plan = t->plan;
  uint64_t end = t->first + t->sequence->piece_count, near = t->now + LOOK_MAX;
  if (t->ahead_at <= t->now)
    t->ahead_at = t->now + 1;
  for (; t->ahead_at < end && t->ahead_at < near; t->ahead_at++) {
    const cm_piece *piece = &plan->pieces[t->sequence->pieces[t->ahead_at - t->first]];
    const uint32_t *inputs = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count; i++) {
      const cm_tile *tile = &plan->tiles[inputs[i]];
      if (t->buffer_of[inputs[i]] == 0 && (tile->constant || (tile->grid && tile->piece == CM_NONE)))
        return inputs[i];
    }
  }
  return CM_NONE;
}

cm_status cm_timing_ahead(cm_timing *t, cm_error *error)
{
  const uint64_t most = (uint64_t)(t->settings->ahead * (double)t->plan->memory_bytes);
  for (uint32_t tile; most > 0 && (tile = find(t)) != CM_NONE;) {
    uint64_t bytes = t->plan->tiles[tile].bytes;
    cm_timing_transfer_ns(t, bytes);
    const cm_slot slot = cm_lanes_find(&t->lanes, t->ns, 0, (cm_at_stations){NULL, NULL});
    double ns = slot.ns, start = slot.start;
    cm_window window;
    bool there;
    t->effort += t->addresses.count;
    if (start + ns > t->front || t->ahead_bytes + bytes > most || t->used_bytes + bytes > t->capacity ||
        peak(t, t->now, t->ahead_at) + t->ahead_bytes + bytes > t->capacity ||
        !cm_timing_find_room(t, &(cm_room_wish){bytes, start, t->plan->tiles[tile].constant}, &window) || window.free_ns + ns > t->front)
      return CM_OK;
    CM_TRY(cm_timing_load(t, tile, &there, error));
    cm_on_chip *r = &t->buffer[t->buffer_of[tile] - 1];
    r->next = t->ahead_at;
    r->ahead = true;
    t->ahead_bytes += bytes;
  }
  return CM_OK;
}
