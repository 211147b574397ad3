/* Memory in the order of the sequence, execution out of order. What can fail: memory. */
#include "core/machine/schedule/timetable.h"

#include <math.h>
#include <string.h>

#include "core/machine/cost.h"
#include "core/machine/schedule/addresses.h"
#include "core/machine/schedule/lanes.h"

enum { SPLIT_LATENCIES = 8 }; /* a part of a transfer takes at least so many latencies */

/* A tile on the chip. */
typedef struct resident {
  uint32_t tile;
  uint64_t address;
  double ready;  /* it is filled */
  double last;   /* the end of all that was done to it */
  uint64_t next; /* place in the sequence of the piece that reads it next; CM_NEVER */
  uint32_t pinned; /* stamp */
  bool dirty;    /* made, and not stored */
} resident;

typedef struct timing {
  cm_plan *plan;
  const cm_sequence *sequence;
  const cm_target *target;
  const cm_settings *settings;
  cm_run *run;
  cm_lanes lanes;
  cm_addresses addresses;
  resident *buffer;
  uint32_t buffer_count;
  uint64_t buffer_room, task_room, timed_room;
  uint32_t *buffer_of; /* by tile: number + 1 */
  double *stored;      /* by tile: when it lies outside; below 0: it does not */
  uint64_t *next_use;  /* by entry of plan->piece_tiles: place in the sequence of the piece that reads the tile next */
  uint64_t now;        /* place in the sequence */
  uint64_t used_bytes, capacity;
  uint32_t stamp;
  double past;         /* ports are busy up to then */
  double split_bytes;
  bool record;
  cm_timetable *out;
} timing;

uint32_t cm_transfer_axis(const cm_box *box)
{
  for (uint32_t i = 0; i < box->rank; i++)
    if (box->to[i] - box->from[i] > 1)
      return i;
  return 0;
}

/* ---- tasks ---- */

static cm_status add_task(timing *t, const cm_timed_task *task, cm_error *error)
{
  if (task->end > t->out->time_ns)
    t->out->time_ns = task->end;
  if (!t->record)
    return CM_OK;
  if (CM_ROOM(t->plan->memory, t->out->tasks, &t->task_room, t->out->task_count + 1, error) != CM_OK)
    return error->status;
  t->out->tasks[t->out->task_count++] = *task;
  return CM_OK;
}

/* Loads or stores a buffer on as many ports as pay. *end is when the last part is done. */
static cm_status transfer(timing *t, cm_task_kind kind, uint32_t number, double ready, double *end, cm_error *error)
{
  const cm_tile *tile = &t->plan->tiles[t->buffer[number].tile];
  uint64_t bytes = cm_plan_bytes(t->plan, tile->value, &tile->box);
  uint32_t ports = t->lanes.count[CM_UNIT_DATA], axis = cm_transfer_axis(&tile->box), parts = 1;
  int64_t extent = tile->box.rank > 0 ? tile->box.to[axis] - tile->box.from[axis] : 1;
  if (ports > 1 && extent > 1 && (double)bytes >= 2 * t->split_bytes) {
    double most = (double)bytes / t->split_bytes;
    parts = most < ports ? (uint32_t)most : ports;
    parts = extent < (int64_t)parts ? (uint32_t)extent : parts;
  }
  uint64_t row = extent > 0 ? bytes / (uint64_t)extent : 0;
  *end = ready;
  for (uint32_t p = 0; p < parts; p++) {
    cm_timed_task task = {.kind = kind, .number = t->buffer[number].tile, .buffer = number,
                    .from = extent * (int64_t)p / (int64_t)parts, .to = extent * ((int64_t)p + 1) / (int64_t)parts};
    double ns = cm_transfer_ns(t->target, parts > 1 ? (uint64_t)(task.to - task.from) * row : bytes);
    task.start = cm_lanes_earliest(&t->lanes, CM_UNIT_DATA, ready, ns, &task.lane);
    task.end = task.start + ns;
    cm_lanes_take(&t->lanes, task.lane, task.start, ns);
    *end = task.end > *end ? task.end : *end;
    if (add_task(t, &task, error) != CM_OK)
      return error->status;
  }
  *(kind == CM_TASK_STORE ? &t->out->traffic.stored : tile->constant ? &t->out->traffic.parameters
                                                                      : &t->out->traffic.loaded) += bytes;
  return CM_OK;
}

