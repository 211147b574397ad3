/* The sections of a program file before its code, both ways: docs/reference/program-file.md. Of what is read every number's range is checked. */
#include <string.h>

#include "core/machine/program/coding.h"
#include "core/operators/operator.h"

/* ---- chip ---- */

/* A text in an array of its own. */
static void code_label(cm_coding *c, char *label, size_t size, const char *what)
{
  const char *text = cm_code_name(c, label);
  CM_REFUSE_IF(c, strlen(text) >= size, "%s is too long", what);
  if (cm_reads(c))
    memcpy(label, text, strlen(text) + 1);
}

static void code_device(cm_coding *c, cm_device *d, uint32_t units)
{
  cm_target *t = &c->p->target;
  const cm_unit_kind kinds = c->version >= CM_PROGRAM_VERSION_HOST ? CM_UNIT_HOST : CM_UNIT_VECTOR;
  uint64_t flags = (uint64_t)d->moves | (uint64_t)d->pipelined << 1;
  code_label(c, d->name, sizeof d->name, "a device's name");
  CM_CODE(c, d->units, CM_TARGET_LANES_MAX - units, "a count of units");
  CM_CODE(c, d->ports, CM_TARGET_LANES_MAX, "a count of ports");
  CM_CODE(c, flags, 3, "the flags of a device");
  d->moves = (flags & 1) != 0;
  d->pipelined = (flags & 2) != 0;
  cm_code_real(c, &d->bytes_per_ns, 0, "a bandwidth");
  cm_code_real(c, &d->latency_ns, 0, "a latency");
  for (uint32_t u = 0; u < d->units && c->r.status == CM_OK; u++)
    CM_CODE(c, t->core[units + u], (uint64_t)t->grid.width * t->grid.height - 1, "a core");
  for (cm_unit_kind k = CM_UNIT_MATRIX; k <= kinds && c->r.status == CM_OK; k++) {
    CM_CODE(c, d->rate_count[k], CM_TARGET_RATES_MAX, "a count of rates");
    for (uint32_t i = 0; i < d->rate_count[k] && c->r.status == CM_OK; i++) {
      code_label(c, d->rate[k][i].type, sizeof d->rate[k][i].type, "a data type's name");
      cm_code_real(c, &d->rate[k][i].per_ns, 1e-12, "a throughput");
    }
  }
  const bool idle = d->moves ? d->bytes_per_ns <= 0 || d->rate_count[CM_UNIT_MATRIX] + d->rate_count[CM_UNIT_VECTOR] + d->rate_count[CM_UNIT_HOST] > 0
                             : d->ports != 1 || (!d->pipelined && d->bytes_per_ns <= 0);
  CM_REFUSE_IF(c, d->units == 0 || d->ports == 0 || idle, "device %s does nothing", d->name);
}

static void code_grid(cm_coding *c, cm_core_grid *f)
{
  uint32_t *const extents[] = {&f->width, &f->height, &f->die_width, &f->die_height, &f->router_x, &f->router_y};
  double *const hops[] = {&f->router_ns, &f->east_west_ns, &f->north_south_ns, &f->die_to_die_ns};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
    CM_CODE(c, *extents[i], CM_CHIP_CORES_MAX, "an extent of the grid");
  CM_CODE(c, f->torus_x, 1, "a torus");
  CM_CODE(c, f->torus_y, 1, "a torus");
  for (size_t i = 0; i < sizeof hops / sizeof *hops; i++)
    cm_code_real(c, hops[i], 0, "what a hop takes");
  CM_REFUSE_IF(c, f->width == 0 || f->height == 0 || f->die_width == 0 || f->die_height == 0 || f->router_x == 0 || f->router_y == 0 ||
                    (uint64_t)f->width * f->height > CM_CHIP_CORES_MAX || f->width % f->die_width != 0 || f->height % f->die_height != 0 ||
                    f->die_width % f->router_x != 0 || f->die_height % f->router_y != 0,
               "no grid of cores is %u x %u", f->width, f->height);
}

