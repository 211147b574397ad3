/* Code generation: what happens to the memory becomes instructions in the queues of the units, each with what it waits
 * for. What can fail: a unit without throughput for a data type, memory. */
#include <string.h>

#include "core/machine/emit/object.h"

typedef struct emitter {
  cm_plan *plan;
  cm_program *program;
  cm_emission *out;
  cm_object *object;
  cm_memory *memory;
  uint32_t lanes;
  uint32_t *tensor_of;  /* by value: number + 1 */
  uint32_t *buffer_of;  /* by tile: number + 1 of its present buffer */
  uint64_t *stored_by;  /* by tile: symbol + 1 of its last STORE */
  uint32_t *line_owner; /* by line of the chip's memory: buffer + 1 that lay there last */
  uint64_t *access;     /* by buffer and lane: symbol + 1 of the last instruction that touched it */
  uint64_t *writer;     /* by buffer: symbol + 1 of the instruction that fills it */
  size_t access_capacity, writer_capacity, buffer_capacity, tensor_capacity, operator_capacity;
  uint64_t *lane_count; /* instructions of each lane */
  double *lane_free;
  uint64_t *known;      /* [lane][lane]: instructions of the second that are known to be done */
  uint64_t symbol_count;
  size_t symbol_capacity;
  uint64_t *symbol_seq; /* by symbol: its number in its lane, from 1 */
  uint32_t *symbol_lane;
  double *symbol_done;  /* when it ends */
  uint64_t *wait;       /* scratch, by lane: symbol + 1 */
  uint32_t op_of_cache; /* operators made for the pieces of this one */
  uint32_t cache_first;
  cm_split_change *changes; /* by operator number */
  cm_box *inputs;
  cm_event *places; /* buffers that the next piece makes */
  size_t place_count, place_capacity;
} emitter;

static cm_status grow(cm_memory *memory, void *pointer, size_t *capacity, size_t count, size_t size, cm_error *error)
{
  void **block = pointer;
  if (count < *capacity)
    return CM_OK;
  size_t wanted = *capacity * 2 + 64;
  while (wanted <= count)
    wanted *= 2;
  uint8_t *made = cm_reallocate(memory, *block, wanted, size, error);
  if (made == NULL)
    return error->status;
  memset(made + *capacity * size, 0, (wanted - *capacity) * size);
  *block = made;
  *capacity = wanted;
  return CM_OK;
}

/* ---- tables of the program ---- */

static cm_status tensor_number(emitter *e, uint32_t value, uint32_t *number, cm_error *error)
{
  cm_program *p = e->program;
  const cm_value *v = &e->plan->model->values[value];
  if (e->tensor_of[value] != 0) {
    *number = e->tensor_of[value] - 1;
    return CM_OK;
  }
  if (grow(e->memory, &p->tensors, &e->tensor_capacity, p->tensor_count, sizeof *p->tensors, error) != CM_OK)
    return error->status;
  cm_program_tensor *t = &p->tensors[p->tensor_count];
  *t = (cm_program_tensor){.name = cm_arena_text(&p->arena, v->name, strlen(v->name), error),
                           .type = v->shape.type, .rank = v->shape.rank};
  if (t->name == NULL)
    return error->status;
  memcpy(t->dims, v->shape.dims, sizeof t->dims);
  cm_value_kind kind = e->plan->values[value].kind;
  t->role = kind == CM_VALUE_CONSTANT             ? CM_ROLE_CONSTANT
            : kind == CM_VALUE_INPUT              ? CM_ROLE_INPUT
            : e->plan->values[value].output ? CM_ROLE_OUTPUT
                                                  : CM_ROLE_SPILL;
  cm_box whole = cm_box_whole(&v->shape);
  t->bytes = cm_plan_bytes(e->plan, value, &whole);
  if (p->tensor_count > 0) {
    const cm_program_tensor *before = &p->tensors[p->tensor_count - 1];
    t->address = before->address + cm_aligned(before->bytes);
  }
  if (t->role == CM_ROLE_CONSTANT)
    t->data = cm_tensor_share(v->tensor);
  *number = p->tensor_count++;
  e->tensor_of[value] = *number + 1;
  return CM_OK;
}

