/* Instructions, both ways. Of what is read every number's range is checked, every part lies within its operand and within the chip. */
#include "core/machine/program/code_loops.h"

#define EXTENT_MAX (INT64_C(1) << 40)

static void code_buffer(cm_coding *c, uint32_t *buffer)
{
  uint64_t number = *buffer;
  CM_CODE_ANY(c, number);
  CM_REFUSE_IF(c, number >= c->p->buffer_count, "there is no buffer %llu", (unsigned long long)number);
  *buffer = (uint32_t)number;
}

/* ---- operands ---- */

/* Where a part lies: a buffer, or a tensor behind them. Returns bytes there. */
static uint64_t code_place(cm_coding *c, const cm_operand *o, bool output, cm_program_part *part)
{
  const cm_program *p = c->p;
  uint64_t number = cm_part_is_outside(part) ? (uint64_t)p->buffer_count + cm_part_tensor(part) : part->buffer;
  CM_CODE_ANY(c, number);
  const uint64_t tensor = number - p->buffer_count;
  if (!cm_reads(c))
    return 0;
  part->buffer = (uint32_t)number;
  if (number < p->buffer_count)
    return p->target.memory_bytes;
  CM_REFUSE_IF(c, !c->outside || tensor >= p->tensor_count || p->turns > 1, "there is no buffer %llu", (unsigned long long)number);
  if (!cm_reads(c))
    return 0;
  const cm_program_tensor *t = &p->tensors[tensor];
  CM_REFUSE_IF(c, t->type != o->type || (output && (t->role == CM_ROLE_CONSTANT || t->role == CM_ROLE_INPUT)), "tensor '%.60s' is %s", t->name,
               t->type != o->type ? "of another type than its operand" : "written to, and is no output");
  part->buffer = CM_PART_OUTSIDE | (uint32_t)tensor;
  return t->bytes;
}

/* The elements of a part, which has to stay in its operand of `count` elements, and within the `bytes` where it lies. */
static uint64_t check_part(cm_coding *c, const cm_program_part *part, size_t width, uint64_t count, uint64_t bytes, bool output)
{
  static const char *const larger = "a part is larger than its operand or the chip";
  const cm_part_shape *s = part->shape;
  const uint64_t memory = bytes / (width > 0 ? width : 1);
  uint64_t from = 0, to = part->to >= 0 ? (uint64_t)part->to : count, elements = 1;
  bool empty = false;
  for (uint32_t i = 0; i < s->rank && cm_reads(c); i++) {
    const uint64_t extent = (uint64_t)s->extent[i], stride = (uint64_t)s->stride[i], to_stride = (uint64_t)s->to_stride[i];
    empty = empty || extent == 0;
    if (count == 0)
      continue;
    CM_REFUSE_IF(c, extent == 0 || elements > count / extent || (extent > 1 && (stride > memory / (extent - 1) || to_stride > count / (extent - 1))), "%s", larger);
    from += (extent - 1) * stride;
    to += (extent - 1) * to_stride;
    elements *= extent;
    CM_REFUSE_IF(c, from >= memory || to >= count || elements > count, "%s", larger);
  }
  if (count == 0) { /* it has an extent of 0, and nothing of it is ever touched */
    CM_REFUSE_IF(c, !empty || part->to != 0 || part->address > c->p->target.memory_bytes, "%s", larger);
    return 0;
  }
  CM_REFUSE_IF(c, to >= count || (from + 1) * width > bytes || part->address > bytes - (from + 1) * width || (output && (part->to != 0 || count * width > bytes - part->address)),
               "a part leaves its operand or the chip");
  return elements;
}

/* Returns the elements of a part that is read. */
static uint64_t code_part(cm_coding *c, const cm_operand *o, uint64_t count, bool output, cm_program_part *part)
{
  cm_part_shape shape = {0};
  if (c->w != NULL)
    shape = *part->shape;
  const uint64_t bytes = code_place(c, o, output, part);
  CM_CODE_ANY(c, part->address);
  cm_code_signed(c, &part->to);
  CM_CODE(c, shape.rank, CM_RANK_MAX, "a rank");
  for (uint32_t i = 0; i < shape.rank; i++) {
    CM_CODE(c, shape.extent[i], EXTENT_MAX, "an extent");
    CM_CODE(c, shape.stride[i], EXTENT_MAX, "a stride");
    CM_CODE(c, shape.to_stride[i], EXTENT_MAX, "a stride");
  }
  if (!cm_reads(c) || !cm_code_room(c, cm_program_shape(c->p, &shape, &part->shape, c->r.error)))
    return 0;
  return check_part(c, part, cm_type_bytes(o->type), count, bytes, output);
}

