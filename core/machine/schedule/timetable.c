/* Memory in the order of the sequence, execution out of order. What can fail: memory. */
#include <math.h>
#include <string.h>

#include "core/machine/cost.h"
#include "core/machine/schedule/timing.h"

/* ---- pieces ---- */

/* Bytes that the piece needs and that do not lie on the chip; pins what does. */
static uint64_t missing(cm_timing *t, const cm_piece *piece)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  uint64_t bytes = 0;
  t->stamp++;
  for (uint32_t i = 0; i < piece->input_count; i++) {
    uint32_t b = t->buffer_of[inputs[i]];
    if (b != 0)
      t->buffer[b - 1].pinned = t->stamp;
    else
      bytes += t->plan->tiles[inputs[i]].bytes;
  }
  for (uint32_t o = 0; o < piece->output_count; o++)
    bytes += t->plan->tiles[inputs[piece->input_count + o]].bytes;
  return bytes;
}

/* The output may lie where an input lies that nobody reads after. */
static bool may_overwrite(const cm_timing *t, const cm_piece *piece)
{
  if (piece->in_place == CM_NONE || piece->output_count != 1)
    return false;
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++)
    if (inputs[i] == piece->in_place)
      return t->next_use[piece->first_tile + i] == CM_NEVER;
  return false;
}

/* Sets t->ns for a piece: what it takes on the device that has it. */
static void piece_ns(cm_timing *t, const cm_piece *piece)
{
  const cm_plan_op *op = &t->plan->ops[piece->op];
  memset(t->ns, 0, sizeof t->ns);
  t->ns[piece->device] = cm_compute_ns(t->target, &t->target->device[piece->device], &piece->work, op->rates[piece->device]);
}

/* When all that a piece reads is there; by station in t->arrive. */
static void await_inputs(cm_timing *t, const cm_piece *piece, bool there, double *ready)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  cm_timing_await_none(t);
  for (uint32_t i = 0; i < piece->input_count && there; i++) {
    const cm_on_chip *r = &t->buffer[t->buffer_of[inputs[i]] - 1];
    *ready = r->ready > *ready ? r->ready : *ready;
    cm_timing_await(t, r);
  }
}

/* Room for all that a piece reads and makes. *there is false when what is pinned lies in the way. */
static cm_status gather(cm_timing *t, const cm_piece *piece, uint32_t *made, double *ready, bool *there, cm_error *error)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  if (cm_timing_make_share(t, missing(t, piece), error) != CM_OK)
    return error->status;
  *ready = 0;
  *there = true;
  for (uint32_t i = 0; i < piece->input_count && *there; i++)
    if (t->buffer_of[inputs[i]] == 0 && cm_timing_load(t, inputs[i], there, error) != CM_OK)
      return error->status;
  await_inputs(t, piece, *there, ready);
  if (!*there || may_overwrite(t, piece))
    return CM_OK;
  piece_ns(t, piece);
  double start = cm_lanes_find(&t->lanes, t->ns, *ready, t->arrive).start;
  for (uint32_t o = 0; o < piece->output_count && *there; o++) {
    double free_ns;
    if (cm_timing_place(t, inputs[piece->input_count + o], start, &made[o], &free_ns, error) != CM_OK)
      return error->status;
    *there = made[o] != CM_NO_BUFFER;
    *ready = *there && free_ns > *ready ? free_ns : *ready;
  }
  return CM_OK;
}

/* The room of the input that dies becomes the output's. */
static cm_status overwrite(cm_timing *t, const cm_piece *piece, uint32_t *made, double *ready, cm_error *error)
{
  uint32_t old = t->buffer_of[piece->in_place] - 1, tile = cm_piece_outputs(t->plan, piece)[0];
  if (CM_ROOM(t->plan->memory, t->buffer, &t->buffer_room, t->buffer_count + 1, error) != CM_OK)
    return error->status;
  if (t->buffer[old].touched)
    *ready = fmax(*ready, t->buffer[old].last);
  *made = t->buffer_count++;
  t->buffer[*made] = (cm_on_chip){.tile = tile, .address = t->buffer[old].address, .next = CM_NEVER, .pinned = t->stamp};
  t->buffer_of[piece->in_place] = 0;
  t->buffer_of[tile] = *made + 1;
  cm_addresses_rename(&t->addresses, t->buffer[old].address, *made);
  return CM_OK;
}