/* Memories of cores; one that all share is the last. */
static void code_memories(cm_coding *c, cm_target *t)
{
  const uint64_t cores = (uint64_t)t->grid.width * t->grid.height;
  const bool any = c->version == CM_PROGRAM_VERSION_MEMORIES;
  uint64_t to = 0;
  cm_code_real(c, &t->link_bytes_per_ns, any ? 1e-12 : 0, "the bandwidth of links");
  CM_CODE(c, t->memory_count, CM_TARGET_MEMORIES_MAX, "a count of memories");
  for (uint32_t m = 0; m < t->memory_count && c->r.status == CM_OK; m++) {
    uint64_t core = t->memory[m].core == CM_CORE_SHARED ? 0 : (uint64_t)t->memory[m].core + 1, bytes = t->memory[m].to - to;
    CM_CODE(c, core, cores, "the core of a memory");
    CM_CODE(c, bytes, t->memory_bytes - to, "a memory");
    to += bytes;
    t->memory[m] = (cm_core_memory){core == 0 ? CM_CORE_SHARED : (uint32_t)core - 1, to};
    CM_REFUSE_IF(c, bytes == 0 || (core == 0 && m + 1 < t->memory_count), "memory %u has no bytes, or is shared and not the last", m);
  }
  CM_REFUSE_IF(c, t->memory_count > 0 ? t->link_bytes_per_ns <= 0 || to != t->memory_bytes : any,
               "memories of cores have %llu bytes together, the chip %llu", (unsigned long long)to, (unsigned long long)t->memory_bytes);
}

void cm_code_chip(cm_coding *c)
{
  cm_program *p = c->p;
  cm_target *t = &p->target;
  cm_error error;
  uint32_t units = 0;
  p->chip_name = cm_code_name(c, p->chip_name);
  cm_code_signed(c, &p->opset);
  CM_CODE(c, t->memory_bytes, CM_TARGET_MEMORY_MAX, "the memory");
  cm_code_real(c, &t->issue_ns, 0, "the issue time");
  code_grid(c, &t->grid);
  CM_CODE(c, t->device_count, CM_TARGET_DEVICES_MAX, "a count of devices");
  for (uint32_t d = 0; d < t->device_count && c->r.status == CM_OK; units += t->device[d++].units)
    code_device(c, &t->device[d], units);
  CM_REFUSE_IF(c, cm_target_number(t, &error) != CM_OK, "%s", error.detail);
  if (c->version >= CM_PROGRAM_VERSION_STREAM) { /* how instructions come to a chip that issues in order */
    CM_CODE(c, t->window, CM_TARGET_WINDOW_MAX, "the window");
    CM_CODE(c, t->code_bytes, CM_TARGET_CODE_MAX, "the bytes of an instruction");
    CM_REFUSE_IF(c, t->window == 0 && t->code_bytes > 0, "instructions have %u bytes, and no stream", t->code_bytes);
  }
  if (c->version >= CM_PROGRAM_VERSION_MEMORIES)
    code_memories(c, t);
  CM_CODE(c, p->buffer_count, CM_PART_OUTSIDE - 1, "the number of buffers");
  CM_CODE(c, p->flag_count, CM_TARGET_LANES_MAX * CM_TARGET_LANES_MAX, "the number of flags");
  if (c->version >= CM_PROGRAM_VERSION_TURNS)
    CM_CODE(c, p->turns, CM_TURNS_MAX, "the number of turns");
  else if (c->w == NULL)
    p->turns = 1;
  CM_REFUSE_IF(c, p->turns == 0 || (p->turns > 1 && t->window > 0), "%u turns, of a chip that issues %s", p->turns, t->window > 0 ? "in order" : "out of order");
  if (cm_reads(c) && cm_code_room(c, CM_NEW(p->memory, p->lanes, t->lane_count + 1, c->r.error)))
    cm_program_number_lanes(p);
}

/* ---- tensors ---- */