static void code_operand(cm_coding *c, cm_operand *o, bool output)
{
  cm_program *p = c->p;
  uint64_t count = 0, covered = 0;
  cm_code_type(c, &o->type);
  if (o->type == CM_TYPE_NONE || c->r.status != CM_OK)
    return;
  o->rank = cm_code_dims(c, o->rank, o->dims);
  const uint32_t parts = cm_code_count(c, o->part_count, "the number of parts");
  (void)cm_dims_count(o->rank, o->dims, &count);
  CM_REFUSE_IF(c, (count > p->target.memory_bytes && !c->outside) || (output && parts != 1), "an operand of %llu elements in %u parts cannot be",
               (unsigned long long)count, parts);
  for (uint32_t k = 0; k < parts && c->r.status == CM_OK; k++) {
    if (c->w == NULL) {
      if (!cm_code_room(c, CM_ROOM(p->memory, p->parts, &c->part_room, p->part_count + 1, c->r.error)))
        return;
      p->parts[p->part_count++] = (cm_program_part){0};
      o->part_count++;
    }
    covered += code_part(c, o, count, output, &p->parts[o->first_part + k]);
  }
  for (uint64_t i = 0; parts == 0 && o->rank == 1 && i < count && i < CM_RANK_MAX; i++)
    cm_code_signed(c, &o->numbers[i]);
  const bool immediate = parts == 0 && (count == 0 || (o->type == CM_INT64 && o->rank == 1 && count <= CM_RANK_MAX));
  CM_REFUSE_IF(c, !immediate && covered != count, "the parts of an operand hold %llu of its %llu elements", (unsigned long long)covered, (unsigned long long)count);
}

/* ---- instructions ---- */

static void code_transfer(cm_coding *c, cm_instruction *i)
{
  const cm_program *p = c->p;
  CM_CODE_ANY(c, i->tensor);
  CM_REFUSE_IF(c, i->tensor >= p->tensor_count, "there is no tensor %u", i->tensor);
  if (c->r.status != CM_OK)
    return;
  const cm_program_tensor *t = &p->tensors[i->tensor];
  const int64_t rows = cm_program_rows(p, i->tensor);
  i->bytes = cm_type_bytes(t->type);
  for (uint32_t k = 0; k < t->rank && c->r.status == CM_OK; k++) {
    const int64_t dim = k == 0 && rows > 0 ? rows : t->dims[k];
    CM_CODE(c, i->from[k], (uint64_t)dim, "a place in a tensor");
    CM_CODE(c, i->extent[k], (uint64_t)(dim - i->from[k]), "an extent of a tensor");
    i->bytes *= (uint64_t)i->extent[k];
  }
  CM_REFUSE_IF(c, i->opcode == CM_CODE_STORE && (t->role == CM_ROLE_CONSTANT || t->role == CM_ROLE_INPUT), "tensor '%.60s' is stored to, and is no output", t->name);
  code_buffer(c, &i->buffer);
  CM_CODE_ANY(c, i->address);
  CM_REFUSE_IF(c, i->bytes > p->target.memory_bytes || i->address > p->target.memory_bytes - i->bytes, "%llu bytes at address %llu leave the chip",
               (unsigned long long)i->bytes, (unsigned long long)i->address);
}

static void code_copy(cm_coding *c, cm_instruction *i)
{
  const uint64_t memory = c->p->target.memory_bytes;
  code_buffer(c, &i->source_buffer);
  CM_CODE_ANY(c, i->source);
  code_buffer(c, &i->buffer);
  CM_CODE_ANY(c, i->address);
  CM_CODE(c, i->bytes, memory, "a length");
  CM_REFUSE_IF(c, i->source > memory - i->bytes || i->address > memory - i->bytes, "a COPY leaves the chip");
}

/* Of what lies on the chip. */
static uint64_t operand_bytes(const cm_operand *o)
{
  uint64_t bytes = o->part_count > 0 ? cm_type_bytes(o->type) : 0;
  for (uint32_t k = 0; k < o->rank; k++)
    bytes *= (uint64_t)o->dims[k];
  return bytes;
}

/* An operand of an instruction that is read. */
static void add_operand(cm_coding *c, cm_instruction *i, uint32_t k, bool there)
{
  cm_program *p = c->p;
  const bool output = k >= i->input_count;
  if (!cm_code_room(c, CM_ROOM(p->memory, p->operands, &c->operand_room, p->operand_count + 1, c->r.error)))
    return;
  cm_operand *o = &p->operands[p->operand_count++];
  *o = (cm_operand){.first_part = p->part_count};
  code_operand(c, o, output);
  CM_REFUSE_IF(c, (o->type != CM_TYPE_NONE) != there, "operand %u of a %.40s is %s", k, p->operators[i->operator_number].op, there ? "missing" : "too much");
  *(output ? &i->work.written_bytes : &i->work.read_bytes) += operand_bytes(o);
}

