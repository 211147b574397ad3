/* Files of this room: a magic word, then fields, then the SHA-256 of all before it. Numbers are little-endian. */
#pragma once

#include "base/status.h"

enum { CM_MAGIC_BYTES = 8, CM_CHECKSUM_BYTES = 32 };

/* A file under construction in memory. */
typedef struct cm_checksummed_writer {
  unsigned char *bytes;
  size_t size, room;
  bool failed; /* memory ran out */
} cm_checksummed_writer;

void cm_checksummed_begin(cm_checksummed_writer *writer, const char magic[CM_MAGIC_BYTES + 1]);
void cm_checksummed_put(cm_checksummed_writer *writer, const void *bytes, size_t size);

/* Adds the checksum and writes the file, whole or not at all, and frees the buffer in any case. */
cm_status cm_checksummed_commit(cm_checksummed_writer *writer, const char *path, cm_error *error);

/* A file being read from memory (borrowed). */
typedef struct cm_checksummed_reader {
  const unsigned char *bytes;
  size_t size, at; /* without the checksum */
  bool failed;     /* something was asked for beyond the end */
} cm_checksummed_reader;

/* Checks magic and checksum of the bytes, all of the file, that the reader has. CM_DAMAGED says which file and what is wrong with it; `kind`
 * names what it should be. */
cm_status cm_checksummed_open(cm_checksummed_reader *reader, const char magic[CM_MAGIC_BYTES + 1], const char *kind, const char *name, cm_error *error);
void cm_checksummed_get(cm_checksummed_reader *reader, void *bytes, size_t size);
