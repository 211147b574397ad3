/* Reading networks of any supported format, recognised by content. One file per format. */
#pragma once

#include <stdint.h>

#include "base/run.h"
#include "core/network/formats/reading_report.h"
#include "core/network/import_limits.h"
#include "core/network/topology.h"

typedef struct cm_import_report {
  char format[32];       /* its name in the table of formats (formats.h) */
  bool gzipped;
  uint64_t bytes;        /* of the file as it lies */
  uint64_t plain_bytes;  /* after decompression */
  cm_reading reading;    /* what was understood of it */
} cm_import_report;

/* How a file is to be read, where it could be read in several ways. */
typedef enum cm_read_option_id {
  CM_READ_COLUMNS, CM_READ_ZEROS, CM_READ_DIRECTED, CM_READ_INPUT_SHAPE, CM_READ_CONFIG, CM_READ_POPULATION, CM_READ_RATES,
  CM_READ_PARAMETERS,
  CM_READ_OPTIONS
} cm_read_option_id;

/* The one table of them: flags of the command, query arguments of the server. */
typedef struct cm_read_option {
  const char *name;
  const char *form;  /* of its value, for people */
  const char *about;
  bool file;         /* names a file beside the network, which the caller reads (rates.h): no query argument */
} cm_read_option;
extern const cm_read_option cm_read_options[CM_READ_OPTIONS];

/* The extents of an option "2x34x34": how many there are, at most `most`; 0: it is none. */
int cm_read_option_shape(const char *value, uint64_t *dim, int most);

/* CM_BAD_OPTION: `value` is none of this option's. */
cm_status cm_read_option_check(cm_read_option_id id, const char *value, cm_error *error);

/* What is known of a file beside its bytes; NULL: nothing. */
typedef struct cm_import_hint {
  const char *format; /* is right whatever the bytes say: a name of formats.h */
  const char *name;   /* the file's name: its ending decides between texts that could be several formats */
  const char *option[CM_READ_OPTIONS]; /* NULL or "": not given */
} cm_import_hint;

/* Reads a network file, named by `path`. Opens phase "read". On success the caller owns *topology (cm_topology_free).
 * Errors: CM_BAD_NETWORK (detail: format guessed, what, where, what would be right; place: "byte N" or
 * "line N"; also a network without neurons), CM_TOO_LARGE, CM_NOT_FOUND, memory and run errors. O(pins log(pins per net)). */
cm_status cm_import(const char *path, const cm_import_limits *limits, cm_run *run, cm_topology **topology,
                    cm_import_report *report, cm_error *error);

/* The same with a hint. CM_BAD_OPTION: there is no such format, or an option has no such value. */
cm_status cm_import_as(const char *path, const cm_import_hint *hint, const cm_import_limits *limits, cm_run *run,
                       cm_topology **topology, cm_import_report *report, cm_error *error);

/* cm_import_as on bytes in memory. */
cm_status cm_import_memory(const void *bytes, size_t size, const cm_import_hint *hint, const cm_import_limits *limits,
                           cm_run *run, cm_topology **topology, cm_import_report *report, cm_error *error);
