/* Code generation: what happens to the memory becomes instructions in the queues of the units, each with what it waits
 * for. What can fail: a unit without throughput for a data type, memory. */
#include <string.h>

#include "core/machine/emit/emitter.h"

/* ---- events ---- */

void cm_emitter_box(cm_instruction *i, const cm_box *box)
{
  for (uint32_t k = 0; k < box->rank; k++) {
    i->from[k] = box->from[k];
    i->extent[k] = box->to[k] - box->from[k];
  }
}

void cm_emitter_wait_for_home(cm_emitter *e, uint32_t number)
{
  const cm_tile *tile = &e->plan->tiles[number];
  cm_cells cells;
  if (tile->grid)
    cm_emitter_wait_all(e, e->stored_by[number]);
  for (bool more = !tile->grid && cm_cells_begin(e->plan, tile, &cells); more; more = cm_cells_next(&cells))
    cm_emitter_wait_all(e, e->stored_by[cm_cells_tile(&cells)]);
}

static cm_status emit_transfer(cm_emitter *e, const cm_event *event, cm_error *error)
{
  const cm_tile *tile = &e->plan->tiles[event->number];
  cm_instruction i = {.opcode = event->kind == CM_EVENT_LOAD ? CM_CODE_LOAD : CM_CODE_STORE,
                      .bytes = cm_plan_bytes(e->plan, tile->value, &tile->box)};
  uint64_t symbol;
  CM_TRY(cm_emitter_tensor(e, tile->value, &i.tensor, error));
  cm_emitter_box(&i, &tile->box);
  if (event->kind == CM_EVENT_LOAD) {
    cm_emitter_wait_for_home(e, event->number);
    CM_TRY(cm_emitter_buffer(e, event->number, event->address, &i.buffer, error));
  } else {
    i.buffer = e->buffer_of[event->number] - 1;
    cm_emitter_wait_filled(e, i.buffer);
  }
  CM_TRY(cm_emitter_append(e, &i, &symbol, error));
  CM_TRY(cm_emitter_touch(e, i.buffer, symbol, error));
  return event->kind == CM_EVENT_STORE ? cm_emitter_list(e, &e->stored_by[event->number], symbol, error) : CM_OK;
}

static cm_status emit_move(cm_emitter *e, const cm_event *event, cm_error *error)
{
  const cm_tile *tile = &e->plan->tiles[event->number];
  cm_instruction i = {.opcode = CM_CODE_COPY, .bytes = cm_plan_bytes(e->plan, tile->value, &tile->box),
                      .source_buffer = e->buffer_of[event->number] - 1};
  uint64_t symbol;
  /* What is not made yet has not to be moved. */
  for (size_t k = 0; k < e->place_count; k++)
    if (e->places[k].number == event->number) {
      e->places[k].address = event->address;
      return CM_OK;
    }
  cm_emitter_wait_filled(e, i.source_buffer);
  CM_TRY(cm_emitter_buffer(e, event->number, event->address, &i.buffer, error));
  CM_TRY(cm_emitter_append(e, &i, &symbol, error));
  CM_TRY(cm_emitter_touch(e, i.source_buffer, symbol, error));
  return cm_emitter_touch(e, i.buffer, symbol, error);
}

static cm_status emit_part(void *user, const cm_part *part, cm_error *error)
{
  cm_emitter *e = user;
  cm_program *p = e->program;
  const cm_tile *tile = &e->plan->tiles[part->tile];
  size_t width = cm_type_bytes(e->plan->model->values[tile->value].shape.type);
  cm_part_shape shape = {.rank = part->rank};
  memcpy(shape.extent, part->extent, part->rank * sizeof *shape.extent);
  memcpy(shape.stride, part->from_stride, part->rank * sizeof *shape.stride);
  memcpy(shape.to_stride, part->to_stride, part->rank * sizeof *shape.to_stride);
  CM_TRY(CM_ROOM(e->memory, p->parts, &e->part_room, p->part_count + 1, error));
  cm_program_part *made = &p->parts[p->part_count];
  uint32_t where = e->buffer_of[part->tile] - 1;
  CM_TRY_IF(tile->host, cm_emitter_tensor(e, tile->value, &where, error));
  where |= tile->host ? CM_PART_OUTSIDE : 0;
  *made = (cm_program_part){.buffer = where, .address = (uint64_t)part->from * width, .to = part->to};
  CM_TRY(cm_program_shape(p, &shape, &made->shape, error));
  p->part_count++;
  p->operands[p->operand_count - 1].part_count++;
  if (tile->host)
    cm_emitter_wait_for_home(e, part->tile);
  else
    cm_emitter_wait_filled(e, made->buffer);
  return CM_OK;
}

