/* Instructions in. Every number's range is checked, every part lies within its operand and within the chip. */
#include "core/machine/program/code_loops.h"

#define EXTENT_MAX (INT64_C(1) << 40)

static bool room(cm_reading *g, cm_status status)
{
  if (status != CM_OK)
    g->r.status = status;
  return status == CM_OK;
}

static uint32_t get_buffer(cm_reading *g)
{
  uint64_t number = cm_get_number(&g->r);
  if (g->r.status == CM_OK && number >= g->p->buffer_count)
    (void)cm_reader_fail(&g->r, "there is no buffer %llu", (unsigned long long)number);
  return (uint32_t)number;
}

static uint64_t get_range(cm_reading *g, uint64_t bytes)
{
  uint64_t address = cm_get_number(&g->r), memory = g->p->target.memory_bytes;
  CM_REFUSE_IF(g, bytes > memory || address > memory - bytes,
                "%llu bytes at address %llu leave the chip", (unsigned long long)bytes, (unsigned long long)address);
  return address;
}

/* The part of an operand without elements: it has an extent of 0, and nothing of it is ever touched. */
static void check_empty_part(cm_reading *g, const cm_program_part *part, const cm_part_shape *shape)
{
  bool empty = false;
  for (uint32_t i = 0; i < shape->rank; i++)
    empty = empty || shape->extent[i] == 0;
  CM_REFUSE_IF(g, !empty || part->to != 0 || part->address > g->p->target.memory_bytes, "a part is larger than its operand or the chip");
}

/* Where a part lies: a buffer, or a tensor behind them. Returns bytes there. */
static uint64_t get_place(cm_reading *g, const cm_operand *o, bool output, uint32_t *place)
{
  const cm_program *p = g->p;
  const uint64_t number = cm_get_number(&g->r), tensor = number - p->buffer_count;
  *place = (uint32_t)number;
  if (g->r.status != CM_OK || number < p->buffer_count)
    return p->target.memory_bytes;
  if (!g->outside || tensor >= p->tensor_count || p->turns > 1) {
    (void)cm_reader_fail(&g->r, "there is no buffer %llu", (unsigned long long)number);
    return 0;
  }
  const cm_program_tensor *t = &p->tensors[tensor];
  if (t->type != o->type || (output && (t->role == CM_ROLE_CONSTANT || t->role == CM_ROLE_INPUT)))
    (void)cm_reader_fail(&g->r, "tensor '%.60s' is %s", t->name, t->type != o->type ? "of another type than its operand" : "written to, and is no output");
  *place = CM_PART_OUTSIDE | (uint32_t)tensor;
  return t->bytes;
}

/* A part stays where it lies and within its operand of `count` elements; returns its elements. */
static uint64_t get_part(cm_reading *g, const cm_operand *o, uint64_t count, bool output, cm_program_part *part)
{
  *part = (cm_program_part){0};
  const uint64_t width = cm_type_bytes(o->type), bytes = get_place(g, o, output, &part->buffer), memory = bytes / (width > 0 ? width : 1);
  uint64_t elements = 1;
  cm_part_shape shape = {0};
  part->address = cm_get_number(&g->r);
  part->to = cm_get_signed(&g->r);
  shape.rank = (uint32_t)cm_get_at_most(&g->r, CM_RANK_MAX, "a rank");
  uint64_t from = 0, to = part->to >= 0 ? (uint64_t)part->to : count;
  for (uint32_t i = 0; i < shape.rank && g->r.status == CM_OK; i++) {
    uint64_t extent = cm_get_at_most(&g->r, EXTENT_MAX, "an extent"), stride = cm_get_at_most(&g->r, EXTENT_MAX, "a stride"),
             to_stride = cm_get_at_most(&g->r, EXTENT_MAX, "a stride");
    shape.extent[i] = (int64_t)extent;
    shape.stride[i] = (int64_t)stride;
    shape.to_stride[i] = (int64_t)to_stride;
    if (count == 0)
      continue;
    if (extent == 0 || elements > count / extent || (extent > 1 && (stride > memory / (extent - 1) || to_stride > count / (extent - 1)))) {
      (void)cm_reader_fail(&g->r, "a part is larger than its operand or the chip");
      return 0;
    }
    from += (extent - 1) * stride;
    to += (extent - 1) * to_stride;
    elements *= extent;
    if (from >= memory || to >= count || elements > count) {
      (void)cm_reader_fail(&g->r, "a part is larger than its operand or the chip");
      return 0;
    }
  }
  if (g->r.status != CM_OK || !room(g, cm_program_shape(g->p, &shape, &part->shape, g->r.error)))
    return 0;
  if (count == 0) {
    check_empty_part(g, part, &shape);
    return 0;
  }
  if (g->r.status == CM_OK && (to >= count || (from + 1) * width > bytes || part->address > bytes - (from + 1) * width ||
                               (output && (part->to != 0 || count * width > bytes - part->address))))
    (void)cm_reader_fail(&g->r, "a part leaves its operand or the chip");
  return elements;
}