/* ---- memory ---- */

static cm_status store(timing *t, uint32_t number, cm_error *error)
{
  resident *r = &t->buffer[number];
  double end;
  if (transfer(t, CM_TASK_STORE, number, r->ready, &end, error) != CM_OK)
    return error->status;
  r->dirty = false;
  r->last = end > r->last ? end : r->last;
  t->stored[r->tile] = end;
  return CM_OK;
}

static void release(timing *t, uint32_t number)
{
  const resident *r = &t->buffer[number];
  t->used_bytes -= t->plan->tiles[r->tile].bytes;
  t->buffer_of[r->tile] = 0;
  cm_addresses_free(&t->addresses, r->address, r->last, t->past);
}

/* Gives a tile up that the present piece does not need. */
static cm_status evict(timing *t, uint32_t number, cm_error *error)
{
  const resident *r = &t->buffer[number];
  if (r->dirty && r->next != CM_NEVER && store(t, number, error) != CM_OK)
    return error->status;
  release(t, number);
  return CM_OK;
}

/* What giving a buffer up costs per byte: storing and loading it, the less the later it is needed. */
static double price(const timing *t, const resident *r)
{
  return (r->dirty ? 2.0 : 1.0) / (double)(r->next > t->now ? r->next - t->now : 1);
}