static cm_status new_operand(cm_emitter *e, cm_type type, const cm_box *box, cm_operand **made, cm_error *error)
{
  cm_program *p = e->program;
  CM_TRY(CM_ROOM(e->memory, p->operands, &e->operand_room, p->operand_count + 1, error));
  cm_operand *operand = &p->operands[p->operand_count++];
  *operand = (cm_operand){.type = type, .rank = box->rank, .first_part = p->part_count};
  for (uint32_t i = 0; i < box->rank; i++)
    operand->dims[i] = box->to[i] - box->from[i];
  *made = operand;
  return CM_OK;
}

static cm_status emit_input(cm_emitter *e, const cm_plan_op *op, const cm_piece *piece, uint32_t index,
                            const cm_split_change *change, cm_error *error)
{
  cm_operand *operand;
  bool there = cm_has(&op->call, index), boxed = index < 64 && (piece->boxed >> index & 1) != 0;
  CM_TRY(new_operand(e, there ? op->call.input[index].type : CM_TYPE_NONE, &e->inputs[index], &operand, error));
  if (change->replaced == index) {
    operand->type = CM_INT64;
    operand->rank = 1;
    operand->dims[0] = change->number_count;
    memcpy(operand->numbers, change->numbers, sizeof operand->numbers);
    return CM_OK;
  }
  if (!there)
    return CM_OK;
  return cm_plan_operand_parts(e->plan, op, index, &e->inputs[index],
                               &(cm_part_visit){.visit = emit_part, .user = e, .boxed = boxed}, error);
}

static cm_status emit_output(cm_emitter *e, uint32_t tile, cm_error *error)
{
  cm_operand *operand;
  const cm_tile *t = &e->plan->tiles[tile];
  CM_TRY(new_operand(e, e->plan->model->values[t->value].shape.type, &t->box, &operand, error));
  cm_part part = {.tile = tile, .rank = t->box.rank};
  for (uint32_t i = 0; i < part.rank; i++)
    part.extent[i] = operand->dims[i];
  cm_strides(part.rank, operand->dims, part.from_stride);
  cm_strides(part.rank, operand->dims, part.to_stride);
  return emit_part(e, &part, error);
}