/* After a piece: what nobody reads any more is given up, what has to lie outside is stored. */
static cm_status settle(cm_timing *t, const cm_piece *piece, const uint32_t *made, const cm_slot *slot, cm_error *error)
{
  double end = slot->start + slot->ns, known = end + cm_hop_farthest(&t->plan->hops, slot->lane);
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++) {
    uint32_t b = t->buffer_of[inputs[i]];
    if (b == 0)
      continue; /* overwritten */
    cm_on_chip *r = &t->buffer[b - 1];
    r->next = t->next_use[piece->first_tile + i];
    r->last = known > r->last ? known : r->last;
    r->touched = true;
    t->ahead_bytes -= r->ahead ? t->plan->tiles[r->tile].bytes : 0;
    r->ahead = false;
    if (r->next == CM_NEVER)
      cm_timing_release(t, b - 1);
  }
  for (uint32_t o = 0; o < piece->output_count; o++) {
    cm_on_chip *r = &t->buffer[made[o]];
    r->next = t->next_use[piece->first_tile + piece->input_count + o];
    r->ready = end;
    r->last = known;
    r->lane = slot->lane;
    r->dirty = true;
    if (t->plan->tiles[r->tile].must_home && cm_timing_store(t, made[o], error) != CM_OK)
      return error->status;
    if (t->buffer[made[o]].next == CM_NEVER)
      cm_timing_release(t, made[o]);
  }
  return CM_OK;
}

static void note_uses(cm_timing *t, const cm_piece *piece, const uint32_t *made)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; t->record && i < piece->input_count; i++)
    t->out->use[piece->first_tile + i] = t->buffer_of[inputs[i]] - 1;
  for (uint32_t o = 0; t->record && o < piece->output_count; o++)
    t->out->use[piece->first_tile + piece->input_count + o] = made[o];
}

static cm_status run_piece(cm_timing *t, uint32_t number, cm_error *error)
{
  const cm_piece *piece = &t->plan->pieces[number];
  double ready;
  uint32_t few[8], *made = few;
  bool there;
  if (piece->output_count > 8 && CM_NEW(t->plan->memory, made, piece->output_count, error) != CM_OK)
    return error->status;
  cm_status status = gather(t, piece, made, &ready, &there, error);
  if (status == CM_OK && !there && (status = cm_timing_clear(t, error)) == CM_OK)
    status = gather(t, piece, made, &ready, &there, error);
  if (status == CM_OK && !there)
    status = cm_fail(error, CM_INTERNAL, "the buffers of one piece do not fit on the chip");
  bool in_place = status == CM_OK && may_overwrite(t, piece);
  if (in_place) {
    uint32_t before = t->buffer_of[piece->in_place] - 1;
    status = overwrite(t, piece, made, &ready, error);
    t->buffer_of[piece->in_place] = before + 1; /* until it is noted */
  }
  if (status == CM_OK) {
    cm_timed_task task = {.kind = CM_TASK_RUN, .number = number};
    note_uses(t, piece, made);
    if (in_place)
      t->buffer_of[piece->in_place] = 0;
    double again = 0;
    if (!in_place)
      await_inputs(t, piece, true, &again); /* stores of what was given up for it came between */
    piece_ns(t, piece);
    cm_slot slot = cm_lanes_find(&t->lanes, t->ns, ready, t->arrive);
    task.lane = slot.lane;
    task.start = slot.start;
    task.end = slot.start + slot.ns;
    cm_lanes_take(&t->lanes, &slot);
    t->front = task.start;
    status = cm_timing_add(t, &task, error);
    if (status == CM_OK)
      status = settle(t, piece, made, &slot, error);
  }
  if (made != few)
    cm_free(made);
  return status;
}

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
  if (CM_NEW(t->plan->memory, t->next_use, t->plan->piece_tile_count + 1, error) != CM_OK ||
      CM_NEW(t->plan->memory, next, t->plan->tile_count + 1, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < t->plan->tile_count; i++)
    next[i] = CM_NEVER;
  cm_timing_uses(t, next);
  cm_free(next);
  return CM_OK;
}

