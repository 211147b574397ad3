/* Program files in. Everything is checked here, so that what runs a program need not: sections and their checksums, every
 * number's range, every part within its operand and within the chip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/machine/program/codec.h"
#include "core/machine/program/program.h"
#include "core/operators/operator.h"

#define FILE_BYTES_MAX ((size_t)1 << 36)
#define OUTSIDE_BYTES_MAX (UINT64_C(1) << 40)
#define EXTENT_MAX (INT64_C(1) << 40)

typedef struct reading {
  cm_reader r;
  cm_program *p;
  size_t operand_capacity, part_capacity, instruction_capacity;
} reading;

static const char *get_text(reading *g)
{
  uint64_t length = cm_get_count(&g->r, "a text's length");
  const uint8_t *bytes = cm_get_bytes(&g->r, length);
  char *text = cm_arena_text(&g->p->arena, bytes != NULL ? (const char *)bytes : "", bytes != NULL ? length : 0,
                             g->r.error);
  if (text == NULL)
    g->r.status = g->r.error->status;
  return text;
}

static uint32_t get_dims(reading *g, int64_t *dims)
{
  uint32_t rank = (uint32_t)cm_get_at_most(&g->r, CM_RANK_MAX, "a rank");
  uint64_t count;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = cm_get_signed(&g->r);
  if (g->r.status == CM_OK && !cm_dims_count(rank, dims, &count))
    (void)cm_reader_fail(&g->r, "a shape is impossible");
  return rank;
}

static cm_type get_type(reading *g)
{
  cm_type type = (cm_type)cm_get_at_most(&g->r, CM_TYPE_COUNT - 1, "a type");
  if (g->r.status == CM_OK && type != CM_TYPE_NONE && cm_type_bytes(type) == 0)
    (void)cm_reader_fail(&g->r, "type %d has no elements", (int)type);
  return type;
}

static bool new_array(reading *g, void *pointer, uint64_t count, size_t size)
{
  void **array = pointer;
  if (g->r.status != CM_OK)
    return false;
  *array = cm_allocate(g->p->memory, (size_t)count + 1, size, g->r.error);
  if (*array == NULL)
    g->r.status = g->r.error->status;
  return *array != NULL;
}

/* ---- chip ---- */

static double get_positive(reading *g, double least, const char *what)
{
  double number = cm_get_real(&g->r);
  if (g->r.status == CM_OK && (!isfinite(number) || number < least || number > 1e15))
    (void)cm_reader_fail(&g->r, "%s is %g", what, number);
  return number;
}

static void get_unit(reading *g, cm_unit_kind kind)
{
  cm_unit *u = &g->p->target.unit[kind];
  u->count = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX, "a count of units");
  u->ports = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX, "a count of ports");
  u->bytes_per_ns = get_positive(g, 0, "a bandwidth");
  u->latency_ns = get_positive(g, 0, "a latency");
  u->rate_count = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_RATES_MAX, "a count of rates");
  for (uint32_t i = 0; i < u->rate_count && g->r.status == CM_OK; i++) {
    const char *type = get_text(g);
    if (type == NULL || strlen(type) >= sizeof u->rate[i].type) {
      (void)cm_reader_fail(&g->r, "a data type's name is too long");
      return;
    }
    memcpy(u->rate[i].type, type, strlen(type) + 1);
    u->rate[i].per_ns = get_positive(g, 1e-12, "a throughput");
  }
  if (g->r.status == CM_OK && (u->count == 0 || u->ports == 0 || (kind == CM_UNIT_DATA && u->bytes_per_ns <= 0)))
    (void)cm_reader_fail(&g->r, "the %s units do nothing", cm_unit_name(kind));
}

