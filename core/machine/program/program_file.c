/* Program files, out and in: docs/reference/program-file.md. Everything is checked on the way in, so that what runs a program need not: sections and
 * their checksums, every number's range, every part within its operand and within the chip. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/machine/program/coding.h"

#define FILE_BYTES_MAX ((size_t)1 << 36)

static void (*const sections[])(cm_coding *) = {NULL, cm_code_chip, cm_code_tensors, cm_code_constants, cm_code_operators, cm_code_objects, cm_code_read};

/* ---- out ---- */

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
         : p->target.window > 0 || loops                 ? CM_PROGRAM_VERSION_STREAM
         : p->target.memory_count > 0                    ? CM_PROGRAM_VERSION_MEMORIES
                                                         : CM_PROGRAM_VERSION;
}

/* The walk sets every field of the program to what it is. */
static cm_status write_all(cm_program *p, cm_writer *w, cm_error *error)
{
  cm_writer code = *w;
  cm_coding c = {.w = &code, .r.error = error, .p = p};
  bool loops = false;
  w->status = cm_code_write(&c, &loops);
  c.version = version_of(p, loops);
  cm_put_bytes(w, cm_program_magic, sizeof cm_program_magic);
  put_fixed(w, c.version, 4);
  put_fixed(w, CM_SECTION_END - 1, 4);
  for (int s = CM_SECTION_CHIP; s < CM_SECTION_CODE; s++) {
    cm_writer body = {.memory = w->memory, .error = error};
    c.w = &body;
    sections[s](&c);
    put_section(w, (cm_section)s, &body);
  }
  put_section(w, CM_SECTION_CODE, &code);
  return w->status;
}

cm_status cm_program_write_memory(const cm_program *program, uint8_t **bytes, size_t *size, cm_error *error)
{
  cm_writer w = {.memory = program->memory, .error = error};
  cm_program *copy;
  CM_TRY(CM_NEW(program->memory, copy, 1, error));
  *copy = *program;
  cm_status status = write_all(copy, &w, error);
  cm_free(copy);
  if (status == CM_OK) {
    *bytes = w.bytes;
    *size = w.size;
  } else
    cm_free(w.bytes);
  return status;
}

cm_status cm_program_write(const cm_program *program, const char *path, cm_error *error)
{
  uint8_t *bytes;
  size_t size;
  CM_TRY(cm_program_write_memory(program, &bytes, &size, error));
  cm_status status = cm_file_write(path, bytes, size, error);
  cm_free(bytes);
  return status;
}

/* ---- in ---- */

static uint64_t fixed(const uint8_t *bytes, int count)
{
  uint64_t number = 0;
  for (int i = 0; i < count; i++)
    number |= (uint64_t)bytes[i] << 8 * i;
  return number;
}

static void get_section(cm_coding *c, const uint8_t *bytes, size_t size, size_t *at, cm_section section)
{
  uint8_t hash[CM_SECTION_HASH_BYTES];
  const uint8_t *header = bytes + *at;
  c->r = (cm_reader){.bytes = bytes, .size = size, .at = *at, .error = c->r.error};
  CM_REFUSE_IF(c, size - *at < CM_SECTION_HEADER_BYTES || fixed(header, 8) != (uint64_t)section, "section %s should follow", cm_section_name(section));
  if (!cm_reads(c))
    return;
  const uint64_t length = fixed(header + 8, 8);
  c->r.at = *at += CM_SECTION_HEADER_BYTES;
  CM_REFUSE_IF(c, length > size - *at, "section %s should have %llu bytes, and %zu follow", cm_section_name(section), (unsigned long long)length, size - *at);
  if (!cm_reads(c))
    return;
  c->r = (cm_reader){.bytes = bytes + *at, .size = (size_t)length, .section = section, .error = c->r.error};
  cm_section_hash(bytes + *at, (size_t)length, hash);
  CM_REFUSE_IF(c, memcmp(hash, header + 16, sizeof hash) != 0, "the checksum does not match");
  if (!cm_reads(c))
    return;
  sections[section](c);
  CM_REFUSE_IF(c, c->r.at != c->r.size, "%zu bytes are left over", c->r.size - c->r.at);
  *at += (size_t)length;
}

cm_status cm_program_read_memory(const void *bytes, size_t size, cm_run *run, cm_program **made, cm_error *error)
{
  cm_coding c = {.r = {.bytes = bytes, .size = size, .error = error}};
  size_t at = CM_PROGRAM_HEADER_BYTES;
  if (size < CM_PROGRAM_HEADER_BYTES || memcmp(bytes, cm_program_magic, sizeof cm_program_magic) != 0)
    return size > 2 && *(const uint8_t *)bytes == 0x08 /* ir_version of an ONNX model */
               ? cm_fail(error, CM_DAMAGED, "this is a model; compile it first (coremap compile)")
               : cm_fail(error, CM_DAMAGED, "this is no program file, which coremap compile --chip NAME makes of a model");
  c.version = fixed((const uint8_t *)bytes + 8, 4);
  if (c.version < CM_PROGRAM_VERSION || c.version > CM_PROGRAM_VERSION_OUTSIDE)
    return cm_reader_fail(&c.r, "it has version %llu; this program reads versions %d to %d", (unsigned long long)c.version, CM_PROGRAM_VERSION, CM_PROGRAM_VERSION_OUTSIDE);
  if (fixed((const uint8_t *)bytes + 12, 4) != CM_SECTION_END - 1)
    return cm_reader_fail(&c.r, "it should have %d sections", CM_SECTION_END - 1);
  CM_TRY(CM_NEW(run->memory, c.p, 1, error));
  c.p->memory = run->memory;
  cm_arena_init(&c.p->arena, run->memory);
  for (int s = CM_SECTION_CHIP; s < CM_SECTION_END && cm_reads(&c); s++)
    get_section(&c, bytes, size, &at, (cm_section)s);
  CM_REFUSE_IF(&c, at != size, "%zu bytes follow its end", size - at);
  CM_END(c.r.status, *made = c.p, cm_program_free(c.p));
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