static const char *own_text(emitter *e, const char *text, cm_error *error)
{
  return text == NULL ? NULL : cm_arena_text(&e->program->arena, text, strlen(text), error);
}

/* A copy of an attribute that needs nothing of the model. */
static cm_status own_attribute(emitter *e, const cm_attribute *a, cm_attribute *made, cm_error *error)
{
  cm_arena *arena = &e->program->arena;
  *made = *a;
  if ((made->name = own_text(e, a->name, error)) == NULL ||
      (a->kind == CM_ATTRIBUTE_STRING && (made->text = cm_arena_text(arena, a->text, a->count, error)) == NULL))
    return error->status;
  if (a->kind == CM_ATTRIBUTE_INTS) {
    int64_t *numbers;
    if (CM_ARENA_NEW(arena, numbers, a->count + 1, error) != CM_OK)
      return error->status;
    memcpy(numbers, a->integers, a->count * sizeof *numbers);
    made->integers = numbers;
  }
  if (a->kind == CM_ATTRIBUTE_FLOATS) {
    float *numbers;
    if (CM_ARENA_NEW(arena, numbers, a->count + 1, error) != CM_OK)
      return error->status;
    memcpy(numbers, a->numbers, a->count * sizeof *numbers);
    made->numbers = numbers;
  }
  return CM_OK;
}

/* The attributes of a node with a piece's changes. */
static cm_status change_attributes(emitter *e, cm_node *node, const cm_split_change *change, cm_error *error)
{
  cm_arena *arena = &e->program->arena;
  cm_attribute *list;
  size_t count = 0;
  if (CM_ARENA_NEW(arena, list, node->attribute_count + 2, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < node->attribute_count; i++) {
    const cm_attribute *a = &node->attributes[i];
    if (change->spatial > 0 && (strcmp(a->name, "pads") == 0 || strcmp(a->name, "auto_pad") == 0))
      continue;
    if (change->group > 0 && strcmp(a->name, "group") == 0)
      continue;
    if (a->kind == CM_ATTRIBUTE_TENSOR || a->kind == CM_ATTRIBUTE_PACKED)
      return cm_fail(error, CM_BAD_NETWORK, "node %.80s: its attribute %.40s cannot be put in a program", node->name,
                     a->name);
    if (own_attribute(e, a, &list[count], error) != CM_OK)
      return error->status;
    count++;
  }
  if (change->spatial > 0) {
    int64_t *pads;
    if (CM_ARENA_NEW(arena, pads, 2 * change->spatial, error) != CM_OK)
      return error->status;
    memcpy(pads, change->before, change->spatial * sizeof *pads);
    memcpy(pads + change->spatial, change->after, change->spatial * sizeof *pads);
    list[count] = (cm_attribute){.name = "pads", .kind = CM_ATTRIBUTE_INTS, .count = (size_t)2 * change->spatial,
                                 .integers = pads};
    count++;
  }
  if (change->group > 0)
    list[count++] = (cm_attribute){.name = "group", .kind = CM_ATTRIBUTE_INT, .integer = change->group};
  node->attributes = list;
  node->attribute_count = count;
  return CM_OK;
}

static cm_status operator_number(emitter *e, const cm_plan_op *op, uint32_t op_number, const cm_split_change *change,
                                 uint32_t *number, cm_error *error)
{
  cm_program *p = e->program;
  const cm_node *node = op->call.node;
  size_t changes_capacity = e->operator_capacity;
  if (e->op_of_cache != op_number) {
    e->op_of_cache = op_number;
    e->cache_first = p->operator_count;
  }
  for (uint32_t i = e->cache_first; i < p->operator_count; i++)
    if (memcmp(&e->changes[i], change, sizeof *change) == 0) {
      *number = i;
      return CM_OK;
    }
  if (grow(e->memory, &p->operators, &e->operator_capacity, p->operator_count, sizeof *p->operators, error) != CM_OK ||
      grow(e->memory, &e->changes, &changes_capacity, p->operator_count, sizeof *e->changes, error) != CM_OK)
    return error->status;
  cm_node *made = &p->operators[p->operator_count];
  *made = *node;
  made->captured = NULL;
  made->captured_count = 0;
  made->name = own_text(e, node->name, error);
  made->op = own_text(e, node->op, error);
  made->domain = own_text(e, node->domain, error);
  if (made->name == NULL || made->op == NULL || made->domain == NULL)
    return error->status;
  if (CM_ARENA_NEW(&p->arena, made->inputs, node->input_count + 1, error) != CM_OK ||
      CM_ARENA_NEW(&p->arena, made->outputs, node->output_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < node->input_count; i++)
    made->inputs[i] = node->inputs[i] == CM_NONE ? CM_NONE : i;
  for (uint32_t o = 0; o < node->output_count; o++)
    made->outputs[o] = node->outputs[o] == CM_NONE ? CM_NONE : o;
  if (change_attributes(e, made, change, error) != CM_OK)
    return error->status;
  e->changes[p->operator_count] = *change;
  *number = p->operator_count++;
  return CM_OK;
}

/* ---- instructions and what they wait for ---- */

static cm_status new_buffer(emitter *e, uint32_t tile, uint64_t address, uint64_t *wait, uint32_t *number,
                            cm_error *error)
{
  cm_buffer_map *map = &e->out->buffers;
  size_t capacity = e->buffer_capacity;
  uint64_t bytes = e->plan->tiles[tile].bytes;
  if (grow(e->memory, &map->address, &capacity, map->count, sizeof *map->address, error) != CM_OK ||
      grow(e->memory, &map->bytes, &e->buffer_capacity, map->count, sizeof *map->bytes, error) != CM_OK ||
      grow(e->memory, &e->writer, &e->writer_capacity, map->count, sizeof *e->writer, error) != CM_OK ||
      grow(e->memory, &e->access, &e->access_capacity, ((size_t)map->count + 1) * e->lanes, sizeof *e->access, error) !=
          CM_OK)
    return error->status;
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
      wait[l] = symbol > wait[l] ? symbol : wait[l];
    }
  }
  e->buffer_of[tile] = map->count + 1;
  *number = map->count++;
  return CM_OK;
}