static void get_chip(reading *g)
{
  cm_program *p = g->p;
  uint64_t lanes = 0;
  p->chip_name = get_text(g);
  p->opset = cm_get_signed(&g->r);
  p->target.memory_bytes = cm_get_at_most(&g->r, CM_TARGET_MEMORY_MAX, "the memory");
  p->target.issue_ns = get_positive(g, 0, "the issue time");
  for (int k = 0; k < CM_UNIT_KINDS; k++) {
    get_unit(g, (cm_unit_kind)k);
    lanes += (uint64_t)p->target.unit[k].count * p->target.unit[k].ports;
  }
  p->buffer_count = (uint32_t)cm_get_at_most(&g->r, UINT32_MAX - 1, "the number of buffers");
  p->flag_count = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX * CM_TARGET_LANES_MAX, "the number of flags");
  if (lanes > CM_TARGET_LANES_MAX)
    (void)cm_reader_fail(&g->r, "%llu lanes are too many", (unsigned long long)lanes);
  if (!new_array(g, &p->lanes, lanes, sizeof *p->lanes))
    return;
  for (int k = 0; k < CM_UNIT_KINDS; k++)
    for (uint32_t u = 0; u < p->target.unit[k].count; u++)
      for (uint32_t port = 0; port < p->target.unit[k].ports; port++)
        p->lanes[p->lane_count++] = (cm_lane){(cm_unit_kind)k, u, port};
}

/* ---- tensors ---- */

static void get_numbers(reading *g, uint32_t **list, uint32_t *count, const char *what)
{
  uint64_t wanted = cm_get_count(&g->r, what);
  if (!new_array(g, list, wanted, sizeof **list))
    return;
  for (; *count < wanted && g->r.status == CM_OK; ++*count)
    (*list)[*count] = (uint32_t)cm_get_at_most(&g->r, g->p->tensor_count > 0 ? g->p->tensor_count - 1 : 0, what);
  if (wanted > 0 && g->p->tensor_count == 0)
    (void)cm_reader_fail(&g->r, "there is no tensor");
}

static void get_tensors(reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of tensors"), total = 0;
  if (!new_array(g, &p->tensors, wanted, sizeof *p->tensors))
    return;
  while (p->tensor_count < wanted && g->r.status == CM_OK) {
    cm_program_tensor *t = &p->tensors[p->tensor_count++];
    uint64_t count = 0;
    t->name = get_text(g);
    t->role = (cm_tensor_role)cm_get_at_most(&g->r, CM_ROLE_SPILL, "a role");
    t->type = get_type(g);
    t->rank = get_dims(g, t->dims);
    t->address = cm_get_number(&g->r);
    if (g->r.status != CM_OK)
      return;
    (void)cm_dims_count(t->rank, t->dims, &count);
    t->bytes = count * cm_type_bytes(t->type);
    total += t->bytes;
    if (t->type == CM_TYPE_NONE || total > OUTSIDE_BYTES_MAX)
      (void)cm_reader_fail(&g->r, "tensor '%.60s' is impossible", t->name);
  }
  get_numbers(g, &p->inputs, &p->input_count, "an input");
  get_numbers(g, &p->outputs, &p->output_count, "an output");
}

static void get_constants(reading *g)
{
  for (uint32_t i = 0; i < g->p->tensor_count && g->r.status == CM_OK; i++) {
    cm_program_tensor *t = &g->p->tensors[i];
    if (t->role != CM_ROLE_CONSTANT)
      continue;
    bool uniform = cm_get_at_most(&g->r, 1, "the kind of a constant") == 1;
    size_t width = cm_type_bytes(t->type);
    const uint8_t *bytes = cm_get_bytes(&g->r, uniform ? width : t->bytes);
    if (bytes == NULL)
      return;
    if (cm_tensor_new(g->p->memory, t->type, t->rank, t->dims, &t->data, g->r.error) != CM_OK) {
      g->r.status = g->r.error->status;
      return;
    }
    uint8_t *to = t->data->data;
    for (uint64_t k = 0; uniform && k < t->data->count; k++)
      memcpy(to + k * width, bytes, width);
    if (!uniform && t->bytes > 0)
      memcpy(to, bytes, (size_t)t->bytes);
  }
}

/* ---- operators ---- */