static void code_numbers(cm_coding *c, uint32_t **list, uint32_t *count, const char *what)
{
  const uint32_t tensors = c->p->tensor_count;
  *count = cm_code_array(c, list, *count, sizeof **list, what);
  for (uint32_t i = 0; i < *count && c->r.status == CM_OK; i++)
    CM_CODE(c, (*list)[i], tensors > 0 ? tensors - 1 : 0, what);
  CM_REFUSE_IF(c, *count > 0 && tensors == 0, "there is no tensor");
}

void cm_code_tensors(cm_coding *c)
{
  cm_program *p = c->p;
  uint64_t total = 0;
  p->tensor_count = cm_code_array(c, &p->tensors, p->tensor_count, sizeof *p->tensors, "the number of tensors");
  for (uint32_t i = 0; i < p->tensor_count && c->r.status == CM_OK; i++) {
    cm_program_tensor *t = &p->tensors[i];
    uint64_t count = 0;
    t->name = cm_code_name(c, t->name);
    CM_CODE(c, t->role, CM_ROLE_SPILL, "a role");
    cm_code_type(c, &t->type);
    t->rank = cm_code_dims(c, t->rank, t->dims);
    CM_CODE_ANY(c, t->address);
    if (!cm_reads(c))
      continue;
    (void)cm_dims_count(t->rank, t->dims, &count);
    t->bytes = count * cm_type_bytes(t->type);
    total += t->bytes;
    CM_REFUSE_IF(c, t->type == CM_TYPE_NONE || total > CM_OUTSIDE_BYTES_MAX || (p->turns > 1 && t->role != CM_ROLE_CONSTANT && (t->rank == 0 || t->dims[0] % p->turns != 0)),
                 "tensor '%.60s' is impossible", t->name);
  }
  code_numbers(c, &p->inputs, &p->input_count, "an input");
  code_numbers(c, &p->outputs, &p->output_count, "an output");
}

/* Constants of one number throughout are written as that number. */
static void code_constant(cm_coding *c, cm_program_tensor *t)
{
  const size_t width = cm_type_bytes(t->type);
  const uint8_t *bytes = c->w != NULL ? t->data->data : NULL;
  bool uniform = c->w != NULL && t->bytes > width && memcmp(bytes, bytes + width, (size_t)t->bytes - width) == 0;
  CM_CODE(c, uniform, 1, "the kind of a constant");
  if (c->w != NULL)
    cm_put_bytes(c->w, bytes, uniform ? width : (size_t)t->bytes);
  else
    bytes = cm_get_bytes(&c->r, uniform ? width : t->bytes);
  if (!cm_reads(c) || !cm_code_room(c, cm_tensor_new(c->p->memory, t->type, t->rank, t->dims, &t->data, c->r.error)))
    return;
  uint8_t *to = t->data->data;
  for (uint64_t k = 0; uniform && k < t->data->count; k++)
    memcpy(to + k * width, bytes, width);
  if (!uniform && t->bytes > 0)
    memcpy(to, bytes, (size_t)t->bytes);
}

void cm_code_constants(cm_coding *c)
{
  for (uint32_t i = 0; i < c->p->tensor_count && c->r.status == CM_OK; i++)
    if (c->p->tensors[i].role == CM_ROLE_CONSTANT)
      code_constant(c, &c->p->tensors[i]);
}

/* ---- operators ---- */

