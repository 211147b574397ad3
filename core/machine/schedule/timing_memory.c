/* The memory over time: buffers are filled, stored and given up. What can fail: memory. */
#include <math.h>

#include "core/machine/cost.h"
#include "core/machine/schedule/timing.h"

/* Ports lag behind when a transfer over all of them has to wait for so many times what it takes; parts are so many times as
 * large then. */
static const double BACKLOG = 4;

uint32_t cm_transfer_axis(const cm_box *box)
{
  for (uint32_t i = 0; i < box->rank; i++)
    if (box->to[i] - box->from[i] > 1)
      return i;
  return 0;
}

/* ---- tasks ---- */

cm_status cm_timing_add(cm_timing *t, const cm_timed_task *task, cm_error *error)
{
  if (task->end > t->out->time_ns)
    t->out->time_ns = task->end;
  if (!t->record)
    return CM_OK;
  CM_TRY(CM_ROOM(t->plan->memory, t->out->tasks, &t->task_capacity, t->out->task_count + 1, error));
  t->out->tasks[t->out->task_count++] = *task;
  return CM_OK;
}

void cm_timing_transfer_ns(cm_timing *t, uint64_t bytes)
{
  for (uint32_t d = 0; d < t->target->device_count; d++)
    t->ns[d] = t->target->device[d].moves ? cm_transfer_ns(t->target, &t->target->device[d], bytes) : 0;
}

void cm_timing_await_none(cm_timing *t)
{
  for (uint32_t s = 0; t->arrive != NULL && s < t->plan->hops.stations; s++)
    t->arrive[s] = 0;
}

void cm_timing_await(cm_timing *t, const cm_on_chip *buffer)
{
  const cm_hop_times *hops = &t->plan->hops;
  if (t->arrive == NULL || buffer->lane == CM_NONE)
    return;
  const double *ns = hops->ns + (size_t)hops->station[buffer->lane] * hops->stations;
  for (uint32_t s = 0; s < hops->stations; s++) {
    double there = buffer->ready + ns[s];
    t->arrive[s] = t->arrive[s] < there ? there : t->arrive[s];
  }
}

/* The least that a part of a transfer should have. Where ports have so much to do that its room is free long before one
 * of them is, they are what limits: parts only cost latency, so there are few. */
static double part_bytes(cm_timing *t, uint64_t bytes, double ready)
{
  cm_timing_transfer_ns(t, bytes / t->ports);
  const cm_slot slot = cm_lanes_find(&t->lanes, t->ns, ready, (cm_at_stations){t->arrive, NULL});
  return slot.start > ready + BACKLOG * slot.ns ? BACKLOG * t->split_bytes : t->split_bytes;
}

/* Loads or stores a buffer on as many ports as pay. *end is when the last part is done: of one part (*lane) as seen
 * there, of several (CM_NONE) as seen from every core. What t->arrive says is awaited. */
static cm_status transfer(cm_timing *t, cm_task_kind kind, uint32_t number, double ready, double *end,
                          uint32_t *lane, cm_error *error)
{
  const cm_tile *tile = &t->plan->tiles[t->buffer[number].tile];
  uint64_t bytes = cm_plan_bytes(t->plan, tile->value, &tile->box);
  uint32_t ports = t->ports, axis = cm_transfer_axis(&tile->box), parts = 1;
  int64_t extent = tile->box.rank > 0 ? tile->box.to[axis] - tile->box.from[axis] : 1;
  if (ports > 1 && extent > 1 && (double)bytes >= 2 * t->split_bytes) {
    double most = (double)bytes / part_bytes(t, bytes, ready);
    parts = most < 1 ? 1 : most < ports ? (uint32_t)most : ports;
    parts = extent < (int64_t)parts ? (uint32_t)extent : parts;
  }
  uint64_t row = extent > 0 ? bytes / (uint64_t)extent : 0;
  *end = ready;
  for (uint32_t p = 0; p < parts; p++) {
    cm_timed_task task = {.kind = kind, .number = t->buffer[number].tile, .buffer = number,
                    .from = extent * (int64_t)p / (int64_t)parts, .to = extent * ((int64_t)p + 1) / (int64_t)parts};
    const uint64_t part = parts > 1 ? (uint64_t)(task.to - task.from) * row : bytes;
    cm_timing_transfer_ns(t, part);
    cm_timing_transfer_more(t, t->buffer[number].address, part);
    cm_slot slot = cm_timing_find_slot(t, ready, true);
    task.lane = slot.lane;
    task.start = slot.start;
    task.end = slot.start + slot.ns;
    cm_lanes_take(&t->lanes, &slot);
    *lane = parts > 1 ? CM_NONE : slot.lane;
    *end = fmax(*end, task.end + (parts > 1 ? cm_hop_farthest(&t->plan->hops, slot.lane) : 0));
    CM_TRY(cm_timing_add(t, &task, error));
  }
  *(kind == CM_TASK_STORE ? &t->out->traffic.stored : tile->constant ? &t->out->traffic.parameters
                                                                      : &t->out->traffic.loaded) += bytes;
  return CM_OK;
}

