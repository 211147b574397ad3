/* A file that is written whole or not at all, gzipped where wanted: what the exports write to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

typedef struct cm_sink {
  cm_file file;
  void *packer; /* zlib's gzFile, which also writes plain files */
  size_t used;
  cm_status failure; /* the first one; writing goes nowhere after it */
  int cause;         /* its errno, 0: none */
  char buffer[1 << 16];
} cm_sink;

/* Starts a file at `path`. */
cm_status cm_sink_open(cm_sink *sink, const char *path, bool gzipped, cm_error *error);

/* Appends; a failure is kept for cm_sink_close. */
void cm_sink_bytes(cm_sink *sink, const void *bytes, size_t size);
void cm_sink_text(cm_sink *sink, const char *text);
void cm_sink_number(cm_sink *sink, uint64_t value);

/* The failure so far, if any. */
cm_status cm_sink_status(const cm_sink *sink, cm_error *error);

/* Puts the file into place, or removes it when anything failed. */
cm_status cm_sink_close(cm_sink *sink, cm_error *error);

/* Removes the file under construction; harmless after close and on a zeroed sink. */
void cm_sink_discard(cm_sink *sink);
