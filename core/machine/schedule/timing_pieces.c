/* Pieces between their memory and their lane. Memory is granted in the order of the sequence; of the pieces that have it
 * the one that can begin first takes a lane, among several the first of the sequence, so that no lane waits for a piece
 * while another could run there. What can fail: memory. */
#include <math.h>
#include <string.h>

#include "core/machine/cost.h"
#include "core/machine/schedule/timing.h"

/* ---- granting ---- */

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
      return t->next_use[piece->first_tile + i] == CM_NEVER && t->buffer[t->buffer_of[inputs[i]] - 1].held == 0;
  return false;
}

/* Sets t->ns for a piece: what it takes on the device that has it. */
static void piece_ns(cm_timing *t, const cm_piece *piece)
{
  const cm_plan_op *op = &t->plan->ops[piece->op];
  memset(t->ns, 0, sizeof t->ns);
  t->ns[piece->device] = cm_compute_ns(t->target, &t->target->device[piece->device], &piece->work, op->rates[piece->device]);
}

/* When a piece will about begin, as if nothing else were granted; what granted pieces make is guessed like that too. */
static double guess_start(cm_timing *t, const cm_piece *piece, double ready)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++) {
    const cm_on_chip *r = &t->buffer[t->buffer_of[inputs[i]] - 1];
    ready = r->ready > ready ? r->ready : ready;
  }
  piece_ns(t, piece);
  return cm_lanes_find(&t->lanes, t->ns, ready, (cm_at_stations){NULL, NULL}).start;
}

/* Room for what a piece makes. *there is false when what is pinned lies in the way, or what is given up only later. */
static cm_status place_outputs(cm_timing *t, const cm_piece *piece, uint32_t *made, double *ready, bool *there, cm_error *error)
{
  const uint32_t *outputs = cm_piece_outputs(t->plan, piece);
  const double start = guess_start(t, piece, 0);
  uint32_t o = 0;
  for (; o < piece->output_count && *there; o++) {
    double free_ns;
    CM_TRY(cm_timing_place(t, outputs[o], start, &made[o], &free_ns, error));
    *there = made[o] != CM_NO_BUFFER;
    *ready = *there && free_ns > *ready ? free_ns : *ready;
  }
  for (o -= *there ? 0 : 1; !*there && o-- > 0;) {
    t->buffer[made[o]].filled = true;
    CM_TRY(cm_timing_give_up(t, made[o], error));
  }
  return CM_OK;
}

/* Room for all that a piece reads and makes, and loads of what it reads. *there is false when what is pinned lies in the
 * way, or what is given up only later. */
static cm_status gather(cm_timing *t, const cm_piece *piece, uint32_t *made, double *ready, bool *there, cm_error *error)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  CM_TRY(cm_timing_make_share(t, missing(t, piece), error));
  *ready = 0;
  *there = true;
  piece_ns(t, piece);
  cm_timing_choose_home(t, piece);
  for (uint32_t i = 0; i < piece->input_count && *there; i++)
    CM_TRY_IF(t->buffer_of[inputs[i]] == 0, cm_timing_load(t, inputs[i], there, error));
  return !*there || may_overwrite(t, piece) ? CM_OK : place_outputs(t, piece, made, ready, there, error);
}

/* The room of the input that dies becomes the output's. */
static cm_status overwrite(cm_timing *t, const cm_piece *piece, uint32_t *made, cm_error *error)
{
  uint32_t old = t->buffer_of[piece->in_place] - 1, tile = cm_piece_outputs(t->plan, piece)[0];
  CM_TRY(CM_ROOM(t->plan->memory, t->buffer, &t->buffer_room, t->buffer_count + 1, error));
  *made = t->buffer_count++;
  t->buffer[*made] = (cm_on_chip){.tile = tile, .address = t->buffer[old].address, .next = CM_NEVER, .pinned = t->stamp};
  t->buffer_of[tile] = *made + 1;
  t->buffer[old].overwritten = t->buffer[old].given_up = true;
  cm_addresses_rename(&t->addresses, t->buffer[old].address, *made);
  return CM_OK;
}