/* ---- memory ---- */

cm_status cm_timing_store(cm_timing *t, uint32_t number, cm_error *error)
{
  cm_on_chip *r = &t->buffer[number];
  double end;
  uint32_t lane;
  cm_timing_await_none(t);
  cm_timing_await(t, r);
  CM_TRY(transfer(t, CM_TASK_STORE, number, r->ready, &end, &lane, error));
  r = &t->buffer[number];
  end += lane != CM_NONE ? cm_hop_farthest(&t->plan->hops, lane) : 0;
  r->dirty = false;
  r->touched = true;
  r->last = end > r->last ? end : r->last;
  t->stored[r->tile] = end;
  t->changed = true;
  return CM_OK;
}

/* A granted piece reads it or makes it. */
static bool busy(const cm_on_chip *r)
{
  return r->held > 0 || !r->filled;
}

cm_status cm_timing_release(cm_timing *t, uint32_t number, cm_error *error)
{
  const cm_on_chip *r = &t->buffer[number];
  if (!r->given_up || r->overwritten || busy(r))
    return CM_OK;
  CM_TRY_IF(r->dirty && r->next != CM_NEVER, cm_timing_store(t, number, error));
  cm_addresses_free(&t->addresses, r->address, r->last, t->past);
  t->changed = true;
  return CM_OK;
}

cm_status cm_timing_give_up(cm_timing *t, uint32_t number, cm_error *error)
{
  cm_on_chip *r = &t->buffer[number];
  r->given_up = true;
  t->used_bytes -= t->plan->tiles[r->tile].bytes;
  t->ahead_bytes -= r->ahead ? t->plan->tiles[r->tile].bytes : 0;
  t->buffer_of[r->tile] = 0;
  return cm_timing_release(t, number, error);
}

/* What giving a buffer up costs per byte: storing and loading it, the less the later it is needed. */
static double price(const cm_timing *t, const cm_on_chip *r)
{
  if (r->given_up)
    return 0;
  return (r->dirty ? 2.0 : 1.0) / (double)(r->next > t->now ? r->next - t->now : 1);
}

/* Gives up what is needed last until the sequence holds no more than its share; what the piece needs stays. */
cm_status cm_timing_make_share(cm_timing *t, uint64_t bytes, cm_error *error)
{
  while (t->used_bytes + bytes > t->capacity) {
    uint32_t victim = CM_NO_BUFFER;
    double least = HUGE_VAL;
    t->effort += t->addresses.count;
    for (uint32_t i = 0; i < t->addresses.count; i++) {
      uint32_t b = t->addresses.range[i].buffer;
      if (b == CM_NO_BUFFER || t->buffer[b].pinned == t->stamp || t->buffer[b].given_up)
        continue;
      double p = price(t, &t->buffer[b]);
      if (p < least) {
        least = p;
        victim = b;
      }
    }
    if (victim == CM_NO_BUFFER)
      return CM_OK;
    CM_TRY(cm_timing_give_up(t, victim, error));
  }
  return CM_OK;
}

/* Gives up the neighbours that cost least to make a window of `bytes`; false when what is pinned leaves none. */
static cm_status clear_window(cm_timing *t, uint64_t bytes, bool *cleared, cm_error *error)
{
  const cm_addresses *a = &t->addresses;
  uint32_t best_first = 0, best_last = 0;
  double best = HUGE_VAL, sum = 0;
  for (uint32_t first = 0, last = 0; last < a->count; last++) {
    const cm_range *r = &a->range[last];
    if (r->first) {
      first = last;
      sum = 0;
    }
    if (r->buffer != CM_NO_BUFFER && t->buffer[r->buffer].pinned == t->stamp) {
      first = last + 1;
      sum = 0;
      continue;
    }
    sum += r->buffer != CM_NO_BUFFER ? price(t, &t->buffer[r->buffer]) * (double)(r->to - r->from) : 0;
    for (; first <= last && r->to - a->range[first].from >= bytes; first++) {
      if (sum < best) {
        best = sum;
        best_first = first;
        best_last = last;
      }
      const cm_range *f = &a->range[first];
      sum -= f->buffer != CM_NO_BUFFER ? price(t, &t->buffer[f->buffer]) * (double)(f->to - f->from) : 0;
    }
  }
  *cleared = best < HUGE_VAL;
  for (uint32_t i = best_first; *cleared && i <= best_last; i++)
    *cleared = a->range[i].buffer == CM_NO_BUFFER || !busy(&t->buffer[a->range[i].buffer]);
  if (!*cleared)
    return CM_OK;
  uint64_t from = a->range[best_first].from, to = a->range[best_last].to;
  for (;;) {
    uint32_t victim = CM_NO_BUFFER;
    for (uint32_t i = 0; i < a->count && victim == CM_NO_BUFFER; i++)
      if (a->range[i].from >= from && a->range[i].to <= to)
        victim = a->range[i].buffer;
    if (victim == CM_NO_BUFFER)
      return CM_OK;
    CM_TRY(cm_timing_give_up(t, victim, error));
  }
}

