/* A row of the table of formats, for those that import, recognise and export. */
#pragma once

#include "core/network/formats.h"
#include "core/network/formats/export_writer.h"
#include "core/network/formats/source.h"

enum { CM_FORMAT_ENDINGS_MAX = 3 };

struct cm_network_format {
  const char *name;
  const char *about; /* as a list of what is expected names it */
  const char *ending[CM_FORMAT_ENDINGS_MAX];
  bool confined;     /* a library that damaged files may crash reads it: only in a confined process */
  bool read_only;    /* not written; what is confined is not, either, unless it has a writer */
  bool packed;       /* compressed already: never gzipped when written */
  cm_status (*import)(const cm_reading_of *in, cm_error *error);
  cm_status (*write)(const cm_export_writer *writer, cm_error *error); /* NULL: cm_topology_save, or,
                                                                          where it is confined, not written */
};

typedef enum cm_format_id {
#define FORMAT(number, ...) CM_FORMAT_##number,
#include "core/network/formats/formats.def"
#include "core/network/import_limits.h"
#undef FORMAT
  CM_FORMATS
} cm_format_id;

extern const cm_network_format cm_network_formats[CM_FORMATS];

/* Whether networks are written in a format: not where it is read alone, nor, unless it has a writer, where it is confined. */
static inline bool cm_network_format_written(const cm_network_format *format)
{
  return !format->read_only && (!format->confined || format->write != NULL);
}

/* Whether a file is called as the lists of PyNN are. */
bool cm_network_names_connections(const cm_source *source);

/* True when `path`, of which `length` bytes count, ends in `ending` in any case. */
bool cm_path_ends(const char *path, size_t length, const char *ending);

/* The ending (".tsv") by which `path` names `format`; NULL: it does not. */
const char *cm_format_ending(const cm_network_format *format, const char *path);