static void wait_for_symbol(emitter *e, uint64_t symbol)
{
  if (symbol == 0)
    return;
  uint32_t lane = e->symbol_lane[symbol - 1];
  e->wait[lane] = symbol > e->wait[lane] ? symbol : e->wait[lane];
}

/* What is read has to be there. */
static void wait_for_buffer(emitter *e, uint32_t buffer)
{
  wait_for_symbol(e, e->writer[buffer]);
}

/* The lane of a kind where an instruction can begin first. */
static uint32_t choose_lane(const emitter *e, cm_unit_kind kind, double ready)
{
  uint32_t best = CM_NONE;
  double best_start = 0;
  for (uint32_t l = 0; l < e->lanes; l++) {
    if (e->program->lanes[l].kind != kind)
      continue;
    double start = e->lane_free[l] > ready ? e->lane_free[l] : ready;
    if (best == CM_NONE || start < best_start) {
      best = l;
      best_start = start;
    }
  }
  return best;
}

/* Appends an instruction whose waits are in e->wait (cleared after); its lane is chosen here. *symbol is its number. */
static cm_status append(emitter *e, const cm_instruction *given, uint64_t *symbol, cm_error *error)
{
  cm_object *o = e->object;
  /* Arrays that grow together: the last one sets the capacity. */
  size_t capacity = e->symbol_capacity, second = capacity;
  if (grow(e->memory, &o->instructions, &o->instruction_capacity, o->instruction_count, sizeof *o->instructions,
           error) != CM_OK ||
      grow(e->memory, &e->symbol_seq, &capacity, e->symbol_count, sizeof *e->symbol_seq, error) != CM_OK ||
      grow(e->memory, &e->symbol_lane, &second, e->symbol_count, sizeof *e->symbol_lane, error) != CM_OK ||
      grow(e->memory, &e->symbol_done, &e->symbol_capacity, e->symbol_count, sizeof *e->symbol_done, error) != CM_OK)
    return error->status;
  double ready = 0;
  for (uint32_t l = 0; l < e->lanes; l++)
    if (e->wait[l] > 0 && e->symbol_done[e->wait[l] - 1] > ready)
      ready = e->symbol_done[e->wait[l] - 1];
  cm_unit_kind kind = cm_opcode_unit(given->opcode);
  uint32_t lane = choose_lane(e, kind, ready);
  for (uint32_t l = 0; l < e->lanes; l++) {
    uint64_t other = e->wait[l];
    e->wait[l] = 0;
    if (other == 0 || l == lane || e->known[(size_t)lane * e->lanes + l] >= e->symbol_seq[other - 1])
      continue;
    e->known[(size_t)lane * e->lanes + l] = e->symbol_seq[other - 1];
    if (grow(e->memory, &o->waits, &o->wait_capacity, o->wait_count, sizeof *o->waits, error) != CM_OK)
      return error->status;
    o->waits[o->wait_count++] = (cm_object_wait){(uint32_t)o->instruction_count, other - 1};
  }
  cm_instruction *made = &o->instructions[o->instruction_count++];
  *made = *given;
  made->lane = lane;
  double ns = cm_instruction_ns(e->program, made), start = e->lane_free[lane] > ready ? e->lane_free[lane] : ready;
  e->lane_free[lane] = start + ns;
  e->out->busy_ns[kind] += ns;
  e->symbol_done[e->symbol_count] = start + ns;
  e->symbol_lane[e->symbol_count] = lane;
  e->symbol_seq[e->symbol_count] = ++e->lane_count[lane];
  *symbol = ++e->symbol_count; /* from 1 */
  return CM_OK;
}