/* The buffers that a piece uses are held for it; it waits for those that are not filled. */
static cm_status hold(cm_timing *t, uint32_t slot, const uint32_t *made, cm_error *error)
{
  cm_granted *g = &t->granted[slot];
  const cm_piece *piece = &t->plan->pieces[g->piece];
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  uint32_t *use = t->use + piece->first_tile;
  const double start = guess_start(t, piece, g->ready), end = start + t->ns[piece->device];
  for (uint32_t i = 0; i < piece->input_count; i++) {
    cm_on_chip *r = &t->buffer[t->buffer_of[inputs[i]] - 1];
    use[i] = t->buffer_of[inputs[i]] - 1;
    r->held++;
    r->next = t->next_use[piece->first_tile + i];
    t->ahead_bytes -= r->ahead ? t->plan->tiles[r->tile].bytes : 0;
    r->ahead = false;
    if (r->filled) {
      g->ready = fmax(g->ready, r->ready);
      continue;
    }
    uint32_t node = t->free_waiter;
    if (node != 0)
      t->free_waiter = t->waiter[node - 1].next;
    else {
      CM_TRY(CM_ROOM(t->plan->memory, t->waiter, &t->waiter_capacity, t->waiter_count + 1, error));
      node = ++t->waiter_count;
    }
    t->waiter[node - 1] = (cm_waiter){slot, r->waiters};
    r->waiters = node;
    g->waits++;
  }
  for (uint32_t o = 0; o < piece->output_count; o++) {
    use[piece->input_count + o] = made[o];
    t->buffer[made[o]].next = t->next_use[piece->first_tile + piece->input_count + o];
    t->buffer[made[o]].lane = CM_NONE;
    t->buffer[made[o]].ready = end;
  }
  if (g->in_place)
    t->buffer_of[piece->in_place] = 0;
  /* What nobody reads any more. */
  for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
    CM_TRY_IF(t->buffer_of[inputs[i]] != 0 && t->buffer[use[i]].next == CM_NEVER, cm_timing_give_up(t, use[i], error));
  return CM_OK;
}

/* The next piece of the sequence gets its memory; *there is false when that has to wait for pieces that have theirs. */
static cm_status grant(cm_timing *t, uint32_t number, bool *there, cm_error *error)
{
  const cm_piece *piece = &t->plan->pieces[number];
  double ready;
  uint32_t few[8], *made = few;
  CM_TRY_IF(piece->output_count > 8, CM_NEW(t->plan->memory, made, piece->output_count, error));
  cm_status status = gather(t, piece, made, &ready, there, error);
  if (status == CM_OK && !*there && t->granted_count == 0) {
    status = cm_timing_clear(t, error);
    CM_THEN(status, gather(t, piece, made, &ready, there, error));
    if (status == CM_OK && !*there) /* in parts, or of what has no elements */
      status = cm_plan_too_small(t->plan, t->plan->ops[piece->op].call.node, 2 * t->plan->cut_bytes, error);
  }
  if (status == CM_OK && *there) {
    uint32_t slot = t->idle_slot[--t->idle_slots];
    cm_granted *g = &t->granted[slot];
    *g = (cm_granted){.piece = number, .place = (uint32_t)t->now, .ready = ready, .in_place = may_overwrite(t, piece)};
    t->granted_count++;
    if (g->in_place)
      status = overwrite(t, piece, made, error);
    CM_THEN(status, hold(t, slot, made, error));
    if (status == CM_OK && g->waits == 0)
      cm_ready_add(&t->ready, &(cm_ready_piece){g->ready, piece->device, g->place, slot});
  }
  if (made != few)
    cm_free(made);
  return status;
}

/* ---- running ---- */