/* Gives up what is needed last until the sequence holds no more than its share; what the piece needs stays. */
static cm_status make_share(timing *t, uint64_t bytes, cm_error *error)
{
  while (t->used_bytes + bytes > t->capacity) {
    uint32_t victim = CM_NO_BUFFER;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < t->addresses.count; i++) {
      uint32_t b = t->addresses.range[i].buffer;
      if (b == CM_NO_BUFFER || t->buffer[b].pinned == t->stamp)
        continue;
      double p = price(t, &t->buffer[b]);
      if (p < least) {
        least = p;
        victim = b;
      }
    }
    if (victim == CM_NO_BUFFER)
      return CM_OK;
    if (evict(t, victim, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Gives up the neighbours that cost least to make a window of `bytes`; false when what is pinned leaves none. */
static cm_status clear_window(timing *t, uint64_t bytes, bool *cleared, cm_error *error)
{
  const cm_addresses *a = &t->addresses;
  uint32_t best_first = 0, best_last = 0;
  double best = HUGE_VAL, sum = 0;
  for (uint32_t first = 0, last = 0; last < a->count; last++) {
    const cm_range *r = &a->range[last];
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
    if (evict(t, victim, error) != CM_OK)
      return error->status;
  }
}

/* A buffer for a tile, free for it from *free_ns on. CM_NO_BUFFER: what is pinned leaves no room in one piece. */
static cm_status place(timing *t, uint32_t tile, double ready, uint32_t *number, double *free_ns, cm_error *error)
{
  uint64_t bytes = t->plan->tiles[tile].bytes > 0 ? t->plan->tiles[tile].bytes : CM_ALIGNMENT, address;
  cm_window window;
  bool there = cm_addresses_find(&t->addresses, bytes, ready, &window);
  if (!there) {
    if (clear_window(t, bytes, &there, error) != CM_OK)
      return error->status;
    there = there && cm_addresses_find(&t->addresses, bytes, ready, &window);
  }
  *number = CM_NO_BUFFER;
  if (!there)
    return CM_OK;
  if (CM_ROOM(t->plan->memory, t->buffer, &t->buffer_room, t->buffer_count + 1, error) != CM_OK ||
      cm_addresses_take(&t->addresses, &window, bytes, t->plan->tiles[tile].constant, t->buffer_count, &address, error) !=
          CM_OK)
    return error->status;
  *free_ns = window.free_ns;
  *number = t->buffer_count++;
  t->buffer[*number] = (resident){.tile = tile, .address = address, .next = CM_NEVER, .pinned = t->stamp};
  t->buffer_of[tile] = *number + 1;
  t->used_bytes += t->plan->tiles[tile].bytes;
  return CM_OK;
}

/* ---- pieces ---- */

/* When what is loaded from outside lies there. */
static double outside_ready(const timing *t, uint32_t number)
{
  const cm_tile *tile = &t->plan->tiles[number];
  double ready = tile->grid && t->stored[number] > 0 ? t->stored[number] : 0;
  cm_cells cells;
  for (bool more = !tile->grid && cm_cells_begin(t->plan, tile, &cells); more; more = cm_cells_next(&cells))
    ready = t->stored[cm_cells_tile(&cells)] > ready ? t->stored[cm_cells_tile(&cells)] : ready;
  return ready;
}

/* Loads a tile; *there is false when no room was found for it. */
static cm_status load(timing *t, uint32_t tile, bool *there, cm_error *error)
{
  uint32_t number, lane;
  double ready = outside_ready(t, tile), free_ns, end;
  double ns = cm_transfer_ns(t->target, t->plan->tiles[tile].bytes);
  double start = cm_lanes_earliest(&t->lanes, CM_UNIT_DATA, ready, ns, &lane);
  if (place(t, tile, start, &number, &free_ns, error) != CM_OK)
    return error->status;
  *there = number != CM_NO_BUFFER;
  if (!*there)
    return CM_OK;
  if (transfer(t, CM_TASK_LOAD, number, free_ns > ready ? free_ns : ready, &end, error) != CM_OK)
    return error->status;
  t->buffer[number].ready = t->buffer[number].last = end;
  return CM_OK;
}

/* Bytes that the piece needs and that do not lie on the chip; pins what does. */
static uint64_t missing(timing *t, const cm_piece *piece)
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
static bool may_overwrite(const timing *t, const cm_piece *piece)
{
  if (piece->in_place == CM_NONE || piece->output_count != 1)
    return false;
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++)
    if (inputs[i] == piece->in_place)
      return t->next_use[piece->first_tile + i] == CM_NEVER;
  return false;
}

/* What is left on the chip is stored where it is needed, and given up: the piece begins on an empty chip. */
static cm_status clear_chip(timing *t, cm_error *error)
{
  for (uint32_t i = 0; i < t->addresses.count;) {
    uint32_t b = t->addresses.range[i].buffer;
    if (b == CM_NO_BUFFER) {
      i++;
      continue;
    }
    if (evict(t, b, error) != CM_OK)
      return error->status;
    i = 0;
  }
  for (uint32_t i = 0; i < t->addresses.count; i++)
    if (t->addresses.range[i].free_ns > t->addresses.range[0].free_ns)
      t->addresses.range[0].free_ns = t->addresses.range[i].free_ns;
  t->addresses.range[0].to = t->plan->memory_bytes;
  t->addresses.count = 1;
  return CM_OK;
}

/* Room for all that a piece reads and makes. *there is false when what is pinned lies in the way. */
static cm_status gather(timing *t, const cm_piece *piece, double ns, uint32_t *made, double *ready, bool *there,
                        cm_error *error)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  cm_unit_kind kind = t->plan->ops[piece->op].matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR;
  uint32_t lane;
  if (make_share(t, missing(t, piece), error) != CM_OK)
    return error->status;
  *ready = 0;
  *there = true;
  for (uint32_t i = 0; i < piece->input_count && *there; i++)
    if (t->buffer_of[inputs[i]] == 0 && load(t, inputs[i], there, error) != CM_OK)
      return error->status;
  for (uint32_t i = 0; i < piece->input_count && *there; i++) {
    const resident *r = &t->buffer[t->buffer_of[inputs[i]] - 1];
    *ready = r->ready > *ready ? r->ready : *ready;
  }
  if (!*there || may_overwrite(t, piece))
    return CM_OK;
  double start = cm_lanes_earliest(&t->lanes, kind, *ready, ns, &lane);
  for (uint32_t o = 0; o < piece->output_count && *there; o++) {
    double free_ns;
    if (place(t, inputs[piece->input_count + o], start, &made[o], &free_ns, error) != CM_OK)
      return error->status;
    *there = made[o] != CM_NO_BUFFER;
    *ready = *there && free_ns > *ready ? free_ns : *ready;
  }
  return CM_OK;
}

/* The room of the input that dies becomes the output's. */
static cm_status overwrite(timing *t, const cm_piece *piece, uint32_t *made, double *ready, cm_error *error)
{
  uint32_t old = t->buffer_of[piece->in_place] - 1, tile = cm_piece_outputs(t->plan, piece)[0];
  if (CM_ROOM(t->plan->memory, t->buffer, &t->buffer_room, t->buffer_count + 1, error) != CM_OK)
    return error->status;
  *ready = t->buffer[old].last > *ready ? t->buffer[old].last : *ready;
  *made = t->buffer_count++;
  t->buffer[*made] = (resident){.tile = tile, .address = t->buffer[old].address, .next = CM_NEVER, .pinned = t->stamp};
  t->buffer_of[piece->in_place] = 0;
  t->buffer_of[tile] = *made + 1;
  cm_addresses_rename(&t->addresses, t->buffer[old].address, *made);
  return CM_OK;
}

/* After a piece: what nobody reads any more is given up, what has to lie outside is stored. */
static cm_status settle(timing *t, const cm_piece *piece, const uint32_t *made, double end, cm_error *error)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++) {
    uint32_t b = t->buffer_of[inputs[i]];
    if (b == 0)
      continue; /* overwritten */
    resident *r = &t->buffer[b - 1];
    r->next = t->next_use[piece->first_tile + i];
    r->last = end > r->last ? end : r->last;
    if (r->next == CM_NEVER)
      release(t, b - 1);
  }
  for (uint32_t o = 0; o < piece->output_count; o++) {
    resident *r = &t->buffer[made[o]];
    r->next = t->next_use[piece->first_tile + piece->input_count + o];
    r->ready = r->last = end;
    r->dirty = true;
    if (t->plan->tiles[r->tile].must_home && store(t, made[o], error) != CM_OK)
      return error->status;
    if (t->buffer[made[o]].next == CM_NEVER)
      release(t, made[o]);
  }
  return CM_OK;
}