static void get_attribute(reading *g, cm_attribute *a)
{
  int64_t *integers;
  float *numbers;
  a->name = get_text(g);
  a->kind = (cm_attribute_kind)cm_get_number(&g->r);
  if (a->kind == CM_ATTRIBUTE_INT)
    a->integer = cm_get_signed(&g->r);
  else if (a->kind == CM_ATTRIBUTE_FLOAT)
    a->number = (float)cm_get_real(&g->r);
  else if (a->kind == CM_ATTRIBUTE_STRING) {
    a->text = get_text(g);
    a->count = a->text != NULL ? strlen(a->text) : 0;
  } else if (a->kind == CM_ATTRIBUTE_INTS) {
    a->count = cm_get_count(&g->r, "the length of an attribute");
    if (g->r.status != CM_OK || CM_ARENA_NEW(&g->p->arena, integers, a->count + 1, g->r.error) != CM_OK)
      return;
    for (size_t i = 0; i < a->count; i++)
      integers[i] = cm_get_signed(&g->r);
    a->integers = integers;
  } else if (a->kind == CM_ATTRIBUTE_FLOATS) {
    a->count = cm_get_count(&g->r, "the length of an attribute");
    if (g->r.status != CM_OK || CM_ARENA_NEW(&g->p->arena, numbers, a->count + 1, g->r.error) != CM_OK)
      return;
    for (size_t i = 0; i < a->count; i++)
      numbers[i] = (float)cm_get_real(&g->r);
    a->numbers = numbers;
  } else
    (void)cm_reader_fail(&g->r, "an attribute has kind %d", (int)a->kind);
}

/* Which of an operator's inputs or outputs are there. */
static uint32_t *get_slots(reading *g, uint32_t *count)
{
  uint32_t *list;
  *count = (uint32_t)cm_get_count(&g->r, "a number of operands");
  if (g->r.status != CM_OK || CM_ARENA_NEW(&g->p->arena, list, *count + 1, g->r.error) != CM_OK)
    return NULL;
  for (uint32_t i = 0; i < *count; i++)
    list[i] = cm_get_at_most(&g->r, 1, "an operand") == 1 ? i : CM_NONE;
  return list;
}

static void get_operators(reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of operators");
  if (!new_array(g, &p->operators, wanted, sizeof *p->operators))
    return;
  while (p->operator_count < wanted && g->r.status == CM_OK) {
    cm_node *n = &p->operators[p->operator_count++];
    n->name = get_text(g);
    n->op = get_text(g);
    n->domain = get_text(g);
    n->inputs = get_slots(g, &n->input_count);
    n->outputs = get_slots(g, &n->output_count);
    n->attribute_count = cm_get_count(&g->r, "the number of attributes");
    if (g->r.status != CM_OK)
      return;
    if (n->inputs == NULL || n->outputs == NULL ||
        CM_ARENA_NEW(&p->arena, n->attributes, n->attribute_count + 1, g->r.error) != CM_OK) {
      g->r.status = g->r.error->status;
      return;
    }
    for (size_t k = 0; k < n->attribute_count && g->r.status == CM_OK; k++)
      get_attribute(g, &n->attributes[k]);
    if (g->r.status == CM_OK && (n->known = cm_operator_find(n->domain, n->op, p->opset)) == NULL)
      (void)cm_reader_fail(&g->r, "operator %.60s is not known", n->op);
  }
}

static void get_objects(reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of objects");
  if (!new_array(g, &p->objects, wanted, sizeof *p->objects))
    return;
  while (p->object_count < wanted && g->r.status == CM_OK) {
    cm_program_object *o = &p->objects[p->object_count++];
    o->name = get_text(g);
    o->first = p->instruction_count;
    o->count = cm_get_at_most(&g->r, UINT32_MAX, "the number of instructions");
    p->instruction_count += o->count;
  }
}

/* ---- code ---- */

static bool room(reading *g, void *pointer, size_t *capacity, uint64_t count, size_t size)
{
  void **array = pointer;
  if (count < *capacity)
    return true;
  size_t wanted = *capacity * 2 + 1024;
  void *block = cm_reallocate(g->p->memory, *array, wanted, size, g->r.error);
  if (block == NULL) {
    g->r.status = g->r.error->status;
    return false;
  }
  *array = block;
  *capacity = wanted;
  return true;
}

static uint32_t get_buffer(reading *g)
{
  uint64_t number = cm_get_number(&g->r);
  if (g->r.status == CM_OK && number >= g->p->buffer_count)
    (void)cm_reader_fail(&g->r, "there is no buffer %llu", (unsigned long long)number);
  return (uint32_t)number;
}