static void touch(emitter *e, uint32_t buffer, uint64_t symbol)
{
  e->access[(size_t)buffer * e->lanes + e->symbol_lane[symbol - 1]] = symbol;
  if (e->writer[buffer] == 0)
    e->writer[buffer] = symbol; /* nobody touches a buffer before it is filled */
}

/* ---- events ---- */

static void set_box(cm_instruction *i, const cm_box *box)
{
  for (uint32_t k = 0; k < box->rank; k++) {
    i->from[k] = box->from[k];
    i->extent[k] = box->to[k] - box->from[k];
  }
}

/* Loads of a box wait for the stores of what it meets. */
static void wait_for_home(emitter *e, uint32_t number)
{
  const cm_tile *tile = &e->plan->tiles[number];
  cm_cells cells;
  if (tile->grid)
    wait_for_symbol(e, e->stored_by[number]);
  for (bool more = !tile->grid && cm_cells_begin(e->plan, tile, &cells); more; more = cm_cells_next(&cells))
    wait_for_symbol(e, e->stored_by[cm_cells_tile(&cells)]);
}

static cm_status emit_transfer(emitter *e, const cm_event *event, cm_error *error)
{
  const cm_tile *tile = &e->plan->tiles[event->number];
  cm_instruction i = {.opcode = event->kind == CM_EVENT_LOAD ? CM_CODE_LOAD : CM_CODE_STORE,
                      .bytes = cm_plan_bytes(e->plan, tile->value, &tile->box)};
  uint64_t symbol;
  if (tensor_number(e, tile->value, &i.tensor, error) != CM_OK)
    return error->status;
  set_box(&i, &tile->box);
  if (event->kind == CM_EVENT_LOAD) {
    wait_for_home(e, event->number);
    if (new_buffer(e, event->number, event->address, e->wait, &i.buffer, error) != CM_OK)
      return error->status;
  } else {
    i.buffer = e->buffer_of[event->number] - 1;
    wait_for_buffer(e, i.buffer);
  }
  if (append(e, &i, &symbol, error) != CM_OK)
    return error->status;
  touch(e, i.buffer, symbol);
  if (event->kind == CM_EVENT_STORE)
    e->stored_by[event->number] = symbol;
  return CM_OK;
}

static cm_status emit_move(emitter *e, const cm_event *event, cm_error *error)
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
  wait_for_buffer(e, i.source_buffer);
  if (new_buffer(e, event->number, event->address, e->wait, &i.buffer, error) != CM_OK ||
      append(e, &i, &symbol, error) != CM_OK)
    return error->status;
  touch(e, i.source_buffer, symbol);
  touch(e, i.buffer, symbol);
  return CM_OK;
}

