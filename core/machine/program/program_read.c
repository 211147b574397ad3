/* Program files in. Everything is checked here, so that what runs a program need not: sections and their checksums, every
 * number's range, every part within its operand and within the chip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/machine/program/reading.h"
#include "core/operators/operator.h"

#define FILE_BYTES_MAX ((size_t)1 << 36)

static const char *get_text(cm_reading *g)
{
  uint64_t length = cm_get_count(&g->r, "a text's length");
  const uint8_t *bytes = cm_get_bytes(&g->r, length);
  char *text = cm_arena_text(&g->p->arena, bytes != NULL ? (const char *)bytes : "", bytes != NULL ? length : 0,
                             g->r.error);
  if (text == NULL)
    g->r.status = g->r.error->status;
  return text;
}

/* ---- chip ---- */

static double get_positive(cm_reading *g, double least, const char *what)
{
  double number = cm_get_real(&g->r);
  if (g->r.status == CM_OK && (!isfinite(number) || number < least || number > 1e15))
    (void)cm_reader_fail(&g->r, "%s is %g", what, number);
  return number;
}

static void get_rates(cm_reading *g, cm_device *d, cm_unit_kind kind)
{
  d->rate_count[kind] = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_RATES_MAX, "a count of rates");
  for (uint32_t i = 0; i < d->rate_count[kind] && g->r.status == CM_OK; i++) {
    const char *type = get_text(g);
    if (type == NULL || strlen(type) >= sizeof d->rate[kind][i].type) {
      (void)cm_reader_fail(&g->r, "a data type's name is too long");
      return;
    }
    memcpy(d->rate[kind][i].type, type, strlen(type) + 1);
    d->rate[kind][i].per_ns = get_positive(g, 1e-12, "a throughput");
  }
}

static void get_device(cm_reading *g, uint32_t units)
{
  cm_target *t = &g->p->target;
  cm_device *d = &t->device[t->device_count];
  const char *name = get_text(g);
  if (name == NULL || strlen(name) >= sizeof d->name) {
    (void)cm_reader_fail(&g->r, "a device's name is too long");
    return;
  }
  memcpy(d->name, name, strlen(name) + 1);
  d->units = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX - units, "a count of units");
  d->ports = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX, "a count of ports");
  uint64_t flags = cm_get_at_most(&g->r, 3, "the flags of a device");
  d->moves = (flags & 1) != 0;
  d->pipelined = (flags & 2) != 0;
  d->bytes_per_ns = get_positive(g, 0, "a bandwidth");
  d->latency_ns = get_positive(g, 0, "a latency");
  for (uint32_t u = 0; u < d->units && g->r.status == CM_OK; u++)
    t->core[units + u] = (uint32_t)cm_get_at_most(&g->r, (uint64_t)t->grid.width * t->grid.height - 1, "a core");
  for (cm_unit_kind k = CM_UNIT_MATRIX; k <= (g->version >= CM_PROGRAM_VERSION_HOST ? CM_UNIT_HOST : CM_UNIT_VECTOR) && g->r.status == CM_OK; k++)
    get_rates(g, d, k);
  bool idle = d->moves ? d->bytes_per_ns <= 0 || d->rate_count[CM_UNIT_MATRIX] + d->rate_count[CM_UNIT_VECTOR] + d->rate_count[CM_UNIT_HOST] > 0
                       : d->ports != 1 || (!d->pipelined && d->bytes_per_ns <= 0);
  CM_REFUSE_IF(g, d->units == 0 || d->ports == 0 || idle, "device %s does nothing", d->name);
}