static uint64_t get_range(reading *g, uint64_t bytes)
{
  uint64_t address = cm_get_number(&g->r), memory = g->p->target.memory_bytes;
  if (g->r.status == CM_OK && (bytes > memory || address > memory - bytes))
    (void)cm_reader_fail(&g->r, "%llu bytes at address %llu leave the chip", (unsigned long long)bytes,
                         (unsigned long long)address);
  return address;
}

/* A part stays within the chip and within its operand of `count` elements; returns its elements. */
static uint64_t get_part(reading *g, const cm_operand *o, uint64_t count, cm_program_part *part)
{
  uint64_t width = cm_type_bytes(o->type), elements = 1, memory = g->p->target.memory_bytes / (width > 0 ? width : 1);
  *part = (cm_program_part){.buffer = get_buffer(g)};
  part->address = cm_get_number(&g->r);
  part->to = cm_get_signed(&g->r);
  part->rank = (uint32_t)cm_get_at_most(&g->r, CM_RANK_MAX, "a rank");
  uint64_t from = 0, to = part->to >= 0 ? (uint64_t)part->to : count;
  for (uint32_t i = 0; i < part->rank && g->r.status == CM_OK; i++) {
    uint64_t extent = cm_get_at_most(&g->r, EXTENT_MAX, "an extent"), stride = cm_get_at_most(&g->r, EXTENT_MAX, "a stride"),
             to_stride = cm_get_at_most(&g->r, EXTENT_MAX, "a stride");
    part->extent[i] = (int64_t)extent;
    part->stride[i] = (int64_t)stride;
    part->to_stride[i] = (int64_t)to_stride;
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
  if (g->r.status == CM_OK && (to >= count || (from + 1) * width > g->p->target.memory_bytes ||
                               part->address > g->p->target.memory_bytes - (from + 1) * width))
    (void)cm_reader_fail(&g->r, "a part leaves its operand or the chip");
  return elements;
}

static void get_operand(reading *g, bool output)
{
  cm_program *p = g->p;
  if (!room(g, &p->operands, &g->operand_capacity, p->operand_count, sizeof *p->operands))
    return;
  cm_operand *o = &p->operands[p->operand_count++];
  uint64_t count = 0, covered = 0;
  *o = (cm_operand){.type = get_type(g), .first_part = p->part_count};
  if (o->type == CM_TYPE_NONE || g->r.status != CM_OK)
    return;
  o->rank = get_dims(g, o->dims);
  uint64_t parts = cm_get_count(&g->r, "the number of parts");
  (void)cm_dims_count(o->rank, o->dims, &count);
  if (g->r.status == CM_OK && (count > p->target.memory_bytes || (output && parts != 1)))
    (void)cm_reader_fail(&g->r, "an operand of %llu elements in %llu parts cannot be", (unsigned long long)count,
                         (unsigned long long)parts);
  for (; o->part_count < parts && g->r.status == CM_OK; o->part_count++) {
    if (!room(g, &p->parts, &g->part_capacity, p->part_count, sizeof *p->parts))
      return;
    covered += get_part(g, o, count, &p->parts[p->part_count++]);
  }
  for (uint64_t i = 0; parts == 0 && o->rank == 1 && i < count && i < CM_RANK_MAX; i++)
    o->numbers[i] = cm_get_signed(&g->r);
  bool immediate = parts == 0 && (count == 0 || (o->type == CM_INT64 && o->rank == 1 && count <= CM_RANK_MAX));
  if (g->r.status == CM_OK && !immediate && covered != count)
    (void)cm_reader_fail(&g->r, "the parts of an operand hold %llu of its %llu elements", (unsigned long long)covered,
                         (unsigned long long)count);
  if (output && g->r.status == CM_OK) {
    const cm_program_part *part = &p->parts[o->first_part];
    if (part->to != 0 || count * cm_type_bytes(o->type) > p->target.memory_bytes - part->address)
      (void)cm_reader_fail(&g->r, "an output leaves the chip");
  }
}

static void get_transfer(reading *g, cm_instruction *i)
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
  i->bytes = cm_type_bytes(t->type);
  for (uint32_t k = 0; k < t->rank && g->r.status == CM_OK; k++) {
    i->from[k] = (int64_t)cm_get_at_most(&g->r, (uint64_t)t->dims[k], "a place in a tensor");
    i->extent[k] = (int64_t)cm_get_at_most(&g->r, (uint64_t)(t->dims[k] - i->from[k]), "an extent of a tensor");
    i->bytes *= (uint64_t)i->extent[k];
  }
  if (g->r.status == CM_OK && i->opcode == CM_CODE_STORE && (t->role == CM_ROLE_CONSTANT || t->role == CM_ROLE_INPUT))
    (void)cm_reader_fail(&g->r, "tensor '%.60s' is stored to, and is no output", t->name);
  i->buffer = get_buffer(g);
  i->address = get_range(g, i->bytes);
}