static cm_status emit_part(void *user, const cm_part *part, cm_error *error)
{
  emitter *e = user;
  cm_object *o = e->object;
  const cm_tile *tile = &e->plan->tiles[part->tile];
  size_t width = cm_type_bytes(e->plan->model->values[tile->value].shape.type);
  if (grow(e->memory, &o->parts, &o->part_capacity, o->part_count, sizeof *o->parts, error) != CM_OK)
    return error->status;
  cm_program_part *made = &o->parts[o->part_count++];
  *made = (cm_program_part){.buffer = e->buffer_of[part->tile] - 1, .address = (uint64_t)part->from * width,
                            .rank = part->rank, .to = part->to};
  memcpy(made->extent, part->extent, part->rank * sizeof *made->extent);
  memcpy(made->stride, part->from_stride, part->rank * sizeof *made->stride);
  memcpy(made->to_stride, part->to_stride, part->rank * sizeof *made->to_stride);
  o->operands[o->operand_count - 1].part_count++;
  wait_for_buffer(e, made->buffer);
  return CM_OK;
}

static cm_status new_operand(emitter *e, cm_type type, const cm_box *box, cm_operand **made, cm_error *error)
{
  cm_object *o = e->object;
  if (grow(e->memory, &o->operands, &o->operand_capacity, o->operand_count, sizeof *o->operands, error) != CM_OK)
    return error->status;
  cm_operand *operand = &o->operands[o->operand_count++];
  *operand = (cm_operand){.type = type, .rank = box->rank, .first_part = o->part_count};
  for (uint32_t i = 0; i < box->rank; i++)
    operand->dims[i] = box->to[i] - box->from[i];
  *made = operand;
  return CM_OK;
}

static cm_status emit_input(emitter *e, const cm_plan_op *op, const cm_piece *piece, uint32_t index,
                            const cm_split_change *change, cm_error *error)
{
  cm_operand *operand;
  bool there = cm_has(&op->call, index), boxed = index < 64 && (piece->boxed >> index & 1) != 0;
  if (new_operand(e, there ? op->call.input[index].type : CM_TYPE_NONE, &e->inputs[index], &operand, error) != CM_OK)
    return error->status;
  if (change->replaced == index) {
    operand->type = CM_INT64;
    operand->rank = 1;
    operand->dims[0] = change->number_count;
    memcpy(operand->numbers, change->numbers, sizeof operand->numbers);
    return CM_OK;
  }
  if (!there)
    return CM_OK;
  if (op->copied != CM_NONE)
    return cm_plan_view_parts(e->plan, op->copied, &e->inputs[index], boxed, emit_part, e, NULL, error);
  return cm_plan_parts(e->plan, op->call.node->inputs[index], &e->inputs[index], boxed, emit_part, e, NULL, error);
}

static cm_status emit_output(emitter *e, uint32_t tile, cm_error *error)
{
  cm_operand *operand;
  const cm_tile *t = &e->plan->tiles[tile];
  if (new_operand(e, e->plan->model->values[t->value].shape.type, &t->box, &operand, error) != CM_OK)
    return error->status;
  cm_part part = {.tile = tile, .rank = t->box.rank};
  for (uint32_t i = 0; i < part.rank; i++)
    part.extent[i] = operand->dims[i];
  cm_strides(part.rank, operand->dims, part.from_stride);
  cm_strides(part.rank, operand->dims, part.to_stride);
  return emit_part(e, &part, error);
}

static cm_status find_rate(emitter *e, const cm_plan_op *op, cm_instruction *i, cm_error *error)
{
  char label[160];
  cm_unit_kind kind = cm_opcode_unit(i->opcode);
  const char *type = cm_type_name(op->call.input_count > 0 && cm_has(&op->call, 0) ? op->call.input[0].type
                                                                                   : op->call.output[0].type);
  i->rate = cm_unit_rate(&e->program->target.unit[kind], type);
  if (i->rate > 0)
    return CM_OK;
  (void)cm_fail(error, CM_BAD_CHIP, "node %s: the %s units of chip %s have no throughput for %s; "
                "/machine/units/%s/operations_per_ns should name it, or \"other\"",
                cm_node_label(op->call.node, label, sizeof label), cm_unit_name(kind), e->program->chip_name, type,
                cm_unit_name(kind));
  return cm_fail_at(error, "/machine/units/%s/operations_per_ns", cm_unit_name(kind));
}