static void get_fabric(cm_reading *g)
{
  cm_core_grid *f = &g->p->target.grid;
  uint32_t *const grid[] = {&f->width, &f->height, &f->die_width, &f->die_height, &f->router_x, &f->router_y};
  double *const hops[] = {&f->router_ns, &f->east_west_ns, &f->north_south_ns, &f->die_to_die_ns};
  for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
    *grid[i] = (uint32_t)cm_get_at_most(&g->r, CM_CHIP_CORES_MAX, "an extent of the grid");
  f->torus_x = cm_get_at_most(&g->r, 1, "a torus") != 0;
  f->torus_y = cm_get_at_most(&g->r, 1, "a torus") != 0;
  for (size_t i = 0; i < sizeof hops / sizeof *hops; i++)
    *hops[i] = get_positive(g, 0, "what a hop takes");
  bool whole = f->width > 0 && f->height > 0 && f->die_width > 0 && f->die_height > 0 && f->router_x > 0 && f->router_y > 0;
  whole = whole && (uint64_t)f->width * f->height <= CM_CHIP_CORES_MAX && f->width % f->die_width == 0 &&
          f->height % f->die_height == 0 && f->die_width % f->router_x == 0 && f->die_height % f->router_y == 0;
  CM_REFUSE_IF(g, !whole, "no grid of cores is %u x %u", f->width, f->height);
}

/* Memories of cores; one that all share is the last. */
static void get_memories(cm_reading *g)
{
  cm_target *t = &g->p->target;
  uint64_t cores = (uint64_t)t->grid.width * t->grid.height, to = 0;
  const bool any = g->version == CM_PROGRAM_VERSION_MEMORIES;
  t->link_bytes_per_ns = get_positive(g, any ? 1e-12 : 0, "the bandwidth of links");
  const uint32_t count = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_MEMORIES_MAX, "a count of memories");
  for (; t->memory_count < count && g->r.status == CM_OK; t->memory_count++) {
    const uint64_t core = cm_get_at_most(&g->r, cores, "the core of a memory"), bytes = cm_get_at_most(&g->r, t->memory_bytes - to, "a memory");
    to += bytes;
    t->memory[t->memory_count] = (cm_core_memory){core == 0 ? CM_CORE_SHARED : (uint32_t)core - 1, to};
    if (g->r.status == CM_OK && (bytes == 0 || (core == 0 && t->memory_count + 1 < count)))
      (void)cm_reader_fail(&g->r, "memory %u has no bytes, or is shared and not the last", t->memory_count);
  }
  CM_REFUSE_IF(g, count > 0 ? t->link_bytes_per_ns <= 0 || to != t->memory_bytes : any,
                "memories of cores have %llu bytes together, the chip %llu", (unsigned long long)to, (unsigned long long)t->memory_bytes);
}

/* How instructions come to a chip that issues in order. */
static void get_issue(cm_reading *g)
{
  cm_target *t = &g->p->target;
  t->window = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_WINDOW_MAX, "the window");
  t->code_bytes = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_CODE_MAX, "the bytes of an instruction");
  CM_REFUSE_IF(g, t->window == 0 && t->code_bytes > 0, "instructions have %u bytes, and no stream", t->code_bytes);
}

static void get_chip(cm_reading *g)
{
  cm_program *p = g->p;
  cm_error error;
  p->chip_name = get_text(g);
  p->opset = cm_get_signed(&g->r);
  p->target.memory_bytes = cm_get_at_most(&g->r, CM_TARGET_MEMORY_MAX, "the memory");
  p->target.issue_ns = get_positive(g, 0, "the issue time");
  get_fabric(g);
  uint32_t devices = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_DEVICES_MAX, "a count of devices"), units = 0;
  for (; p->target.device_count < devices && g->r.status == CM_OK; p->target.device_count++) {
    get_device(g, units);
    units += p->target.device[p->target.device_count].units;
  }
  CM_REFUSE_IF(g, cm_target_number(&p->target, &error) != CM_OK, "%s", error.detail);
  if (g->version >= CM_PROGRAM_VERSION_STREAM)
    get_issue(g);
  if (g->version >= CM_PROGRAM_VERSION_MEMORIES)
    get_memories(g);
  p->buffer_count = (uint32_t)cm_get_at_most(&g->r, CM_PART_OUTSIDE - 1, "the number of buffers");
  p->flag_count = (uint32_t)cm_get_at_most(&g->r, CM_TARGET_LANES_MAX * CM_TARGET_LANES_MAX, "the number of flags");
  p->turns = g->version >= CM_PROGRAM_VERSION_TURNS ? (uint32_t)cm_get_at_most(&g->r, CM_TURNS_MAX, "the number of turns") : 1;
  if (g->r.status == CM_OK && (p->turns == 0 || (p->turns > 1 && p->target.window > 0)))
    (void)cm_reader_fail(&g->r, "%u turns, of a chip that issues %s", p->turns, p->target.window > 0 ? "in order" : "out of order");
  if (g->r.status == CM_OK && cm_reading_array(g, &p->lanes, p->target.lane_count, sizeof *p->lanes))
    cm_program_number_lanes(p);
}

