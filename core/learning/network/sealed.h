/* Files of this room: a magic word, then fields, then the SHA-256 of all before it. Numbers are little-endian. */
#ifndef CM_LEARNING_NETWORK_SEALED_H
#define CM_LEARNING_NETWORK_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

enum { CM_MAGIC_BYTES = 8, CM_SEAL_BYTES = 32 };

/* A file under construction in memory. */
typedef struct cm_sealed_writer {
  unsigned char *bytes;
  size_t size, room;
  bool failed; /* memory ran out */
} cm_sealed_writer;

void cm_sealed_begin(cm_sealed_writer *writer, const char magic[CM_MAGIC_BYTES + 1]);
void cm_sealed_put(cm_sealed_writer *writer, const void *bytes, size_t size);

/* Seals and writes the file, whole or not at all, and frees the buffer in any case. */
cm_status cm_sealed_commit(cm_sealed_writer *writer, const char *path, cm_error *error);

/* A file being read from memory (borrowed). */
typedef struct cm_sealed_reader {
  const unsigned char *bytes;
  size_t size, at; /* without the seal */
  bool failed;     /* something was asked for beyond the end */
} cm_sealed_reader;

/* Checks magic and seal. CM_DAMAGED says which file and what is wrong with it; `kind` names what it should be. */
cm_status cm_sealed_open(cm_sealed_reader *reader, const void *bytes, size_t size, const char magic[CM_MAGIC_BYTES + 1],
                         const char *kind, const char *name, cm_error *error);
void cm_sealed_get(cm_sealed_reader *reader, void *bytes, size_t size);

#endif
