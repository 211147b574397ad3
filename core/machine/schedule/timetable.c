/* Memory in the order of the sequence, execution out of order. What can fail: memory. */
#include <math.h>
#include <string.h>

#include "core/machine/schedule/timing.h"

/* ---- the whole ---- */

void cm_timing_uses(cm_timing *t, uint64_t *next)
{
  const cm_plan *plan = t->plan;
  for (uint32_t s = t->sequence->piece_count; s-- > 0;) {
    const cm_piece *piece = &plan->pieces[t->sequence->pieces[s]];
    const uint32_t *tiles = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
      t->next_use[piece->first_tile + i] = next[tiles[i]];
    for (uint32_t i = 0; i < piece->input_count; i++)
      next[tiles[i]] = t->first + s;
  }
}

static cm_status find_next_uses(cm_timing *t, cm_error *error)
{
  uint64_t *next;
  CM_TRY(CM_NEW_ALL(t->plan->memory, error, CM_ARRAY(t->next_use, t->plan->piece_tile_count + 1),
                    CM_ARRAY(next, t->plan->tile_count + 1)));
  for (size_t i = 0; i < t->plan->tile_count; i++)
    next[i] = CM_NEVER;
  cm_timing_uses(t, next);
  cm_free(next);
  return CM_OK;
}

/* Nothing is granted yet. */
static cm_status begin_granting(cm_timing *t, cm_error *error)
{
  const uint32_t most = t->settings->window < 1 ? 1 : (uint32_t)t->settings->window;
  CM_TRY(CM_NEW_ALL(t->plan->memory, error, CM_ARRAY(t->granted, most), CM_ARRAY(t->idle_slot, most),
                    CM_ARRAY(t->use, t->plan->piece_tile_count + 1)));
  CM_TRY(cm_ready_begin(&t->ready, t->target, most, t->plan->memory, error));
  for (uint32_t slot = most; slot-- > 0;) {
    t->granted[slot].piece = CM_NONE;
    t->idle_slot[t->idle_slots++] = slot;
  }
  return CM_OK;
}

/* What there is beside, where cores have memories of their own. */
static cm_status make_places(cm_timing *t, cm_error *error)
{
  const cm_plan *plan = t->plan;
  t->home = CM_NONE;
  if (plan->memory_count == 0)
    return CM_OK;
  return CM_NEW_ALL(plan->memory, error, CM_ARRAY(t->more, plan->hops.stations), CM_ARRAY(t->promised, t->target->lane_count),
                    CM_ARRAY(t->moved, 2 * (size_t)plan->memory_count));
}

cm_status cm_timing_begin(cm_timing *t, cm_error *error)
{
  cm_plan *plan = t->plan;
  t->target = plan->target;
  t->settings = plan->settings;
  CM_TRY(cm_lanes_begin(&t->lanes, t->target, &plan->hops, plan->memory, error));
  CM_TRY(cm_addresses_begin(&t->addresses, plan->core_memory, plan->memory_count > 0 ? plan->memory_count : 1, plan->memory, error));
  CM_TRY(CM_NEW_ALL(plan->memory, error, CM_ARRAY(t->buffer_of, plan->tile_count + 1),
                    CM_ARRAY(t->stored, plan->tile_count + 1)));
  CM_TRY(begin_granting(t, error));
  CM_TRY(find_next_uses(t, error));
  CM_TRY(cm_timing_live(t, error));
  CM_TRY_IF(plan->hops.stations > 1, CM_NEW(plan->memory, t->arrive, plan->hops.stations, error));
  CM_TRY(make_places(t, error));
  for (size_t i = 0; i < plan->tile_count; i++)
    t->stored[i] = -1;
  t->layer = CM_NONE;
  t->capacity = (uint64_t)(t->settings->fill * (double)plan->memory_bytes);
  t->ports = cm_target_lanes(t->target, CM_UNIT_DATA);
  for (uint32_t d = 0; d < t->target->device_count; d++) {
    const cm_device *device = &t->target->device[d];
    if (device->moves)
      t->split_bytes = fmax(t->split_bytes, t->settings->split * (device->latency_ns + t->target->issue_ns) * device->bytes_per_ns);
  }
  t->split_bytes = t->split_bytes < CM_ALIGNMENT ? CM_ALIGNMENT : t->split_bytes;
  return CM_OK;
}