static void get_computation(reading *g, cm_instruction *i)
{
  const cm_program *p = g->p;
  i->operator_number = (uint32_t)cm_get_number(&g->r);
  i->work = cm_get_number(&g->r);
  if (g->r.status == CM_OK && i->operator_number >= p->operator_count)
    (void)cm_reader_fail(&g->r, "there is no operator %u", i->operator_number);
  if (g->r.status != CM_OK)
    return;
  const cm_node *n = &p->operators[i->operator_number];
  i->first_operand = p->operand_count;
  i->input_count = n->input_count;
  i->output_count = n->output_count;
  cm_type type = CM_TYPE_NONE;
  for (uint32_t k = 0; k < i->input_count + i->output_count && g->r.status == CM_OK; k++) {
    bool output = k >= i->input_count, there = (output ? n->outputs[k - i->input_count] : n->inputs[k]) != CM_NONE;
    get_operand(g, output);
    if (g->r.status != CM_OK)
      return;
    const cm_operand *o = &p->operands[p->operand_count - 1];
    if ((o->type != CM_TYPE_NONE) != there)
      (void)cm_reader_fail(&g->r, "operand %u of a %.40s is %s", k, n->op, there ? "missing" : "too much");
    if (k == 0 || (type == CM_TYPE_NONE && o->type != CM_TYPE_NONE))
      type = o->type;
  }
  i->rate = cm_unit_rate(&p->target.unit[cm_opcode_unit(i->opcode)], cm_type_name(type));
  if (g->r.status == CM_OK && i->rate <= 0)
    (void)cm_reader_fail(&g->r, "the chip has no throughput for %s", cm_type_name(type));
}

static void get_instruction(reading *g, cm_instruction *i)
{
  const cm_program *p = g->p;
  i->opcode = (cm_opcode)cm_get_at_most(&g->r, CM_CODE_COUNT - 1, "an opcode");
  i->lane = (uint32_t)cm_get_at_most(&g->r, p->lane_count - 1, "a lane");
  if (g->r.status != CM_OK)
    return;
  bool flags = i->opcode == CM_CODE_SET || i->opcode == CM_CODE_WAIT;
  if ((int)i->opcode == 0 || (!flags && p->lanes[i->lane].kind != cm_opcode_unit(i->opcode))) {
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
    if (g->r.status == CM_OK && (i->source > p->target.memory_bytes - i->bytes ||
                                 i->address > p->target.memory_bytes - i->bytes))
      (void)cm_reader_fail(&g->r, "a COPY leaves the chip");
    return;
  case CM_CODE_SET:
  case CM_CODE_WAIT:
    i->flag = (uint32_t)cm_get_number(&g->r);
    if (g->r.status == CM_OK && i->flag >= p->flag_count)
      (void)cm_reader_fail(&g->r, "there is no flag %u", i->flag);
    if (i->opcode == CM_CODE_WAIT && (i->value = cm_get_number(&g->r)) == 0)
      (void)cm_reader_fail(&g->r, "a WAIT for nothing");
    return;
  default:
    get_computation(g, i);
  }
}

