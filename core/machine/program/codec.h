/* Bytes of program files: numbers as variable-length integers, sections with checksums. Internal to core/machine. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"

enum { CM_SECTION_HASH_BYTES = 16, CM_SECTION_HEADER_BYTES = 32, CM_PROGRAM_HEADER_BYTES = 16 };

extern const uint8_t cm_program_magic[8];

typedef enum cm_section {
  CM_SECTION_CHIP = 1,
  CM_SECTION_TENSORS,
  CM_SECTION_CONSTANTS,
  CM_SECTION_OPERATORS,
  CM_SECTION_OBJECTS,
  CM_SECTION_CODE,
  CM_SECTION_END,
} cm_section;

/* "chip", "tensors", ... */
const char *cm_section_name(cm_section section);

/* BLAKE2b of a section's bytes, 128 bits. */
void cm_section_hash(const uint8_t *bytes, size_t size, uint8_t hash[CM_SECTION_HASH_BYTES]);

/* Growing bytes; after a failure everything is ignored and `status` says why. */
typedef struct cm_writer {
  cm_memory *memory;
  uint8_t *bytes;
  size_t size, capacity;
  cm_status status;
  cm_error *error;
} cm_writer;

void cm_put_bytes(cm_writer *w, const void *bytes, size_t size);
void cm_put_number(cm_writer *w, uint64_t number);
void cm_put_signed(cm_writer *w, int64_t number); /* zigzag */
void cm_put_real(cm_writer *w, double number);

/* Bytes to be read; the first thing that is wrong sticks, and everything after it reads as 0. */
typedef struct cm_reader {
  const uint8_t *bytes;
  size_t size, at;
  cm_section section;
  cm_error *error;
  cm_status status;
} cm_reader;

/* What is wrong, with the place. */
cm_status cm_reader_fail(cm_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

const uint8_t *cm_get_bytes(cm_reader *r, uint64_t size); /* NULL when they are not there */
uint64_t cm_get_number(cm_reader *r);
uint64_t cm_get_at_most(cm_reader *r, uint64_t most, const char *what);
int64_t cm_get_signed(cm_reader *r);
double cm_get_real(cm_reader *r);

/* The number of things that follow, each at least a byte. */
uint64_t cm_get_count(cm_reader *r, const char *what);