static void get_operand(cm_reading *g, bool output)
{
  cm_program *p = g->p;
  if (!room(g, CM_ROOM(p->memory, p->operands, &g->operand_room, p->operand_count + 1, g->r.error)))
    return;
  cm_operand *o = &p->operands[p->operand_count++];
  uint64_t count = 0, covered = 0;
  *o = (cm_operand){.type = cm_reading_type(g), .first_part = p->part_count};
  if (o->type == CM_TYPE_NONE || g->r.status != CM_OK)
    return;
  o->rank = cm_reading_dims(g, o->dims);
  uint64_t parts = cm_get_count(&g->r, "the number of parts");
  (void)cm_dims_count(o->rank, o->dims, &count);
  CM_REFUSE_IF(g, (count > p->target.memory_bytes && !g->outside) || (output && parts != 1),
                "an operand of %llu elements in %llu parts cannot be", (unsigned long long)count, (unsigned long long)parts);
  for (; o->part_count < parts && g->r.status == CM_OK; o->part_count++) {
    if (!room(g, CM_ROOM(p->memory, p->parts, &g->part_room, p->part_count + 1, g->r.error)))
      return;
    covered += get_part(g, o, count, output, &p->parts[p->part_count++]);
  }
  for (uint64_t i = 0; parts == 0 && o->rank == 1 && i < count && i < CM_RANK_MAX; i++)
    o->numbers[i] = cm_get_signed(&g->r);
  bool immediate = parts == 0 && (count == 0 || (o->type == CM_INT64 && o->rank == 1 && count <= CM_RANK_MAX));
  if (g->r.status == CM_OK && !immediate && covered != count)
    (void)cm_reader_fail(&g->r, "the parts of an operand hold %llu of its %llu elements", (unsigned long long)covered,
                         (unsigned long long)count);
}

static void get_transfer(cm_reading *g, cm_instruction *i)
{
  const cm_program *p = g->p;
  i->tensor = (uint32_t)cm_get_number(&g->r);
  if (g->r.status == CM_OK && i->tensor >= p->tensor_count) {
    (void)cm_reader_fail(&g->r, "there is no tensor %u", i->tensor);
    return;
  }
  if (g->r.status != CM_OK)
    return;
  const cm_program_tensor *t = &p->tensors[i->tensor];
  const int64_t rows = cm_program_rows(p, i->tensor);
  i->bytes = cm_type_bytes(t->type);
  for (uint32_t k = 0; k < t->rank && g->r.status == CM_OK; k++) {
    const int64_t dim = k == 0 && rows > 0 ? rows : t->dims[k];
    i->from[k] = (int64_t)cm_get_at_most(&g->r, (uint64_t)dim, "a place in a tensor");
    i->extent[k] = (int64_t)cm_get_at_most(&g->r, (uint64_t)(dim - i->from[k]), "an extent of a tensor");
    i->bytes *= (uint64_t)i->extent[k];
  }
  if (g->r.status == CM_OK && i->opcode == CM_CODE_STORE && (t->role == CM_ROLE_CONSTANT || t->role == CM_ROLE_INPUT))
    (void)cm_reader_fail(&g->r, "tensor '%.60s' is stored to, and is no output", t->name);
  i->buffer = get_buffer(g);
  i->address = get_range(g, i->bytes);
}

/* Of what lies on the chip. */
static uint64_t operand_bytes(const cm_operand *o)
{
  uint64_t bytes = o->part_count > 0 ? cm_type_bytes(o->type) : 0;
  for (uint32_t k = 0; k < o->rank; k++)
    bytes *= (uint64_t)o->dims[k];
  return bytes;
}