/* ---- tensors ---- */

static void get_numbers(cm_reading *g, uint32_t **list, uint32_t *count, const char *what)
{
  uint64_t wanted = cm_get_count(&g->r, what);
  if (!cm_reading_array(g, list, wanted, sizeof **list))
    return;
  for (; *count < wanted && g->r.status == CM_OK; ++*count)
    (*list)[*count] = (uint32_t)cm_get_at_most(&g->r, g->p->tensor_count > 0 ? g->p->tensor_count - 1 : 0, what);
  if (wanted > 0 && g->p->tensor_count == 0)
    (void)cm_reader_fail(&g->r, "there is no tensor");
}

static void get_tensors(cm_reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of tensors"), total = 0;
  if (!cm_reading_array(g, &p->tensors, wanted, sizeof *p->tensors))
    return;
  while (p->tensor_count < wanted && g->r.status == CM_OK) {
    cm_program_tensor *t = &p->tensors[p->tensor_count++];
    uint64_t count = 0;
    t->name = get_text(g);
    t->role = (cm_tensor_role)cm_get_at_most(&g->r, CM_ROLE_SPILL, "a role");
    t->type = cm_reading_type(g);
    t->rank = cm_reading_dims(g, t->dims);
    t->address = cm_get_number(&g->r);
    if (g->r.status != CM_OK)
      return;
    (void)cm_dims_count(t->rank, t->dims, &count);
    t->bytes = count * cm_type_bytes(t->type);
    total += t->bytes;
    if (t->type == CM_TYPE_NONE || total > CM_OUTSIDE_BYTES_MAX ||
        (p->turns > 1 && t->role != CM_ROLE_CONSTANT && (t->rank == 0 || t->dims[0] % p->turns != 0)))
      (void)cm_reader_fail(&g->r, "tensor '%.60s' is impossible", t->name);
  }
  get_numbers(g, &p->inputs, &p->input_count, "an input");
  get_numbers(g, &p->outputs, &p->output_count, "an output");
}

static void get_constants(cm_reading *g)
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