static void get_code(reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = p->instruction_count;
  if (wanted > g->r.size) {
    (void)cm_reader_fail(&g->r, "%llu instructions should follow", (unsigned long long)wanted);
    return;
  }
  if (!new_array(g, &p->instructions, wanted, sizeof *p->instructions))
    return;
  for (uint64_t i = 0; i < wanted && g->r.status == CM_OK; i++)
    get_instruction(g, &p->instructions[i]);
}

/* ---- the file ---- */

static uint64_t fixed(const uint8_t *bytes, int count)
{
  uint64_t number = 0;
  for (int i = 0; i < count; i++)
    number |= (uint64_t)bytes[i] << 8 * i;
  return number;
}

static void get_section(reading *g, const uint8_t *bytes, size_t size, size_t *at, cm_section section)
{
  static void (*const get[])(reading *) = {NULL, get_chip, get_tensors, get_constants, get_operators, get_objects, get_code};
  uint8_t hash[CM_SECTION_HASH_BYTES];
  g->r = (cm_reader){.bytes = bytes, .size = size, .at = *at, .error = g->r.error};
  if (size - *at < CM_SECTION_HEADER_BYTES) {
    (void)cm_reader_fail(&g->r, "section %s should follow", cm_section_name(section));
    return;
  }
  const uint8_t *header = bytes + *at;
  uint64_t length = fixed(header + 8, 8);
  if (fixed(header, 8) != (uint64_t)section) {
    (void)cm_reader_fail(&g->r, "section %s should follow", cm_section_name(section));
    return;
  }
  *at += CM_SECTION_HEADER_BYTES;
  g->r.at = *at;
  if (length > size - *at) {
    (void)cm_reader_fail(&g->r, "section %s should have %llu bytes, and %zu follow", cm_section_name(section),
                         (unsigned long long)length, size - *at);
    return;
  }
  g->r = (cm_reader){.bytes = bytes + *at, .size = (size_t)length, .section = section, .error = g->r.error};
  cm_section_hash(bytes + *at, (size_t)length, hash);
  if (memcmp(hash, header + 16, sizeof hash) != 0) {
    (void)cm_reader_fail(&g->r, "the checksum does not match");
    return;
  }
  get[section](g);
  if (g->r.status == CM_OK && g->r.at != g->r.size)
    (void)cm_reader_fail(&g->r, "%zu bytes are left over", g->r.size - g->r.at);
  *at += (size_t)length;
}

cm_status cm_program_read_memory(const void *bytes, size_t size, cm_run *run, cm_program **made, cm_error *error)
{
  reading g = {.r = {.bytes = bytes, .size = size, .error = error}};
  size_t at = CM_PROGRAM_HEADER_BYTES;
  if (size < CM_PROGRAM_HEADER_BYTES || memcmp(bytes, cm_program_magic, sizeof cm_program_magic) != 0)
    return cm_reader_fail(&g.r, "this is no program file");
  uint64_t version = fixed((const uint8_t *)bytes + 8, 4);
  if (version != CM_PROGRAM_VERSION)
    return cm_reader_fail(&g.r, "it has version %llu; this program reads version %d", (unsigned long long)version,
                          CM_PROGRAM_VERSION);
  if (fixed((const uint8_t *)bytes + 12, 4) != CM_SECTION_END - 1)
    return cm_reader_fail(&g.r, "it should have %d sections", CM_SECTION_END - 1);
  if (CM_NEW(run->memory, g.p, 1, error) != CM_OK)
    return error->status;
  g.p->memory = run->memory;
  cm_arena_init(&g.p->arena, run->memory);
  for (int s = CM_SECTION_CHIP; s < CM_SECTION_END && g.r.status == CM_OK; s++)
    get_section(&g, bytes, size, &at, (cm_section)s);
  if (g.r.status == CM_OK && at != size)
    (void)cm_reader_fail(&g.r, "%zu bytes follow its end", size - at);
  if (g.r.status != CM_OK) {
    cm_program_free(g.p);
    return g.r.status;
  }
  *made = g.p;
  return CM_OK;
}

cm_status cm_program_read(const char *path, cm_run *run, cm_program **made, cm_error *error)
{
  char *bytes;
  size_t size;
  if (cm_file_read(path, FILE_BYTES_MAX, &bytes, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_program_read_memory(bytes, size, run, made, error);
  free(bytes);
  return status;
}