/* A buffer is filled: who waits for it may run. */
static void wake(cm_timing *t, cm_on_chip *r)
{
  for (uint32_t node = r->waiters, next; node != 0; node = next) {
    cm_waiter *w = &t->waiter[node - 1];
    cm_granted *g = &t->granted[w->slot];
    g->ready = fmax(g->ready, r->ready);
    if (--g->waits == 0)
      cm_ready_add(&t->ready, &(cm_ready_piece){g->ready, t->plan->pieces[g->piece].device, g->place, w->slot});
    next = w->next;
    w->next = t->free_waiter;
    t->free_waiter = node;
  }
  r->waiters = 0;
  r->filled = true;
}

/* After a piece: room that it was the last to use is free, what has to lie outside is stored. */
static cm_status settle(cm_timing *t, const cm_granted *g, const cm_slot *slot, cm_error *error)
{
  const cm_piece *piece = &t->plan->pieces[g->piece];
  double end = slot->start + slot->ns, known = end + cm_hop_farthest(&t->plan->hops, slot->lane);
  const uint32_t *use = t->use + piece->first_tile;
  for (uint32_t i = 0; i < piece->input_count; i++) {
    cm_on_chip *r = &t->buffer[use[i]];
    r->last = known > r->last ? known : r->last;
    r->touched = true;
    r->held--;
    CM_TRY(cm_timing_release(t, use[i], error));
  }
  for (uint32_t o = 0; o < piece->output_count; o++) {
    uint32_t made = use[piece->input_count + o];
    cm_on_chip *r = &t->buffer[made];
    r->ready = end;
    r->last = known;
    r->lane = slot->lane;
    const cm_tile *tile = &t->plan->tiles[r->tile];
    r->dirty = !tile->host;
    wake(t, r);
    if (tile->host) {
      t->stored[r->tile] = known;
      t->changed = true;
    } else if (tile->must_home && cm_timing_store(t, made, error) != CM_OK)
      return error->status;
    CM_TRY(cm_timing_release(t, made, error));
  }
  return CM_OK;
}

static cm_status run_one(cm_timing *t, cm_error *error)
{
  const uint32_t slot_number = cm_ready_take(&t->ready, &t->lanes).number;
  const cm_granted g = t->granted[slot_number];
  const cm_piece *piece = &t->plan->pieces[g.piece];
  const uint32_t *use = t->use + piece->first_tile;
  double ready = g.ready;
  t->idle_slot[t->idle_slots++] = slot_number;
  t->granted[slot_number].piece = CM_NONE;
  t->granted_count--;
  cm_timing_await_none(t);
  for (uint32_t i = 0; i < piece->input_count; i++)
    cm_timing_await(t, &t->buffer[use[i]]);
  for (uint32_t i = 0; g.in_place && i < piece->input_count; i++)
    if (cm_piece_inputs(t->plan, piece)[i] == piece->in_place && t->buffer[use[i]].touched)
      ready = fmax(ready, t->buffer[use[i]].last);
  piece_ns(t, piece);
  cm_timing_piece_more(t, piece, use);
  const cm_slot slot = cm_timing_find_slot(t, ready, true);
  const cm_timed_task task = {.kind = CM_TASK_RUN, .number = g.piece, .lane = slot.lane, .start = slot.start,
                              .end = slot.start + slot.ns};
  cm_lanes_take(&t->lanes, &slot);
  t->front = task.start;
  return cm_timing_add(t, &task, error) == CM_OK ? settle(t, &g, &slot, error) : error->status;
}

cm_status cm_timing_finish(cm_timing *t, cm_error *error)
{
  while (t->granted_count > 0)
    CM_TRY(run_one(t, error));
  return CM_OK;
}

cm_status cm_timing_next(cm_timing *t, cm_error *error)
{
  for (bool there = false;;) {
    CM_TRY(grant(t, t->sequence->pieces[t->now - t->first], &there, error));
    if (there)
      break;
    for (t->changed = false; !t->changed && t->granted_count > 0;)
      CM_TRY(run_one(t, error));
  }
  t->now++;
  while (t->granted_count > 0 && (double)t->granted_count >= t->settings->window)
    CM_TRY(run_one(t, error));
  return CM_OK;
}