static void note_uses(timing *t, const cm_piece *piece, const uint32_t *made)
{
  const uint32_t *inputs = cm_piece_inputs(t->plan, piece);
  for (uint32_t i = 0; t->record && i < piece->input_count; i++)
    t->out->use[piece->first_tile + i] = t->buffer_of[inputs[i]] - 1;
  for (uint32_t o = 0; t->record && o < piece->output_count; o++)
    t->out->use[piece->first_tile + piece->input_count + o] = made[o];
}

static cm_status run_piece(timing *t, uint32_t number, cm_error *error)
{
  const cm_piece *piece = &t->plan->pieces[number];
  const cm_plan_op *op = &t->plan->ops[piece->op];
  cm_unit_kind kind = op->matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR;
  double ns = cm_compute_ns(t->target, piece->work, op->rate), ready;
  uint32_t few[8], *made = few;
  bool there;
  if (piece->output_count > 8 && CM_NEW(t->plan->memory, made, piece->output_count, error) != CM_OK)
    return error->status;
  cm_status status = gather(t, piece, ns, made, &ready, &there, error);
  if (status == CM_OK && !there && (status = clear_chip(t, error)) == CM_OK)
    status = gather(t, piece, ns, made, &ready, &there, error);
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
    task.start = cm_lanes_earliest(&t->lanes, kind, ready, ns, &task.lane);
    task.end = task.start + ns;
    cm_lanes_take(&t->lanes, task.lane, task.start, ns);
    status = add_task(t, &task, error);
    if (status == CM_OK)
      status = settle(t, piece, made, task.end, error);
  }
  if (made != few)
    cm_free(made);
  return status;
}