static cm_status finish(cm_timing *t, cm_error *error)
{
  cm_timetable *made = t->out;
  made->effort = t->effort + CM_EFFORT_OF_PIECE * t->sequence->piece_count;
  made->time_ns *= t->plan->turns;
  made->traffic.loaded *= t->plan->turns;
  made->traffic.stored *= t->plan->turns;
  made->traffic.parameters *= t->plan->turns;
  if (!t->record)
    return CM_OK;
  CM_TRY(CM_NEW(t->plan->memory, made->buffers, t->buffer_count + 1, error));
  for (uint32_t b = 0; b < t->buffer_count; b++)
    made->buffers[b] = (cm_timed_buffer){t->buffer[b].tile, t->buffer[b].address};
  made->buffer_count = t->buffer_count;
  made->use = t->use;
  t->use = NULL;
  return CM_OK;
}

/* Before then no port has anything left to take. */
static void forget_past(cm_timing *t)
{
  double past = HUGE_VAL;
  for (uint32_t l = 0; l < t->target->lane_count; l++) {
    const cm_lane_time *lane = &t->lanes.lane[l];
    double idle = lane->gap_count > 0 ? lane->gap_from[0] : lane->tail;
    if (t->target->device[cm_lane_device(t->target, l)].moves)
      past = idle < past ? idle : past;
  }
  t->past = past;
}

/* Layer by layer: when all of an operator lies outside and is known on every core, the next one begins. */
static cm_status end_layer(cm_timing *t, cm_error *error)
{
  const uint32_t op = t->plan->pieces[t->sequence->pieces[t->now - t->first]].op;
  double farthest = 0;
  if (op == t->layer)
    return CM_OK;
  t->layer = op;
  CM_TRY(cm_timing_finish(t, error));
  CM_TRY(cm_timing_clear(t, error));
  for (uint32_t l = 0; l < t->target->lane_count; l++)
    farthest = fmax(farthest, cm_hop_farthest(&t->plan->hops, l));
  cm_lanes_bar(&t->lanes, t->out->time_ns + farthest);
  CM_TRY(CM_ROOM(t->plan->memory, t->out->layer_ns, &t->layer_capacity, t->out->layer_count + 1, error));
  t->out->layer_ns[t->out->layer_count++] = t->out->time_ns + farthest;
  return CM_OK;
}

cm_status cm_timing_step(cm_timing *t, cm_error *error)
{
  if ((t->now & 63) == 0) {
    forget_past(t);
    CM_TRY(cm_run_check(t->run, error));
  }
  if (t->plan->division == CM_DIVISION_LAYERS)
    return end_layer(t, error) == CM_OK ? cm_timing_next(t, error) : error->status;
  return cm_timing_next(t, error) == CM_OK ? cm_timing_ahead(t, error) : error->status;
}

/* The buffers that lie on the chip, and those of which granted pieces know. renamed[number]: the copy's number + 1. */
static cm_status copy_buffers(const cm_timing *from, cm_timing *to, uint32_t *renamed, cm_error *error)
{
  const cm_plan *plan = from->plan;
  for (uint32_t i = 0; i < to->addresses.count; i++) {
    cm_range *r = &to->addresses.range[i];
    if (r->buffer == CM_NO_BUFFER)
      continue;
    to->buffer[to->buffer_count] = from->buffer[r->buffer];
    if (!from->buffer[r->buffer].given_up)
      to->buffer_of[to->buffer[to->buffer_count].tile] = to->buffer_count + 1;
    renamed[r->buffer] = ++to->buffer_count;
    r->buffer = to->buffer_count - 1;
  }
  for (uint32_t slot = 0; slot < from->ready.most; slot++) {
    if (from->granted[slot].piece == CM_NONE)
      continue;
    const cm_piece *piece = &plan->pieces[from->granted[slot].piece];
    for (uint64_t k = piece->first_tile; k < piece->first_tile + piece->input_count + piece->output_count; k++) {
      uint32_t old = from->use[k];
      if (renamed[old] == 0) { /* overwritten */
        CM_TRY(CM_ROOM(plan->memory, to->buffer, &to->buffer_room, to->buffer_count + 1, error));
        to->buffer[to->buffer_count++] = from->buffer[old];
        renamed[old] = to->buffer_count;
      }
      to->use[k] = renamed[old] - 1;
    }
  }
  return CM_OK;
}