static void get_attribute(cm_reading *g, cm_attribute *a)
{
  int64_t *integers;
  float *numbers;
  a->name = get_text(g);
  a->kind = (cm_attribute_kind)cm_get_number(&g->r);
  if (a->kind == CM_ATTRIBUTE_INT)
    a->integer = cm_get_signed(&g->r);
  else if (a->kind == CM_ATTRIBUTE_FLOAT)
    a->number = (float)cm_get_real(&g->r);
  else if (a->kind == CM_ATTRIBUTE_STRING || a->kind == CM_ATTRIBUTE_STRINGS) {
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
static uint32_t *get_slots(cm_reading *g, uint32_t *count)
{
  uint32_t *list;
  *count = (uint32_t)cm_get_count(&g->r, "a number of operands");
  if (g->r.status != CM_OK || CM_ARENA_NEW(&g->p->arena, list, *count + 1, g->r.error) != CM_OK)
    return NULL;
  for (uint32_t i = 0; i < *count; i++)
    list[i] = cm_get_at_most(&g->r, 1, "an operand") == 1 ? i : CM_NONE;
  return list;
}

static void get_operators(cm_reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of operators");
  if (!cm_reading_array(g, &p->operators, wanted, sizeof *p->operators))
    return;
  while (p->operator_count < wanted && g->r.status == CM_OK) {
    cm_node *n = &p->operators[p->operator_count++];
    n->name = get_text(g);
    n->op = get_text(g);
    n->domain = get_text(g);
    n->inputs = get_slots(g, &n->input_count);
    n->outputs = get_slots(g, &n->output_count);
    for (uint32_t o = 0; g->r.status == CM_OK && o < n->output_count; o++)
      if (n->outputs[o] == CM_NONE)
        (void)cm_reader_fail(&g->r, "output %u of a %.40s is missing", o, n->op);
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
    else if (g->r.status == CM_OK)
      g->r.status = cm_node_check_kinds(n, g->r.error);
  }
}

static void get_objects(cm_reading *g)
{
  cm_program *p = g->p;
  uint64_t wanted = cm_get_count(&g->r, "the number of objects");
  if (!cm_reading_array(g, &p->objects, wanted, sizeof *p->objects))
    return;
  while (p->object_count < wanted && g->r.status == CM_OK) {
    cm_program_object *o = &p->objects[p->object_count++];
    o->name = get_text(g);
    o->first = p->instruction_count;
    o->count = cm_get_at_most(&g->r, UINT32_MAX, "the number of instructions");
    p->instruction_count += o->count;
  }
}

/* ---- the file ---- */

static uint64_t fixed(const uint8_t *bytes, int count)
{
  uint64_t number = 0;
  for (int i = 0; i < count; i++)
    number |= (uint64_t)bytes[i] << 8 * i;
  return number;
}

static void get_section(cm_reading *g, const uint8_t *bytes, size_t size, size_t *at, cm_section section)
{
  static void (*const get[])(cm_reading *) = {NULL, get_chip, get_tensors, get_constants, get_operators, get_objects, cm_reading_code};
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
  CM_REFUSE_IF(g, g->r.at != g->r.size, "%zu bytes are left over", g->r.size - g->r.at);
  *at += (size_t)length;
}

cm_status cm_program_read_memory(const void *bytes, size_t size, cm_run *run, cm_program **made, cm_error *error)
{
  cm_reading g = {.r = {.bytes = bytes, .size = size, .error = error}};
  size_t at = CM_PROGRAM_HEADER_BYTES;
  if (size < CM_PROGRAM_HEADER_BYTES || memcmp(bytes, cm_program_magic, sizeof cm_program_magic) != 0)
    return size > 2 && *(const uint8_t *)bytes == 0x08 /* ir_version of an ONNX model */
               ? cm_fail(error, CM_DAMAGED, "this is a model; compile it first (coremap compile)")
               : cm_fail(error, CM_DAMAGED, "this is no program file, which coremap compile --chip NAME makes of a model");
  g.version = fixed((const uint8_t *)bytes + 8, 4);
  if (g.version < CM_PROGRAM_VERSION || g.version > CM_PROGRAM_VERSION_OUTSIDE)
    return cm_reader_fail(&g.r, "it has version %llu; this program reads versions %d to %d", (unsigned long long)g.version,
                          CM_PROGRAM_VERSION, CM_PROGRAM_VERSION_OUTSIDE);
  if (fixed((const uint8_t *)bytes + 12, 4) != CM_SECTION_END - 1)
    return cm_reader_fail(&g.r, "it should have %d sections", CM_SECTION_END - 1);
  CM_TRY(CM_NEW(run->memory, g.p, 1, error));
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
  CM_TRY(cm_file_read(path, FILE_BYTES_MAX, &bytes, &size, error));
  cm_status status = cm_program_read_memory(bytes, size, run, made, error);
  free(bytes);
  return status;
}
