#include "core/machine/program/codec.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/varint.h"

const uint8_t cm_program_magic[8] = {'C', 'M', 'P', 'R', 'O', 'G', '\r', '\n'};

const char *cm_section_name(cm_section section)
{
  static const char *const names[] = {"header", "chip", "tensors", "constants", "operators", "objects", "code"};
  return section < CM_SECTION_END ? names[section] : "unknown";
}

void cm_section_hash(const uint8_t *bytes, size_t size, uint8_t hash[CM_SECTION_HASH_BYTES])
{
  (void)crypto_generichash(hash, CM_SECTION_HASH_BYTES, bytes, size, NULL, 0);
}

/* ---- writing ---- */

void cm_put_bytes(cm_writer *w, const void *bytes, size_t size)
{
  if (w->status != CM_OK || size == 0)
    return;
  if (w->capacity - w->size < size) {
    size_t capacity = w->capacity * 2 + size + 4096;
    uint8_t *block = cm_reallocate(w->memory, w->bytes, capacity, 1, w->error);
    if (block == NULL) {
      w->status = w->error->status;
      return;
    }
    w->bytes = block;
    w->capacity = capacity;
  }
  memcpy(w->bytes + w->size, bytes, size);
  w->size += size;
}

void cm_put_number(cm_writer *w, uint64_t number)
{
  uint8_t bytes[CM_VARINT_BYTES_MAX];
  cm_put_bytes(w, bytes, cm_varint_encode(number, bytes));
}

void cm_put_signed(cm_writer *w, int64_t number)
{
  cm_put_number(w, number < 0 ? ~(uint64_t)number << 1 | 1 : (uint64_t)number << 1);
}

void cm_put_real(cm_writer *w, double number)
{
  uint64_t bits;
  uint8_t bytes[8];
  memcpy(&bits, &number, sizeof bits);
  for (int i = 0; i < 8; i++)
    bytes[i] = (uint8_t)(bits >> 8 * i);
  cm_put_bytes(w, bytes, sizeof bytes);
}

/* ---- reading ---- */

cm_status cm_reader_fail(cm_reader *r, const char *format, ...)
{
  char text[240];
  va_list list;
  if (r->status != CM_OK)
    return r->status;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  r->status = CM_DAMAGED;
  (void)cm_fail(r->error, CM_DAMAGED, "the program file is damaged: section %s, byte %zu: %s",
                cm_section_name(r->section), r->at, text);
  return cm_fail_at(r->error, "section %s, byte %zu", cm_section_name(r->section), r->at);
}

const uint8_t *cm_get_bytes(cm_reader *r, uint64_t size)
{
  if (r->status != CM_OK)
    return NULL;
  if (size > r->size - r->at) {
    (void)cm_reader_fail(r, "%llu bytes should follow, and there are %zu", (unsigned long long)size, r->size - r->at);
    return NULL;
  }
  r->at += (size_t)size;
  return r->bytes + r->at - (size_t)size;
}

uint64_t cm_get_number(cm_reader *r)
{
  uint64_t number = 0;
  if (r->status != CM_OK)
    return 0;
  size_t used = cm_varint_decode(r->bytes + r->at, r->size - r->at, &number);
  if (used == 0) {
    (void)cm_reader_fail(r, "a number should follow");
    return 0;
  }
  r->at += used;
  return number;
}

uint64_t cm_get_at_most(cm_reader *r, uint64_t most, const char *what)
{
  uint64_t number = cm_get_number(r);
  if (number <= most)
    return number;
  (void)cm_reader_fail(r, "%s is %llu, and %llu is possible", what, (unsigned long long)number, (unsigned long long)most);
  return 0;
}

int64_t cm_get_signed(cm_reader *r)
{
  uint64_t number = cm_get_number(r);
  return (number & 1) != 0 ? (int64_t)~(number >> 1) : (int64_t)(number >> 1);
}

double cm_get_real(cm_reader *r)
{
  const uint8_t *bytes = cm_get_bytes(r, 8);
  uint64_t bits = 0;
  double number = 0;
  for (int i = 0; bytes != NULL && i < 8; i++)
    bits |= (uint64_t)bytes[i] << 8 * i;
  memcpy(&number, &bits, sizeof number);
  return number;
}

uint64_t cm_get_count(cm_reader *r, const char *what)
{
  return cm_get_at_most(r, r->size - r->at, what);
}