/* What is granted, in slots of the same numbers. */
static cm_status copy_granted(const cm_timing *from, cm_timing *to, cm_error *error)
{
  uint32_t *renamed;
  CM_TRY(begin_granting(to, error));
  CM_TRY(CM_ROOM(from->plan->memory, to->waiter, &to->waiter_capacity, from->waiter_count + 1, error));
  CM_TRY(CM_NEW(from->plan->memory, renamed, from->buffer_count + 1, error));
  memcpy(to->granted, from->granted, from->ready.most * sizeof *to->granted);
  memcpy(to->idle_slot, from->idle_slot, from->idle_slots * sizeof *to->idle_slot);
  if (from->waiter_count > 0)
    memcpy(to->waiter, from->waiter, from->waiter_count * sizeof *to->waiter);
  to->idle_slots = from->idle_slots;
  cm_ready_copy(&from->ready, &to->ready);
  cm_status status = copy_buffers(from, to, renamed, error);
  cm_free(renamed);
  return status;
}

cm_status cm_timing_copy(const cm_timing *from, cm_timing *to, cm_error *error)
{
  const cm_plan *plan = from->plan;
  uint32_t lanes = from->target->lane_count;
  *to = *from;
  to->lanes.lane = NULL;
  to->addresses.range = NULL;
  to->buffer = NULL;
  to->buffer_of = NULL;
  to->stored = NULL;
  to->next_use = NULL;
  to->arrive = to->more = to->promised = NULL;
  to->moved = NULL;
  to->use = NULL;
  to->granted = NULL;
  to->idle_slot = NULL;
  to->waiter = NULL;
  to->ready = (cm_ready){0};
  to->buffer_count = to->idle_slots = 0;
  to->buffer_room = to->addresses.room = to->waiter_capacity = 0;
  to->record = false;
  to->borrowed = true;
  if (make_places(to, error) != CM_OK || CM_NEW_ALL(plan->memory, error, CM_ARRAY(to->lanes.lane, lanes + 1),
                                                    CM_ARRAY(to->buffer_of, plan->tile_count + 1),
                                                    CM_ARRAY(to->stored, plan->tile_count + 1)) != CM_OK ||
      (from->arrive != NULL && CM_NEW(plan->memory, to->arrive, plan->hops.stations, error) != CM_OK) ||
      CM_ROOM(plan->memory, to->addresses.range, &to->addresses.room, from->addresses.count + 1, error) != CM_OK ||
      CM_ROOM(plan->memory, to->buffer, &to->buffer_room, from->addresses.count + 1, error) != CM_OK)
    return error->status;
  if (from->promised != NULL)
    memcpy(to->promised, from->promised, lanes * sizeof *to->promised);
  memcpy(to->lanes.lane, from->lanes.lane, lanes * sizeof *to->lanes.lane);
  memcpy(to->stored, from->stored, plan->tile_count * sizeof *to->stored);
  memcpy(to->addresses.range, from->addresses.range, from->addresses.count * sizeof *to->addresses.range);
  return copy_granted(from, to, error);
}

void cm_timing_end(cm_timing *t)
{
  CM_FREE(t->lanes.lane, t->arrive, t->more, t->promised, t->moved, t->use, t->granted, t->idle_slot);
  cm_ready_end(&t->ready);
  cm_free(t->waiter);
  cm_addresses_end(&t->addresses);
  CM_FREE(t->buffer, t->buffer_of, t->stored, t->next_use);
  if (!t->borrowed) {
    CM_FREE(t->live, t->live_peak);
  }
}

cm_status cm_timetable_make(cm_plan *plan, const cm_sequence *sequence, bool record, cm_run *run, cm_timetable *timetable, cm_error *error)
{
  cm_timetable made = {0};
  cm_timing t = {.plan = plan, .sequence = sequence, .run = run, .record = record, .out = &made};
  cm_status status = cm_timing_begin(&t, error);
  while (status == CM_OK && t.now < sequence->piece_count)
    status = cm_timing_step(&t, error);
  CM_THEN(status, cm_timing_finish(&t, error));
  CM_THEN(status, finish(&t, error));
  cm_timing_end(&t);
  CM_END(status, *timetable = made, cm_timetable_free(&made));
}

void cm_timetable_free(cm_timetable *timetable)
{
  CM_FREE(timetable->tasks, timetable->buffers, timetable->use, timetable->layer_ns);
  *timetable = (cm_timetable){0};
}