cm_status cm_emitter_run(cm_emitter *e, uint32_t number, cm_error *error)
{
  const cm_piece *piece = &e->plan->pieces[number];
  const cm_plan_op *op = &e->plan->ops[piece->op];
  const uint32_t *outputs = cm_piece_outputs(e->plan, piece);
  const cm_box *box = &e->plan->tiles[outputs[0]].box;
  cm_split_change change;
  const cm_program *p = e->program;
  memset(&change, 0, sizeof change);
  cm_instruction i = {.opcode = cm_unit_opcode(op->kind), .first_operand = p->operand_count,
                      .input_count = op->call.input_count, .output_count = op->call.output_count};
  cm_free(e->inputs);
  e->inputs = NULL;
  e->rates = op->rates;
  i.work = piece->work;
  CM_TRY(CM_NEW(e->memory, e->inputs, op->call.input_count + 1, error));
  CM_TRY(cm_split_piece(&op->call, box, e->inputs, &change, error));
  CM_TRY(cm_emitter_operator(e, op, piece->op, &change, &i.operator_number, error));
  for (uint32_t k = 0; k < op->call.input_count; k++)
    CM_TRY(emit_input(e, op, piece, k, &change, error));
  uint32_t buffer;
  for (size_t k = 0; k < e->place_count; k++)
    CM_TRY(cm_emitter_buffer(e, e->places[k].number, e->places[k].address, &buffer, error));
  for (uint32_t k = 0; k < op->call.output_count; k++)
    CM_TRY(emit_output(e, outputs[k], error));
  e->place_count = 0;
  CM_TRY(CM_ROOM(e->memory, e->out->pieces, &e->out->piece_room, e->out->piece_count + 1, error));
  e->out->pieces[e->out->piece_count++] = number;
  uint64_t symbol;
  uint64_t first_part = p->operands[i.first_operand].first_part;
  if (op->call.node->known->work == CM_WORK_FILTER) { /* a piece may have as many filters as groups where all of it has more */
    char name[CM_TARGET_NAME_MAX];
    cm_program_rate_name(p, &i, op->call.input[0].type, name);
    for (uint32_t d = 0; d < e->program->target.device_count; d++)
      e->piece_rates[d] = cm_device_rate(&p->target.device[d], op->kind, name);
    e->rates = e->piece_rates;
  }
  i.bytes = e->plan->tiles[outputs[0]].bytes;
  CM_TRY(cm_emitter_append(e, &i, &symbol, error));
  for (uint64_t k = first_part; k < p->part_count; k++)
    CM_TRY_IF(!cm_part_is_outside(&p->parts[k]), cm_emitter_touch(e, p->parts[k].buffer, symbol, error));
  for (uint32_t k = 0; k < piece->output_count; k++)
    CM_TRY_IF(e->plan->tiles[outputs[k]].host, cm_emitter_list(e, &e->stored_by[outputs[k]], symbol, error));
  return CM_OK;
}

static cm_status emit_events(cm_emitter *e, const cm_event *events, uint64_t count, cm_error *error)
{
  cm_status status = CM_OK;
  for (uint64_t k = 0; k < count && status == CM_OK; k++)
    switch (events[k].kind) {
    case CM_EVENT_RUN:
      status = cm_emitter_run(e, events[k].number, error);
      break;
    case CM_EVENT_PLACE:
      status = CM_ROOM(e->memory, e->places, &e->place_room, e->place_count + 1, error);
      if (status == CM_OK)
        e->places[e->place_count++] = events[k];
      break;
    case CM_EVENT_MOVE:
      status = emit_move(e, &events[k], error);
      break;
    default:
      status = emit_transfer(e, &events[k], error);
    }
  return status;
}

/* ---- the whole ---- */

static cm_status make_lanes(cm_emitter *e, cm_error *error)
{
  cm_program *p = e->program;
  CM_TRY(CM_NEW(e->memory, p->lanes, p->target.lane_count, error));
  cm_program_number_lanes(p);
  e->lanes = p->lane_count;
  return CM_OK;
}

static cm_status list_ends(cm_emitter *e, cm_error *error)
{
  const cm_model *m = e->plan->model;
  cm_program *p = e->program;
  CM_TRY(CM_NEW_ALL(e->memory, error, CM_ARRAY(p->inputs, m->input_count + 1), CM_ARRAY(p->outputs, m->output_count + 1)));
  for (size_t i = 0; i < m->input_count; i++)
    CM_TRY(cm_emitter_tensor(e, m->inputs[i], &p->inputs[p->input_count++], error));
  for (size_t i = 0; i < m->output_count; i++)
    CM_TRY(cm_emitter_tensor(e, m->outputs[i], &p->outputs[p->output_count++], error));
  return CM_OK;
}