static cm_status emit_run(emitter *e, uint32_t number, cm_error *error)
{
  const cm_piece *piece = &e->plan->pieces[number];
  const cm_plan_op *op = &e->plan->ops[piece->op];
  const uint32_t *outputs = cm_piece_outputs(e->plan, piece);
  const cm_box *box = &e->plan->tiles[outputs[0]].box;
  cm_split_change change;
  cm_object *o = e->object;
  memset(&change, 0, sizeof change);
  cm_instruction i = {.opcode = op->matrix ? CM_CODE_MATRIX : CM_CODE_VECTOR, .first_operand = o->operand_count,
                      .input_count = op->call.input_count, .output_count = op->call.output_count};
  cm_free(e->inputs);
  e->inputs = NULL;
  if (find_rate(e, op, &i, error) != CM_OK ||
      CM_NEW(e->memory, e->inputs, op->call.input_count + 1, error) != CM_OK ||
      cm_split_piece(&op->call, box, e->inputs, &change, error) != CM_OK ||
      operator_number(e, op, piece->op, &change, &i.operator_number, error) != CM_OK)
    return error->status;
  i.work = cm_split_work(&op->call, box, e->inputs);
  for (uint32_t k = 0; k < op->call.input_count; k++)
    if (emit_input(e, op, piece, k, &change, error) != CM_OK)
      return error->status;
  uint32_t buffer;
  for (size_t k = 0; k < e->place_count; k++)
    if (new_buffer(e, e->places[k].number, e->places[k].address, e->wait, &buffer, error) != CM_OK)
      return error->status;
  for (uint32_t k = 0, at = 0; k < op->call.output_count; k++) {
    cm_operand *operand;
    if (op->call.node->outputs[k] == CM_NONE) {
      if (new_operand(e, CM_TYPE_NONE, &(cm_box){0}, &operand, error) != CM_OK)
        return error->status;
    } else if (emit_output(e, outputs[at++], error) != CM_OK)
      return error->status;
  }
  e->place_count = 0;
  uint64_t symbol;
  uint64_t first_part = o->operands[i.first_operand].first_part;
  i.bytes = e->plan->tiles[outputs[0]].bytes;
  if (append(e, &i, &symbol, error) != CM_OK)
    return error->status;
  for (uint64_t k = first_part; k < o->part_count; k++)
    touch(e, o->parts[k].buffer, symbol);
  return CM_OK;
}

