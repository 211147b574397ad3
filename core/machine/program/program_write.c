/* Program files out: docs/reference/program-file.md. */
#include <string.h>

#include "base/file.h"
#include "core/machine/program/code_loops.h"
#include "core/machine/program/program.h"

static void put_dims(cm_writer *w, uint32_t rank, const int64_t *dims)
{
  cm_put_number(w, rank);
  for (uint32_t i = 0; i < rank; i++)
    cm_put_signed(w, dims[i]);
}

static void put_device(cm_writer *w, const cm_target *t, const cm_device *d)
{
  cm_put_text(w, d->name);
  cm_put_number(w, d->units);
  cm_put_number(w, d->ports);
  cm_put_number(w, (uint64_t)d->moves | (uint64_t)d->pipelined << 1);
  cm_put_real(w, d->bytes_per_ns);
  cm_put_real(w, d->latency_ns);
  for (uint32_t u = 0; u < d->units; u++)
    cm_put_number(w, t->core[d->first_unit + u]);
  for (cm_unit_kind k = CM_UNIT_MATRIX; k <= (w->version >= CM_PROGRAM_VERSION_HOST ? CM_UNIT_HOST : CM_UNIT_VECTOR); k++) {
    cm_put_number(w, d->rate_count[k]);
    for (uint32_t i = 0; i < d->rate_count[k]; i++) {
      cm_put_text(w, d->rate[k][i].type);
      cm_put_real(w, d->rate[k][i].per_ns);
    }
  }
}

static void put_chip(cm_writer *w, const cm_program *p)
{
  const cm_target *t = &p->target;
  cm_put_text(w, p->chip_name);
  cm_put_signed(w, p->opset);
  cm_put_number(w, t->memory_bytes);
  cm_put_real(w, t->issue_ns);
  const cm_core_grid *f = &t->grid;
  const uint32_t grid[] = {f->width, f->height, f->die_width, f->die_height, f->router_x, f->router_y, f->torus_x, f->torus_y};
  const double hops[] = {f->router_ns, f->east_west_ns, f->north_south_ns, f->die_to_die_ns};
  for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
    cm_put_number(w, grid[i]);
  for (size_t i = 0; i < sizeof hops / sizeof *hops; i++)
    cm_put_real(w, hops[i]);
  cm_put_number(w, t->device_count);
  for (uint32_t d = 0; d < t->device_count; d++)
    put_device(w, t, &t->device[d]);
  if (w->version >= CM_PROGRAM_VERSION_STREAM) {
    cm_put_number(w, t->window);
    cm_put_number(w, t->code_bytes);
  }
  if (w->version >= CM_PROGRAM_VERSION_MEMORIES) {
    cm_put_real(w, t->link_bytes_per_ns);
    cm_put_number(w, t->memory_count);
  }
  for (uint32_t m = 0; m < t->memory_count; m++) {
    cm_put_number(w, t->memory[m].core == CM_CORE_SHARED ? 0 : (uint64_t)t->memory[m].core + 1);
    cm_put_number(w, t->memory[m].to - (m > 0 ? t->memory[m - 1].to : 0));
  }
  cm_put_number(w, p->buffer_count);
  cm_put_number(w, p->flag_count);
  if (w->version >= CM_PROGRAM_VERSION_TURNS)
    cm_put_number(w, p->turns);
}

static void put_tensors(cm_writer *w, const cm_program *p)
{
  cm_put_number(w, p->tensor_count);
  for (uint32_t i = 0; i < p->tensor_count; i++) {
    const cm_program_tensor *t = &p->tensors[i];
    cm_put_text(w, t->name);
    cm_put_number(w, (uint64_t)t->role);
    cm_put_number(w, (uint64_t)t->type);
    put_dims(w, t->rank, t->dims);
    cm_put_number(w, t->address);
  }
  cm_put_number(w, p->input_count);
  for (uint32_t i = 0; i < p->input_count; i++)
    cm_put_number(w, p->inputs[i]);
  cm_put_number(w, p->output_count);
  for (uint32_t i = 0; i < p->output_count; i++)
    cm_put_number(w, p->outputs[i]);
}

/* Constants of one number throughout are written as that number. */
static void put_constants(cm_writer *w, const cm_program *p)
{
  for (uint32_t i = 0; i < p->tensor_count; i++) {
    const cm_program_tensor *t = &p->tensors[i];
    if (t->role != CM_ROLE_CONSTANT)
      continue;
    const uint8_t *bytes = t->data->data;
    size_t width = cm_type_bytes(t->type);
    bool uniform = t->bytes > width && memcmp(bytes, bytes + width, (size_t)t->bytes - width) == 0;
    cm_put_number(w, uniform);
    cm_put_bytes(w, bytes, uniform ? width : (size_t)t->bytes);
  }
}