cm_status cm_timing_place(cm_timing *t, uint32_t tile, double ready, uint32_t *number, double *free_ns, cm_error *error)
{
  uint64_t bytes = t->plan->tiles[tile].bytes > 0 ? t->plan->tiles[tile].bytes : CM_ALIGNMENT, address;
  const cm_room_wish wish = {bytes, ready, t->plan->tiles[tile].constant};
  cm_window window;
  t->effort += t->addresses.count;
  bool there = cm_timing_find_room(t, &wish, &window);
  if (!there) {
    CM_TRY(clear_window(t, bytes, &there, error));
    there = there && cm_timing_find_room(t, &wish, &window);
  }
  *number = CM_NO_BUFFER;
  if (!there)
    return CM_OK;
  CM_TRY(CM_ROOM(t->plan->memory, t->buffer, &t->buffer_room, t->buffer_count + 1, error));
  CM_TRY(cm_addresses_take(&t->addresses, &window, &wish, t->buffer_count, &address, error));
  *free_ns = window.free_ns;
  *number = t->buffer_count++;
  t->buffer[*number] = (cm_on_chip){.tile = tile, .address = address, .next = CM_NEVER, .pinned = t->stamp, .last = window.free_ns};
  t->buffer_of[tile] = *number + 1;
  t->used_bytes += t->plan->tiles[tile].bytes;
  return CM_OK;
}

/* Whether a granted piece makes some of what is loaded from outside. */
static bool in_making(const cm_timing *t, uint32_t number)
{
  const cm_tile *tile = &t->plan->tiles[number];
  cm_cells cells;
  bool missing = tile->grid && tile->piece != CM_NONE && t->stored[number] < 0;
  for (bool more = !tile->grid && cm_cells_begin(t->plan, tile, &cells); more && !missing;
       more = cm_cells_next(&cells))
    missing = t->stored[cm_cells_tile(&cells)] < 0;
  return missing;
}

/* When what is loaded from outside lies there. */
static double outside_ready(const cm_timing *t, uint32_t number)
{
  const cm_tile *tile = &t->plan->tiles[number];
  double ready = tile->grid && t->stored[number] > 0 ? t->stored[number] : 0;
  cm_cells cells;
  for (bool more = !tile->grid && cm_cells_begin(t->plan, tile, &cells); more; more = cm_cells_next(&cells))
    ready = t->stored[cm_cells_tile(&cells)] > ready ? t->stored[cm_cells_tile(&cells)] : ready;
  return ready;
}

cm_status cm_timing_load(cm_timing *t, uint32_t tile, bool *there, cm_error *error)
{
  uint32_t number, lane;
  double ready = outside_ready(t, tile), free_ns, end;
  *there = t->granted_count == 0 || !in_making(t, tile);
  if (!*there)
    return CM_OK;
  cm_timing_transfer_ns(t, t->plan->tiles[tile].bytes);
  CM_TRY(cm_timing_place(t, tile, cm_lanes_find(&t->lanes, t->ns, ready, (cm_at_stations){NULL, NULL}).start, &number, &free_ns, error));
  *there = number != CM_NO_BUFFER;
  if (!*there)
    return CM_OK;
  cm_timing_await_none(t);
  end = ready;
  lane = CM_NONE;
  CM_TRY_IF(!t->plan->tiles[tile].host, transfer(t, CM_TASK_LOAD, number, free_ns > ready ? free_ns : ready, &end, &lane, error));
  t->buffer[number].filled = true;
  t->buffer[number].ready = end;
  t->buffer[number].lane = lane;
  t->buffer[number].last = end + (lane != CM_NONE ? cm_hop_farthest(&t->plan->hops, lane) : 0);
  return CM_OK;
}

cm_status cm_timing_clear(cm_timing *t, cm_error *error)
{
  for (uint32_t i = 0; i < t->addresses.count;) {
    uint32_t b = t->addresses.range[i].buffer;
    if (b == CM_NO_BUFFER) {
      i++;
      continue;
    }
    CM_TRY(cm_timing_give_up(t, b, error));
    i = 0;
  }
  double free_ns = 0;
  for (uint32_t i = 0; i < t->addresses.count; i++)
    free_ns = fmax(free_ns, t->addresses.range[i].free_ns);
  cm_addresses_clear(&t->addresses, free_ns);
  return CM_OK;
}
