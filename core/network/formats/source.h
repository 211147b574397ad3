/* The bytes of a network file: from a file or from memory, gunzipped where they are gzipped, within limits,
 * with the run's progress and cancel checked on every refill. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/run.h"
#include "core/network/formats/reading_report.h"
#include "core/network/import.h"

struct cm_import_limits;
struct cm_import_hint;

enum { CM_SOURCE_WINDOW = 1 << 18 };

typedef struct cm_source {
  const uint8_t *at, *end;  /* bytes that are there to be read */
  bool ended;               /* none come after `end` */
  bool gzipped;
  uint64_t plain_bytes;     /* produced so far, up to `end` */
  uint64_t raw_bytes;       /* taken from the file so far */
  uint64_t raw_size;        /* of the file; 0 where it cannot be known (a pipe) */
  const char *path;         /* for messages */
  const struct cm_import_hint *hint; /* NULL: nothing is known */
  cm_reading reading;       /* what its reader tells */
  struct cm_source_state *state;
} cm_source;

/* What a reader of a format is given: a source of that format, and `made`, zeroed, which it fills; its caller frees it where the reader fails. */
typedef struct cm_reading_of {
  cm_source *source;
  const struct cm_import_limits *limits;
  cm_run *run;
  cm_topology *made;
} cm_reading_of;

/* Opens a file, or `size` bytes in memory (which must stay valid until close), and fills the first window.
 * Errors: CM_NOT_FOUND, CM_IO, CM_TOO_LARGE, CM_BAD_NETWORK (gzip data damaged), memory errors. */
cm_status cm_source_open(cm_source *source, const char *path, const struct cm_import_limits *limits, cm_run *run,
                         cm_error *error);
cm_status cm_source_open_memory(cm_source *source, const void *bytes, size_t size,
                                const struct cm_import_limits *limits, cm_run *run, cm_error *error);
void cm_source_close(cm_source *source); /* harmless on a zeroed source */

/* Moves the unread bytes to the front of the window and fills it up. Afterwards at < end, or ended.
 * When nothing fits any more (CM_SOURCE_WINDOW unread bytes), it does nothing. */
cm_status cm_source_fill(cm_source *source, cm_error *error);

/* Starts over at the first byte. CM_IO when the file cannot seek. */
cm_status cm_source_rewind(cm_source *source, cm_error *error);

/* Copies up to `size` bytes; *got < size only at the end. */
cm_status cm_source_take(cm_source *source, void *bytes, size_t size, size_t *got, cm_error *error);

/* Plain bytes read so far. */
static inline uint64_t cm_source_offset(const cm_source *source)
{
  return source->plain_bytes - (uint64_t)(source->end - source->at);
}

/* Plain bytes that certainly remain at most; UINT64_MAX when that is unknown. */
static inline uint64_t cm_source_left_max(const cm_source *source)
{
  if (source->ended)
    return (uint64_t)(source->end - source->at);
  if (source->gzipped || source->raw_size < source->plain_bytes)
    return UINT64_MAX;
  return source->raw_size - cm_source_offset(source);
}

/* All bytes that are left, in memory (cm_free): for libraries that seek in what came gzipped. CM_TOO_LARGE past 1 GiB. */
cm_status cm_source_image(cm_source *source, cm_memory *memory, void **image, size_t *size, cm_error *error);

/* The bytes below and their number, or NULL: a file. */
const void *cm_source_memory(const cm_source *source, size_t *size);

/* How many rows a loop without input handles between two looks at the run's cancel flag. */
enum { CM_CHECK_EVERY = 1 << 14 };

/* Below this many plain bytes a ratio of compression says nothing about an attack. */
#define CM_RATIO_FROM_BYTES (UINT64_C(1) << 20)

/* The value of an option for reading this source; NULL: not given. */
const char *cm_source_option(const cm_source *source, cm_read_option_id id);
bool cm_source_wants_synapses(const cm_source *source); /* directed=yes */