cm_status cm_timing_begin(cm_timing *t, cm_error *error)
{
  cm_plan *plan = t->plan;
  if (cm_lanes_begin(&t->lanes, t->target, &plan->hops, plan->memory, error) != CM_OK ||
      cm_addresses_begin(&t->addresses, plan->memory_bytes, plan->memory, error) != CM_OK ||
      CM_NEW(plan->memory, t->buffer_of, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, t->stored, plan->tile_count + 1, error) != CM_OK ||
      find_next_uses(t, error) != CM_OK || cm_timing_live(t, error) != CM_OK ||
      (t->record && CM_NEW(plan->memory, t->out->use, plan->piece_tile_count + 1, error) != CM_OK))
    return error->status;
  if (plan->hops.stations > 1 && CM_NEW(plan->memory, t->arrive, plan->hops.stations, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < plan->tile_count; i++)
    t->stored[i] = -1;
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
  t->out->effort = t->effort + CM_EFFORT_OF_PIECE * t->sequence->piece_count;
  if (!t->record)
    return CM_OK;
  if (CM_NEW(t->plan->memory, t->out->buffers, t->buffer_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t b = 0; b < t->buffer_count; b++)
    t->out->buffers[b] = (cm_timed_buffer){t->buffer[b].tile, t->buffer[b].address};
  t->out->buffer_count = t->buffer_count;
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

cm_status cm_timing_step(cm_timing *t, cm_error *error)
{
  if ((t->now & 63) == 0) {
    forget_past(t);
    if (cm_run_check(t->run, error) != CM_OK)
      return error->status;
  }
  if (run_piece(t, t->sequence->pieces[t->now - t->first], error) != CM_OK)
    return error->status;
  t->now++;
  return cm_timing_ahead(t, error);
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
  to->arrive = NULL;
  to->buffer_count = 0;
  to->buffer_room = to->addresses.room = 0;
  to->record = false;
  to->borrowed = true;
  if (CM_NEW(plan->memory, to->lanes.lane, lanes + 1, error) != CM_OK ||
      CM_NEW(plan->memory, to->buffer_of, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, to->stored, plan->tile_count + 1, error) != CM_OK ||
      (from->arrive != NULL && CM_NEW(plan->memory, to->arrive, plan->hops.stations, error) != CM_OK) ||
      CM_ROOM(plan->memory, to->addresses.range, &to->addresses.room, from->addresses.count + 1, error) != CM_OK ||
      CM_ROOM(plan->memory, to->buffer, &to->buffer_room, from->addresses.count + 1, error) != CM_OK)
    return error->status;
  memcpy(to->lanes.lane, from->lanes.lane, lanes * sizeof *to->lanes.lane);
  memcpy(to->stored, from->stored, plan->tile_count * sizeof *to->stored);
  memcpy(to->addresses.range, from->addresses.range, from->addresses.count * sizeof *to->addresses.range);
  for (uint32_t i = 0; i < to->addresses.count; i++) {
    cm_range *r = &to->addresses.range[i];
    if (r->buffer == CM_NO_BUFFER)
      continue;
    to->buffer[to->buffer_count] = from->buffer[r->buffer];
    to->buffer_of[to->buffer[to->buffer_count].tile] = to->buffer_count + 1;
    r->buffer = to->buffer_count++;
  }
  return CM_OK;
}

void cm_timing_end(cm_timing *t)
{
  cm_free(t->lanes.lane);
  cm_free(t->arrive);
  cm_addresses_end(&t->addresses);
  cm_free(t->buffer);
  cm_free(t->buffer_of);
  cm_free(t->stored);
  cm_free(t->next_use);
  if (!t->borrowed) {
    cm_free(t->live);
    cm_free(t->live_peak);
  }
}

cm_status cm_timetable_make(cm_plan *plan, const cm_sequence *sequence, const cm_target *target,
                            const cm_settings *settings, bool record, cm_run *run, cm_timetable *timetable, cm_error *error)
{
  cm_timetable made = {0};
  cm_timing t = {.plan = plan, .sequence = sequence, .target = target, .settings = settings, .run = run,
                 .record = record, .out = &made};
  cm_status status = cm_timing_begin(&t, error);
  while (status == CM_OK && t.now < sequence->piece_count)
    status = cm_timing_step(&t, error);
  if (status == CM_OK)
    status = finish(&t, error);
  cm_timing_end(&t);
  if (status != CM_OK) {
    cm_timetable_free(&made);
    return status;
  }
  *timetable = made;
  return CM_OK;
}

void cm_timetable_free(cm_timetable *timetable)
{
  cm_free(timetable->tasks);
  cm_free(timetable->buffers);
  cm_free(timetable->use);
  *timetable = (cm_timetable){0};
}