static void put_attribute(cm_writer *w, const cm_attribute *a)
{
  cm_put_text(w, a->name);
  cm_put_number(w, (uint64_t)a->kind);
  switch (a->kind) {
  case CM_ATTRIBUTE_INT:
    cm_put_signed(w, a->integer);
    break;
  case CM_ATTRIBUTE_FLOAT:
    cm_put_real(w, (double)a->number);
    break;
  case CM_ATTRIBUTE_STRING:
  case CM_ATTRIBUTE_STRINGS:
    cm_put_number(w, a->count);
    cm_put_bytes(w, a->text, a->count);
    break;
  case CM_ATTRIBUTE_INTS:
    cm_put_number(w, a->count);
    for (size_t i = 0; i < a->count; i++)
      cm_put_signed(w, a->integers[i]);
    break;
  default:
    cm_put_number(w, a->count);
    for (size_t i = 0; i < a->count; i++)
      cm_put_real(w, (double)a->numbers[i]);
  }
}

static void put_operators(cm_writer *w, const cm_program *p)
{
  cm_put_number(w, p->operator_count);
  for (uint32_t i = 0; i < p->operator_count; i++) {
    const cm_node *n = &p->operators[i];
    cm_put_text(w, n->name);
    cm_put_text(w, n->op);
    cm_put_text(w, n->domain);
    cm_put_number(w, n->input_count);
    for (uint32_t k = 0; k < n->input_count; k++)
      cm_put_number(w, n->inputs[k] != CM_NONE);
    cm_put_number(w, n->output_count);
    for (uint32_t k = 0; k < n->output_count; k++)
      cm_put_number(w, 1); /* whether it is there */
    cm_put_number(w, n->attribute_count);
    for (size_t k = 0; k < n->attribute_count; k++)
      put_attribute(w, &n->attributes[k]);
  }
}

static void put_objects(cm_writer *w, const cm_program *p)
{
  cm_put_number(w, p->object_count);
  for (uint32_t i = 0; i < p->object_count; i++) {
    cm_put_text(w, p->objects[i].name);
    cm_put_number(w, p->objects[i].count);
  }
}

/* Tensors are numbered behind the buffers. */
static void put_part(cm_writer *w, const cm_program *p, const cm_program_part *part)
{
  cm_put_number(w, cm_part_is_outside(part) ? (uint64_t)p->buffer_count + cm_part_tensor(part) : part->buffer);
  cm_put_number(w, part->address);
  cm_put_signed(w, part->to);
  cm_put_number(w, part->shape->rank);
  for (uint32_t i = 0; i < part->shape->rank; i++) {
    cm_put_number(w, (uint64_t)part->shape->extent[i]);
    cm_put_number(w, (uint64_t)part->shape->stride[i]);
    cm_put_number(w, (uint64_t)part->shape->to_stride[i]);
  }
}

static void put_operand(cm_writer *w, const cm_program *p, const cm_operand *o)
{
  cm_put_number(w, (uint64_t)o->type);
  if (o->type == CM_TYPE_NONE)
    return;
  put_dims(w, o->rank, o->dims);
  cm_put_number(w, o->part_count);
  for (uint32_t i = 0; i < o->part_count; i++)
    put_part(w, p, &p->parts[o->first_part + i]);
  for (int64_t i = 0; o->part_count == 0 && o->rank == 1 && i < o->dims[0] && i < CM_RANK_MAX; i++)
    cm_put_signed(w, o->numbers[i]);
}

static void put_instruction(cm_writer *w, const cm_program *p, const cm_instruction *i)
{
  cm_put_number(w, (uint64_t)i->opcode);
  cm_put_number(w, i->lane);
  switch (i->opcode) {
  case CM_CODE_LOAD:
  case CM_CODE_STORE:
    cm_put_number(w, i->tensor);
    for (uint32_t k = 0; k < p->tensors[i->tensor].rank; k++) {
      cm_put_number(w, (uint64_t)i->from[k]);
      cm_put_number(w, (uint64_t)i->extent[k]);
    }
    cm_put_number(w, i->buffer);
    cm_put_number(w, i->address);
    return;
  case CM_CODE_COPY:
    cm_put_number(w, i->source_buffer);
    cm_put_number(w, i->source);
    cm_put_number(w, i->buffer);
    cm_put_number(w, i->address);
    cm_put_number(w, i->bytes);
    return;
  case CM_CODE_SET:
    cm_put_number(w, i->flag);
    return;
  case CM_CODE_WAIT:
    cm_put_number(w, i->flag);
    cm_put_number(w, i->value);
    return;
  default:
    cm_put_number(w, i->operator_number);
    cm_put_number(w, i->work.operations);
    for (uint32_t k = 0; k < i->input_count + i->output_count; k++)
      put_operand(w, p, &p->operands[i->first_operand + k]);
  }
}