static void code_attribute(cm_coding *c, cm_attribute *a)
{
  int64_t *integers = NULL;
  float *numbers = NULL;
  a->name = cm_code_name(c, a->name);
  CM_CODE_ANY(c, a->kind);
  const bool lists = a->kind == CM_ATTRIBUTE_INTS || a->kind == CM_ATTRIBUTE_FLOATS;
  if (a->kind == CM_ATTRIBUTE_INT)
    cm_code_signed(c, &a->integer);
  else if (a->kind == CM_ATTRIBUTE_FLOAT)
    a->number = (float)cm_code_double(c, (double)a->number);
  else if (a->kind == CM_ATTRIBUTE_STRING || a->kind == CM_ATTRIBUTE_STRINGS) {
    a->text = cm_code_text(c, a->text, a->count);
    a->count = c->w != NULL ? a->count : strlen(a->text);
  } else
    CM_REFUSE_IF(c, !lists, "an attribute has kind %d", (int)a->kind);
  if (!lists || c->r.status != CM_OK)
    return;
  a->count = cm_code_count(c, a->count, "the length of an attribute");
  if (cm_reads(c)) {
    cm_arena *arena = &c->p->arena;
    if (!cm_code_room(c, a->kind == CM_ATTRIBUTE_INTS ? CM_ARENA_NEW(arena, integers, a->count + 1, c->r.error)
                                                      : CM_ARENA_NEW(arena, numbers, a->count + 1, c->r.error)))
      return;
    a->integers = integers;
    a->numbers = numbers;
  }
  for (size_t i = 0; i < a->count && a->kind == CM_ATTRIBUTE_INTS; i++) {
    int64_t number = a->integers[i];
    cm_code_signed(c, &number);
    if (c->w == NULL)
      integers[i] = number;
  }
  for (size_t i = 0; i < a->count && a->kind == CM_ATTRIBUTE_FLOATS; i++) {
    const float number = (float)cm_code_double(c, (double)a->numbers[i]);
    if (c->w == NULL)
      numbers[i] = number;
  }
}

/* Which of an operator's inputs or outputs are there. */
static void code_slots(cm_coding *c, uint32_t **list, uint32_t *count)
{
  *count = cm_code_count(c, *count, "a number of operands");
  if (cm_reads(c))
    (void)cm_code_room(c, CM_ARENA_NEW(&c->p->arena, *list, *count + 1, c->r.error));
  for (uint32_t i = 0; i < *count && c->r.status == CM_OK; i++) {
    const bool there = cm_code_number(c, (*list)[i] != CM_NONE, 1, "an operand") == 1;
    if (c->w == NULL)
      (*list)[i] = there ? i : CM_NONE;
  }
}

void cm_code_operators(cm_coding *c)
{
  cm_program *p = c->p;
  p->operator_count = cm_code_array(c, &p->operators, p->operator_count, sizeof *p->operators, "the number of operators");
  for (uint32_t i = 0; i < p->operator_count && c->r.status == CM_OK; i++) {
    cm_node *n = &p->operators[i];
    n->name = cm_code_name(c, n->name);
    n->op = cm_code_name(c, n->op);
    n->domain = cm_code_name(c, n->domain);
    code_slots(c, &n->inputs, &n->input_count);
    code_slots(c, &n->outputs, &n->output_count);
    for (uint32_t o = 0; cm_reads(c) && o < n->output_count; o++)
      CM_REFUSE_IF(c, n->outputs[o] == CM_NONE, "output %u of a %.40s is missing", o, n->op);
    n->attribute_count = cm_code_count(c, n->attribute_count, "the number of attributes");
    if (cm_reads(c))
      (void)cm_code_room(c, CM_ARENA_NEW(&p->arena, n->attributes, n->attribute_count + 1, c->r.error));
    for (size_t k = 0; k < n->attribute_count && c->r.status == CM_OK; k++)
      code_attribute(c, &n->attributes[k]);
    if (cm_reads(c))
      n->known = cm_operator_find(n->domain, n->op, p->opset);
    CM_REFUSE_IF(c, n->known == NULL, "operator %.60s is not known", n->op);
    if (cm_reads(c))
      (void)cm_code_room(c, cm_node_check_kinds(n, c->r.error));
  }
}

void cm_code_objects(cm_coding *c)
{
  cm_program *p = c->p;
  p->object_count = cm_code_array(c, &p->objects, p->object_count, sizeof *p->objects, "the number of objects");
  for (uint32_t i = 0; i < p->object_count && c->r.status == CM_OK; i++) {
    cm_program_object *o = &p->objects[i];
    o->name = cm_code_name(c, o->name);
    CM_CODE(c, o->count, UINT32_MAX, "the number of instructions");
    if (c->w != NULL)
      continue;
    o->first = p->instruction_count;
    p->instruction_count += o->count;
  }
}
