/* Code generation from a timetable: tasks in the order in which they begin, or were given their lanes on a chip that issues
 * in order. What can fail: memory. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/emit/emitter.h"
#include "core/machine/schedule/subchips.h"

typedef struct front {
  cm_emitter *e;
  const cm_timetable *table;
  uint32_t *made;  /* by buffer of the timetable: the emitter's number + 1 */
  uint64_t *prior; /* by buffer of the timetable: what every part of its load waits for */
  const cm_timed_task **order;
  uint64_t *barrier; /* by lane: the last instruction before this layer */
  bool *passed;      /* by lane: waited for it */
} front;

static int by_start(const void *a, const void *b)
{
  const cm_timed_task *x = *(const cm_timed_task *const *)a, *y = *(const cm_timed_task *const *)b;
  if (x->start < y->start || x->start > y->start)
    return x->start < y->start ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* The buffer of a task, laid down by the first instruction that fills it. */
static cm_status fill_buffer(front *f, uint32_t number, bool in_parts, uint32_t *buffer, cm_error *error)
{
  cm_emitter *e = f->e;
  if (f->made[number] != 0) {
    *buffer = f->made[number] - 1;
    cm_emitter_wait_all(e, f->prior[number]);
    return CM_OK;
  }
  const cm_timed_buffer *given = &f->table->buffers[number];
  CM_TRY(cm_emitter_buffer(e, given->tile, given->address, buffer, error));
  f->made[number] = *buffer + 1;
  for (uint32_t l = 0; in_parts && l < e->lanes; l++)
    CM_TRY_IF(e->wait[l] != 0, cm_emitter_list(e, &f->prior[number], e->wait[l], error));
  return CM_OK;
}

static cm_status emit_transfer(front *f, const cm_timed_task *task, cm_error *error)
{
  cm_emitter *e = f->e;
  const cm_tile *tile = &e->plan->tiles[task->number];
  bool loads = task->kind == CM_TASK_LOAD;
  uint32_t axis = cm_transfer_axis(&tile->box);
  cm_box box = tile->box;
  uint64_t whole = cm_plan_bytes(e->plan, tile->value, &box), symbol;
  int64_t extent = box.rank > 0 ? box.to[axis] - box.from[axis] : 1;
  bool in_parts = task->to - task->from != extent;
  cm_instruction i = {.opcode = loads ? CM_CODE_LOAD : CM_CODE_STORE};
  if (in_parts) {
    i.address = whole / (uint64_t)extent * (uint64_t)task->from;
    box.to[axis] = box.from[axis] + task->to;
    box.from[axis] += task->from;
  }
  i.bytes = cm_plan_bytes(e->plan, tile->value, &box);
  cm_emitter_box(&i, &box);
  CM_TRY(cm_emitter_tensor(e, tile->value, &i.tensor, error));
  if (loads) {
    cm_emitter_wait_for_home(e, task->number);
    CM_TRY(fill_buffer(f, task->buffer, in_parts, &i.buffer, error));
  } else {
    i.buffer = f->made[task->buffer] - 1;
    cm_emitter_wait_filled(e, i.buffer);
  }
  CM_TRY(cm_emitter_append(e, &i, &symbol, error));
  bool first = e->writer[i.buffer] == 0;
  CM_TRY(cm_emitter_touch(e, i.buffer, symbol, error));
  CM_TRY_IF(loads && !first, cm_emitter_list(e, &e->writer[i.buffer], symbol, error));
  return loads ? CM_OK : cm_emitter_list(e, &e->stored_by[task->number], symbol, error);
}

static cm_status emit_run(front *f, const cm_timed_task *task, cm_error *error)
{
  cm_emitter *e = f->e;
  const cm_piece *piece = &e->plan->pieces[task->number];
  const uint32_t *tiles = cm_piece_inputs(e->plan, piece), *use = f->table->use + piece->first_tile;
  for (uint32_t k = 0; k < piece->input_count; k++)
    e->buffer_of[tiles[k]] = f->made[use[k]];
  e->place_count = 0;
  for (uint32_t k = piece->input_count; k < piece->input_count + piece->output_count; k++) {
    if (e->plan->tiles[tiles[k]].host)
      continue;
    CM_TRY(CM_ROOM(e->memory, e->places, &e->place_room, e->place_count + 1, error));
    e->places[e->place_count++] = (cm_event){CM_EVENT_PLACE, tiles[k], f->table->buffers[use[k]].address};
  }
  CM_TRY(cm_emitter_run(e, task->number, error));
  for (uint32_t k = piece->input_count; k < piece->input_count + piece->output_count; k++)
    f->made[use[k]] = e->buffer_of[tiles[k]];
  return CM_OK;
}

/* Layer by layer, a lane goes on when every lane has ended the layer before. */
static void wait_for_layer(front *f)
{
  cm_emitter *e = f->e;
  if (e->plan->division != CM_DIVISION_LAYERS || f->passed[e->lane])
    return;
  f->passed[e->lane] = true;
  for (uint32_t l = 0; l < e->lanes; l++)
    cm_emitter_wait(e, f->barrier[l]);
}

static void begin_layer(front *f)
{
  const cm_emitter *e = f->e;
  for (uint64_t s = e->symbol_count > 0 ? e->object->first_symbol : 0; s < e->symbol_count; s++)
    f->barrier[e->symbol[s].lane] = s + 1;
  memset(f->passed, 0, e->lanes * sizeof *f->passed);
}

/* When the first piece of each segment begins, never before that of the one before. */
static cm_status find_begins(const front *f, const cm_sequence *sequence, double **made, cm_error *error)
{
  const cm_plan *plan = f->e->plan;
  double *start, *begin;
  CM_TRY(CM_NEW(plan->memory, start, plan->piece_count + 1, error));
  cm_status status = CM_NEW(plan->memory, begin, sequence->segment_count + 1, error);
  for (uint64_t t = 0; status == CM_OK && t < f->table->task_count; t++)
    if (f->table->tasks[t].kind == CM_TASK_RUN)
      start[f->table->tasks[t].number] = f->table->tasks[t].start;
  for (uint32_t s = 0, layer = 0; status == CM_OK && s < sequence->segment_count; s++) {
    const cm_segment *g = &sequence->segments[s];
    double first = s > 0 && g->piece_count > 0 ? start[sequence->pieces[g->first_piece]] : 0;
    if (plan->division == CM_DIVISION_LAYERS && g->piece_count > 0)
      first = f->table->layer_ns[layer++];
    begin[s] = s > 0 && first < begin[s - 1] ? begin[s - 1] : first;
  }
  cm_free(start);
  if (status == CM_OK)
    *made = begin;
  return status;
}

static cm_status emit_all(front *f, const cm_sequence *sequence, cm_run *run, cm_error *error)
{
  cm_emitter *e = f->e;
  double *begin;
  uint32_t next = 0;
  CM_TRY(find_begins(f, sequence, &begin, error));
  cm_status status = CM_OK;
  for (uint64_t t = 0; status == CM_OK && t < f->table->task_count; t++) {
    const cm_timed_task *task = f->order[t];
    if (next < sequence->segment_count && (next == 0 || task->start >= begin[next])) {
      while (next + 1 < sequence->segment_count && task->start >= begin[next + 1])
        next++;
      begin_layer(f);
      e->object = &e->out->objects[e->out->object_count++];
      e->object->first_symbol = e->symbol_count;
      cm_emitter_name(e->plan, &sequence->segments[next++], e->object);
    }
    e->lane = cm_subchip_lane(e->plan->target, &e->program->target, task->lane);
    wait_for_layer(f);
    status = task->kind == CM_TASK_RUN ? emit_run(f, task, error) : emit_transfer(f, task, error);
    CM_THEN(status, cm_run_check(run, error));
  }
  cm_free(begin);
  return status;
}

cm_status cm_emit_timetable(cm_plan *plan, const cm_sequence *sequence, const cm_timetable *timetable,
                            const char *chip_name, const cm_target *target, cm_run *run, cm_emission *emission,
                            cm_error *error)
{
  cm_emission made = {0};
  cm_emitter e = {.plan = plan, .memory = plan->memory, .out = &made};
  front f = {.e = &e, .table = timetable};
  cm_status status = cm_emitter_begin(&e, chip_name, target, error);
  CM_THEN(status, CM_NEW_ALL(e.memory, error, CM_ARRAY(made.objects, sequence->segment_count + 1),
                             CM_ARRAY(f.made, timetable->buffer_count + 1), CM_ARRAY(f.prior, timetable->buffer_count + 1),
                             CM_ARRAY(f.barrier, e.lanes), CM_ARRAY(f.passed, e.lanes),
                             CM_ARRAY(f.order, timetable->task_count + 1)));
  for (uint64_t t = 0; status == CM_OK && t < timetable->task_count; t++)
    f.order[t] = &timetable->tasks[t];
  if (status == CM_OK) {
    if (target->window == 0) /* else the order of the stream is that of the timetable */
      qsort(f.order, timetable->task_count, sizeof *f.order, by_start);
    status = emit_all(&f, sequence, run, error);
  }
  if (status == CM_OK)
    cm_emitter_sum_up(&e);
  cm_emitter_end(&e);
  CM_FREE(f.made, f.prior, f.barrier, f.passed, (void *)f.order);
  CM_END(status, *emission = made, cm_emission_free(&made));
}