static void get_computation(cm_reading *g, cm_instruction *i)
{
  const cm_program *p = g->p;
  i->operator_number = (uint32_t)cm_get_number(&g->r);
  i->work.operations = cm_get_number(&g->r);
  CM_REFUSE_IF(g, i->operator_number >= p->operator_count, "there is no operator %u", i->operator_number);
  if (g->r.status != CM_OK)
    return;
  const cm_node *n = &p->operators[i->operator_number];
  i->first_operand = p->operand_count;
  i->input_count = n->input_count;
  i->output_count = n->output_count;
  cm_type type = CM_TYPE_NONE;
  g->outside = g->version >= CM_PROGRAM_VERSION_TURNS && i->opcode == CM_CODE_HOST;
  for (uint32_t k = 0; k < i->input_count + i->output_count && g->r.status == CM_OK; k++) {
    bool output = k >= i->input_count, there = output || n->inputs[k] != CM_NONE;
    get_operand(g, output);
    if (g->r.status != CM_OK)
      return;
    const cm_operand *o = &p->operands[p->operand_count - 1];
    if ((o->type != CM_TYPE_NONE) != there)
      (void)cm_reader_fail(&g->r, "operand %u of a %.40s is %s", k, n->op, there ? "missing" : "too much");
    *(output ? &i->work.written_bytes : &i->work.read_bytes) += operand_bytes(o);
    if (k == 0 || (type == CM_TYPE_NONE && o->type != CM_TYPE_NONE))
      type = o->type;
  }
  const cm_device *device = &p->target.device[p->lanes[i->lane].device];
  char name[CM_TARGET_NAME_MAX];
  cm_program_rate_name(p, i, type, name);
  i->rate = cm_device_rate(device, cm_opcode_unit(i->opcode), name);
  if (g->r.status == CM_OK && i->rate <= 0)
    (void)cm_reader_fail(&g->r, "device %s has no throughput for %s", device->name, cm_type_name(type));
}

static void get_instruction(cm_reading *g, cm_instruction *i)
{
  const cm_program *p = g->p;
  i->opcode = (cm_opcode)cm_get_at_most(&g->r, CM_CODE_COUNT - 1, "an opcode");
  i->lane = (uint32_t)cm_get_at_most(&g->r, p->lane_count - 1, "a lane");
  if (g->r.status != CM_OK)
    return;
  bool flags = i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT;
  if ((int)i->opcode == 0 || (!flags && !cm_device_does(&p->target.device[p->lanes[i->lane].device], cm_opcode_unit(i->opcode)))) {
    (void)cm_reader_fail(&g->r, "a %s in lane %u", cm_opcode_name(i->opcode), i->lane);
    return;
  }
  switch (i->opcode) {
  case CM_CODE_LOAD:
  case CM_CODE_STORE:
    get_transfer(g, i);
    return;
  case CM_CODE_COPY:
    i->source_buffer = get_buffer(g);
    i->source = cm_get_number(&g->r);
    i->buffer = get_buffer(g);
    i->address = cm_get_number(&g->r);
    i->bytes = cm_get_at_most(&g->r, p->target.memory_bytes, "a length");
    CM_REFUSE_IF(g, i->source > p->target.memory_bytes - i->bytes || i->address > p->target.memory_bytes - i->bytes, "a COPY leaves the chip");
    return;
  case CM_CODE_SET:
  case CM_CODE_WAIT:
    i->flag = (uint32_t)cm_get_number(&g->r);
    CM_REFUSE_IF(g, i->flag >= p->flag_count, "there is no flag %u", i->flag);
    if (i->opcode == CM_CODE_WAIT && (i->value = cm_get_number(&g->r)) == 0)
      (void)cm_reader_fail(&g->r, "a WAIT for nothing");
    return;
  default:
    get_computation(g, i);
  }
}

static void get_next(cm_reading *g)
{
  get_instruction(g, &g->p->instructions[g->instructions++]);
}

void cm_reading_code(cm_reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = p->instruction_count;
  if (wanted > g->r.size * (g->version >= CM_PROGRAM_VERSION_STREAM ? CM_LOOP_TURNS_MAX : 1)) {
    (void)cm_reader_fail(&g->r, "%llu instructions should follow", (unsigned long long)wanted);
    return;
  }
  if (!cm_reading_array(g, &p->instructions, wanted, sizeof *p->instructions))
    return;
  while (g->instructions < wanted && g->r.status == CM_OK)
    if (g->version >= CM_PROGRAM_VERSION_STREAM && g->r.at < g->r.size && g->r.bytes[g->r.at] == 0) {
      g->r.at++;
      cm_loops_get(g, wanted - g->instructions, get_next);
    } else
      get_next(g);
  for (uint64_t i = 0; i < wanted && g->r.status == CM_OK && p->target.memory_count > 0; i++)
    p->instructions[i].remote = cm_program_remote(p, &p->instructions[i], NULL);
}