static cm_status emit_events(emitter *e, const cm_event *events, uint64_t count, cm_error *error)
{
  cm_status status = CM_OK;
  for (uint64_t k = 0; k < count && status == CM_OK; k++)
    switch (events[k].kind) {
    case CM_EVENT_RUN:
      status = emit_run(e, events[k].number, error);
      break;
    case CM_EVENT_PLACE:
      status = grow(e->memory, &e->places, &e->place_capacity, e->place_count, sizeof *e->places, error);
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

static cm_status make_lanes(emitter *e, cm_error *error)
{
  cm_program *p = e->program;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    p->lane_count += cm_target_lanes(&p->target, (cm_unit_kind)k);
  if (CM_NEW(e->memory, p->lanes, p->lane_count, error) != CM_OK)
    return error->status;
  uint32_t at = 0;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    for (uint32_t u = 0; u < p->target.unit[k].count; u++)
      for (uint32_t port = 0; port < p->target.unit[k].ports; port++)
        p->lanes[at++] = (cm_lane){(cm_unit_kind)k, u, port};
  e->lanes = p->lane_count;
  return CM_OK;
}

static cm_status list_ends(emitter *e, cm_error *error)
{
  const cm_model *m = e->plan->model;
  cm_program *p = e->program;
  if (CM_NEW(e->memory, p->inputs, m->input_count + 1, error) != CM_OK ||
      CM_NEW(e->memory, p->outputs, m->output_count + 1, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->input_count; i++)
    if (tensor_number(e, m->inputs[i], &p->inputs[p->input_count++], error) != CM_OK)
      return error->status;
  for (size_t i = 0; i < m->output_count; i++)
    if (tensor_number(e, m->outputs[i], &p->outputs[p->output_count++], error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status begin(emitter *e, const char *chip_name, const cm_target *target, cm_error *error)
{
  cm_plan *plan = e->plan;
  if (CM_NEW(e->memory, e->out->program, 1, error) != CM_OK)
    return error->status;
  cm_program *p = e->program = e->out->program;
  p->memory = e->memory;
  cm_arena_init(&p->arena, e->memory);
  p->target = *target;
  p->target.memory_bytes = plan->memory_bytes;
  p->opset = plan->model->opset;
  p->chip_name = cm_arena_text(&p->arena, chip_name, strlen(chip_name), error);
  if (p->chip_name == NULL || make_lanes(e, error) != CM_OK ||
      CM_NEW(e->memory, e->tensor_of, plan->model->value_count + 1, error) != CM_OK ||
      CM_NEW(e->memory, e->buffer_of, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(e->memory, e->stored_by, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(e->memory, e->line_owner, plan->memory_bytes / CM_ALIGNMENT + 1, error) != CM_OK ||
      CM_NEW(e->memory, e->lane_count, e->lanes, error) != CM_OK ||
      CM_NEW(e->memory, e->lane_free, e->lanes, error) != CM_OK ||
      CM_NEW(e->memory, e->known, (size_t)e->lanes * e->lanes, error) != CM_OK ||
      CM_NEW(e->memory, e->wait, e->lanes, error) != CM_OK)
    return error->status;
  e->op_of_cache = CM_NONE;
  return list_ends(e, error);
}

static void end(emitter *e)
{
  cm_free(e->tensor_of);
  cm_free(e->buffer_of);
  cm_free(e->stored_by);
  cm_free(e->line_owner);
  cm_free(e->access);
  cm_free(e->writer);
  cm_free(e->places);
  cm_free(e->lane_count);
  cm_free(e->lane_free);
  cm_free(e->known);
  cm_free(e->symbol_seq);
  cm_free(e->symbol_lane);
  cm_free(e->symbol_done);
  cm_free(e->wait);
  cm_free(e->changes);
  cm_free(e->inputs);
}

static void name_object(const cm_plan *plan, const cm_segment *s, cm_object *object)
{
  char first[64], last[64];
  (void)snprintf(object->name, sizeof object->name, "%.50s .. %.50s",
                 cm_node_label(plan->ops[s->first_op].call.node, first, sizeof first),
                 cm_node_label(plan->ops[s->first_op + s->op_count - 1].call.node, last, sizeof last));
}

cm_status cm_emit(cm_plan *plan, const cm_course *layout, const char *chip_name, const cm_target *target, cm_run *run,
                  cm_emission *emission, cm_error *error)
{
  cm_emission made = {0};
  emitter e = {.plan = plan, .memory = plan->memory, .out = &made};
  cm_status status = begin(&e, chip_name, target, error);
  if (status == CM_OK)
    status = CM_NEW(e.memory, made.objects, layout->segment_count + 1, error);
  for (uint32_t s = 0; status == CM_OK && s < layout->segment_count; s++) {
    const cm_segment *segment = &layout->segments[s];
    e.object = &made.objects[made.object_count++];
    e.object->first_symbol = e.symbol_count;
    name_object(plan, segment, e.object);
    status = emit_events(&e, layout->events + segment->first_event, segment->event_count, error);
    if (status == CM_OK)
      status = cm_run_check(run, error);
  }
  for (uint32_t l = 0; status == CM_OK && l < e.lanes; l++)
    made.time_ns = e.lane_free[l] > made.time_ns ? e.lane_free[l] : made.time_ns;
  end(&e);
  if (status != CM_OK) {
    cm_emission_free(&made);
    return status;
  }
  *emission = made;
  return CM_OK;
}

void cm_emission_free(cm_emission *emission)
{
  for (uint32_t i = 0; i < emission->object_count; i++) {
    cm_free(emission->objects[i].instructions);
    cm_free(emission->objects[i].operands);
    cm_free(emission->objects[i].parts);
    cm_free(emission->objects[i].waits);
  }
  cm_free(emission->objects);
  cm_free(emission->buffers.address);
  cm_free(emission->buffers.bytes);
  cm_program_free(emission->program);
  *emission = (cm_emission){0};
}