cm_status cm_emitter_begin(cm_emitter *e, const char *chip_name, const cm_target *target, cm_error *error)
{
  cm_plan *plan = e->plan;
  CM_TRY(CM_NEW(e->memory, e->out->program, 1, error));
  cm_program *p = e->program = e->out->program;
  p->memory = e->memory;
  cm_arena_init(&p->arena, e->memory);
  p->target = *target;
  if (plan->memory_count > 0)
    memcpy(p->target.memory, plan->core_memory, plan->memory_count * sizeof *plan->core_memory);
  p->target.memory_bytes = plan->memory_count > 0 ? plan->core_memory[plan->memory_count - 1].to : plan->memory_bytes;
  p->opset = plan->model->opset;
  p->turns = plan->turns;
  e->operator_lists = plan->tile_count + plan->op_count + 1;
  p->chip_name = cm_arena_text(&p->arena, chip_name, strlen(chip_name), error);
  if (p->chip_name == NULL || make_lanes(e, error) != CM_OK || cm_hop_times_make(target, e->memory, &e->hops, error) != CM_OK ||
      CM_NEW_ALL(e->memory, error, CM_ARRAY(e->tensor_of, plan->model->value_count + 1),
                 CM_ARRAY(e->buffer_of, plan->tile_count + 1), CM_ARRAY(e->stored_by, plan->tile_count + 1),
                 CM_ARRAY(e->line_owner, plan->memory_bytes / CM_ALIGNMENT + 1), CM_ARRAY(e->lane_count, e->lanes),
                 CM_ARRAY(e->lane_free, e->lanes), CM_ARRAY(e->known, (size_t)e->lanes * e->lanes), CM_ARRAY(e->wait, e->lanes),
                 CM_ARRAY(e->operators_like, e->operator_lists)) != CM_OK)
    return error->status;
  e->lane = CM_NONE;
  e->issue = cm_issue_start(target);
  return list_ends(e, error);
}

void cm_emitter_sum_up(cm_emitter *e)
{
  e->out->time_ns = cm_hop_turns_ns(&e->hops, e->lanes, e->program->turns, e->lane_free);
  for (uint32_t d = 0; d < e->program->target.device_count; d++)
    e->out->busy_ns[d] *= e->program->turns;
}

void cm_emitter_end(cm_emitter *e)
{
  cm_hop_times_end(&e->hops);
  CM_FREE(e->tensor_of, e->buffer_of, e->stored_by, e->line_owner, e->access, e->writer, e->places, e->lane_count, e->lane_free, e->known,
          e->symbol, e->wait, e->made_from, e->operators_like, e->links, e->inputs);
}

void cm_emitter_name(const cm_plan *plan, const cm_segment *s, cm_object *object)
{
  char first[64], last[64];
  (void)snprintf(object->name, sizeof object->name, "%.50s .. %.50s",
                 cm_node_label(plan->ops[s->first_op].call.node, first, sizeof first),
                 cm_node_label(plan->ops[s->first_op + s->op_count - 1].call.node, last, sizeof last));
}

cm_status cm_emit(cm_plan *plan, const cm_memory_plan *layout, const char *chip_name, const cm_target *target, cm_run *run,
                  cm_emission *emission, cm_error *error)
{
  cm_emission made = {0};
  cm_emitter e = {.plan = plan, .memory = plan->memory, .out = &made};
  cm_status status = cm_emitter_begin(&e, chip_name, target, error);
  CM_THEN(status, CM_NEW(e.memory, made.objects, layout->segment_count + 1, error));
  for (uint32_t s = 0; status == CM_OK && s < layout->segment_count; s++) {
    const cm_segment *segment = &layout->segments[s];
    e.object = &made.objects[made.object_count++];
    e.object->first_symbol = e.symbol_count;
    cm_emitter_name(plan, segment, e.object);
    status = emit_events(&e, layout->events + segment->first_event, segment->event_count, error);
    CM_THEN(status, cm_run_check(run, error));
  }
  if (status == CM_OK)
    cm_emitter_sum_up(&e);
  cm_emitter_end(&e);
  CM_END(status, *emission = made, cm_emission_free(&made));
}

void cm_emission_free(cm_emission *emission)
{
  for (uint32_t i = 0; i < emission->object_count; i++)
    CM_FREE(emission->objects[i].instructions, emission->objects[i].waits);
  CM_FREE(emission->objects, emission->pieces, emission->buffers.address, emission->buffers.bytes);
  cm_program_free(emission->program);
  *emission = (cm_emission){0};
}