static void code_computation(cm_coding *c, cm_instruction *i)
{
  const cm_program *p = c->p;
  CM_CODE_ANY(c, i->operator_number);
  CM_CODE_ANY(c, i->work.operations);
  for (uint32_t k = 0; c->w != NULL && k < i->input_count + i->output_count; k++)
    code_operand(c, &p->operands[i->first_operand + k], false);
  CM_REFUSE_IF(c, i->operator_number >= p->operator_count, "there is no operator %u", i->operator_number);
  if (!cm_reads(c))
    return;
  const cm_node *n = &p->operators[i->operator_number];
  i->first_operand = p->operand_count;
  i->input_count = n->input_count;
  i->output_count = n->output_count;
  c->outside = c->version >= CM_PROGRAM_VERSION_TURNS && i->opcode == CM_CODE_HOST;
  cm_type type = CM_TYPE_NONE;
  for (uint32_t k = 0; k < i->input_count + i->output_count && cm_reads(c); k++) {
    add_operand(c, i, k, k >= i->input_count || n->inputs[k] != CM_NONE);
    type = type == CM_TYPE_NONE && cm_reads(c) ? p->operands[p->operand_count - 1].type : type;
  }
  if (!cm_reads(c))
    return;
  const cm_device *device = &p->target.device[p->lanes[i->lane].device];
  char name[CM_TARGET_NAME_MAX];
  cm_program_rate_name(p, i, type, name);
  i->rate = cm_device_rate(device, cm_opcode_unit(i->opcode), name);
  CM_REFUSE_IF(c, i->rate <= 0, "device %s has no throughput for %s", device->name, cm_type_name(type));
}

static void code_instruction(cm_coding *c, cm_instruction *i)
{
  const cm_program *p = c->p;
  CM_CODE(c, i->opcode, CM_CODE_COUNT - 1, "an opcode");
  CM_CODE(c, i->lane, p->lane_count - 1, "a lane");
  const bool flags = i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT;
  CM_REFUSE_IF(c, (int)i->opcode == 0 || (!flags && !cm_device_does(&p->target.device[p->lanes[i->lane].device], cm_opcode_unit(i->opcode))), "a %s in lane %u",
               cm_opcode_name(i->opcode), i->lane);
  if (c->r.status != CM_OK)
    return;
  if (i->opcode == CM_CODE_LOAD || i->opcode == CM_CODE_STORE)
    code_transfer(c, i);
  else if (i->opcode == CM_CODE_COPY)
    code_copy(c, i);
  else if (!flags)
    code_computation(c, i);
  else {
    CM_CODE_ANY(c, i->flag);
    CM_REFUSE_IF(c, i->flag >= p->flag_count, "there is no flag %u", i->flag);
    if (i->opcode == CM_CODE_WAIT)
      CM_CODE_ANY(c, i->value);
    CM_REFUSE_IF(c, i->opcode == CM_CODE_WAIT && i->value == 0, "a WAIT for nothing");
  }
}

/* ---- the section ---- */

static void code_next(cm_coding *c)
{
  code_instruction(c, &c->p->instructions[c->instructions++]);
}

void cm_code_read(cm_coding *c)
{
  cm_program *p = c->p;
  const uint64_t wanted = p->instruction_count;
  CM_REFUSE_IF(c, wanted > c->r.size * (c->version >= CM_PROGRAM_VERSION_STREAM ? CM_LOOP_TURNS_MAX : 1), "%llu instructions should follow", (unsigned long long)wanted);
  if (!cm_reads(c) || !cm_code_room(c, CM_NEW(p->memory, p->instructions, wanted + 1, c->r.error)))
    return;
  while (c->instructions < wanted && cm_reads(c))
    if (c->version >= CM_PROGRAM_VERSION_STREAM && c->r.at < c->r.size && c->r.bytes[c->r.at] == 0) {
      c->r.at++;
      cm_loops_get(c, wanted - c->instructions, code_next);
    } else
      code_next(c);
  for (uint64_t i = 0; i < wanted && cm_reads(c) && p->target.memory_count > 0; i++)
    p->instructions[i].remote = cm_program_remote(p, &p->instructions[i], NULL);
}

cm_status cm_code_write(cm_coding *c, bool *loops)
{
  cm_writer *w = c->w, shorter = {.memory = w->memory, .error = w->error};
  size_t *at;
  if (CM_NEW(w->memory, at, c->p->instruction_count + 1, w->error) != CM_OK)
    return w->status = w->error->status;
  while (c->instructions < c->p->instruction_count) {
    code_next(c);
    at[c->instructions] = w->size;
  }
  if (w->status == CM_OK)
    cm_loops_put(&shorter, w->bytes, at, c->p->instruction_count);
  cm_free(at);
  *loops = shorter.size < w->size / 2;
  shorter.status = w->status != CM_OK ? w->status : shorter.status;
  const cm_writer other = *loops ? *w : shorter;
  w->status = shorter.status;
  if (*loops)
    *w = shorter;
  cm_free(other.bytes);
  return w->status;
}