/* Instructions one by one, or with loops where these halve the code. */
static cm_status make_code(cm_writer *w, const cm_program *p, bool *loops)
{
  cm_writer shorter = {.memory = w->memory, .error = w->error};
  size_t *at;
  if (CM_NEW(w->memory, at, p->instruction_count + 1, w->error) != CM_OK)
    return w->error->status;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    put_instruction(w, p, &p->instructions[i]);
    at[i + 1] = w->size;
  }
  if (w->status == CM_OK)
    cm_loops_put(&shorter, w->bytes, at, p->instruction_count);
  cm_free(at);
  *loops = shorter.size < w->size / 2;
  if (w->status == CM_OK && shorter.status != CM_OK)
    w->status = shorter.status;
  cm_writer other = *loops ? *w : shorter;
  if (*loops) {
    shorter.status = w->status;
    *w = shorter;
  }
  cm_free(other.bytes);
  return w->status;
}

/* ---- the file ---- */

static void put_fixed(cm_writer *w, uint64_t number, int bytes)
{
  for (int i = 0; i < bytes; i++)
    cm_put_bytes(w, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

/* Takes the bytes of its body. */
static void put_section(cm_writer *file, cm_section section, const cm_writer *body)
{
  uint8_t hash[CM_SECTION_HASH_BYTES];
  if (body->status != CM_OK)
    file->status = body->status;
  cm_section_hash(body->bytes, body->size, hash);
  put_fixed(file, (uint64_t)section, 4);
  put_fixed(file, 0, 4);
  put_fixed(file, body->size, 8);
  cm_put_bytes(file, hash, sizeof hash);
  cm_put_bytes(file, body->bytes, body->size);
  cm_free(body->bytes);
}

static uint64_t version_of(const cm_program *p, bool loops)
{
  for (uint64_t i = 0; i < p->part_count; i++)
    if (cm_part_is_outside(&p->parts[i]))
      return CM_PROGRAM_VERSION_OUTSIDE;
  return p->turns > 1                                    ? CM_PROGRAM_VERSION_TURNS
         : cm_target_lanes(&p->target, CM_UNIT_HOST) > 0 ? CM_PROGRAM_VERSION_HOST
         : p->target.window > 0 || loops ? CM_PROGRAM_VERSION_STREAM
         : p->target.memory_count > 0 ? CM_PROGRAM_VERSION_MEMORIES
                                      : CM_PROGRAM_VERSION;
}

cm_status cm_program_write_memory(const cm_program *program, uint8_t **bytes, size_t *size, cm_error *error)
{
  static void (*const put[])(cm_writer *, const cm_program *) = {NULL, put_chip, put_tensors, put_constants, put_operators, put_objects};
  cm_writer w = {.memory = program->memory, .error = error}, code = w;
  bool loops = false;
  w.status = make_code(&code, program, &loops);
  w.version = version_of(program, loops);
  cm_put_bytes(&w, cm_program_magic, sizeof cm_program_magic);
  put_fixed(&w, w.version, 4);
  put_fixed(&w, CM_SECTION_END - 1, 4);
  for (int s = CM_SECTION_CHIP; s < CM_SECTION_CODE; s++) {
    cm_writer body = {.memory = w.memory, .error = error, .version = w.version};
    put[s](&body, program);
    put_section(&w, (cm_section)s, &body);
  }
  put_section(&w, CM_SECTION_CODE, &code);
  if (w.status != CM_OK) {
    cm_free(w.bytes);
    return w.status;
  }
  *bytes = w.bytes;
  *size = w.size;
  return CM_OK;
}

cm_status cm_program_write(const cm_program *program, const char *path, cm_error *error)
{
  uint8_t *bytes;
  size_t size;
  cm_file file = {0};
  CM_TRY(cm_program_write_memory(program, &bytes, &size, error));
  cm_status status = cm_file_create(&file, path, error);
  if (status == CM_OK && fwrite(bytes, 1, size, file.stream) != size) {
    cm_file_discard(&file);
    status = cm_fail(error, CM_DISK_FULL, "cannot write %s", path);
  } else if (status == CM_OK)
    status = cm_file_commit(&file, error);
  cm_free(bytes);
  return status;
}