/* ---- the whole ---- */

/* Which piece reads each tile next, from the end of the sequence. */
static cm_status find_next_uses(timing *t, cm_error *error)
{
  cm_plan *plan = t->plan;
  uint64_t *next;
  if (CM_NEW(plan->memory, t->next_use, plan->piece_tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, next, plan->tile_count + 1, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < plan->tile_count; i++)
    next[i] = CM_NEVER;
  for (uint32_t s = t->sequence->piece_count; s-- > 0;) {
    const cm_piece *piece = &plan->pieces[t->sequence->pieces[s]];
    const uint32_t *tiles = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
      t->next_use[piece->first_tile + i] = next[tiles[i]];
    for (uint32_t i = 0; i < piece->input_count; i++)
      next[tiles[i]] = s;
  }
  cm_free(next);
  return CM_OK;
}

static cm_status begin(timing *t, cm_error *error)
{
  cm_plan *plan = t->plan;
  if (cm_lanes_begin(&t->lanes, t->target, plan->memory, error) != CM_OK ||
      cm_addresses_begin(&t->addresses, plan->memory_bytes, plan->memory, error) != CM_OK ||
      CM_NEW(plan->memory, t->buffer_of, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, t->stored, plan->tile_count + 1, error) != CM_OK ||
      find_next_uses(t, error) != CM_OK ||
      (t->record && CM_NEW(plan->memory, t->out->use, plan->piece_tile_count + 1, error) != CM_OK))
    return error->status;
  for (size_t i = 0; i < plan->tile_count; i++)
    t->stored[i] = -1;
  t->capacity = (uint64_t)(t->settings->fill * (double)plan->memory_bytes);
  const cm_unit *data = &t->target->unit[CM_UNIT_DATA];
  t->split_bytes = SPLIT_LATENCIES * (data->latency_ns + t->target->issue_ns) * data->bytes_per_ns;
  t->split_bytes = t->split_bytes < CM_ALIGNMENT ? CM_ALIGNMENT : t->split_bytes;
  return CM_OK;
}

static cm_status finish(timing *t, cm_error *error)
{
  uint32_t lane = 0;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    for (uint32_t l = 0; l < t->lanes.count[k]; l++)
      t->out->busy_ns[k] += t->lanes.lane[lane++].busy;
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
static void forget_past(timing *t)
{
  double past = HUGE_VAL;
  for (uint32_t l = 0; l < t->lanes.count[CM_UNIT_DATA]; l++) {
    const cm_lane_time *lane = &t->lanes.lane[t->lanes.first[CM_UNIT_DATA] + l];
    double idle = lane->gap_count > 0 ? lane->gap_from[0] : lane->tail;
    past = idle < past ? idle : past;
  }
  t->past = past;
}

cm_status cm_timetable_make(cm_plan *plan, const cm_sequence *sequence, const cm_target *target,
                            const cm_settings *settings, bool record, cm_run *run, cm_timetable *timetable, cm_error *error)
{
  cm_timetable made = {0};
  timing t = {.plan = plan, .sequence = sequence, .target = target, .settings = settings, .run = run, .record = record,
              .out = &made};
  cm_status status = begin(&t, error);
  for (; status == CM_OK && t.now < sequence->piece_count; t.now++) {
    if ((t.now & 63) == 0) {
      forget_past(&t);
      status = cm_run_check(run, error);
    }
    if (status == CM_OK)
      status = run_piece(&t, sequence->pieces[t.now], error);
  }
  if (status == CM_OK)
    status = finish(&t, error);
  cm_free(t.lanes.lane);
  cm_addresses_end(&t.addresses);
  cm_free(t.buffer);
  cm_free(t.buffer_of);
  cm_free(t.stored);
  cm_free(t.next_use);
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
