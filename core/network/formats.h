/* The one table of network formats: their names, endings, importers and writers. Help, refusals and the interfaces'
 * lists of names are made from it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct cm_network_format cm_network_format;

enum { CM_FORMAT_NAMES_MAX = 400 };

/* The format of that name ("metis"); NULL: there is none. */
const cm_network_format *cm_network_format_find(const char *name);

/* The format that a file name's ending says (".hgr", ".hgr.gz"); NULL: it says none. Case does not matter. */
const cm_network_format *cm_network_format_by_ending(const char *path);

/* The name of format number `index`; NULL behind the last. */
const char *cm_network_format_name_at(size_t index);

/* A file name of the format that `said` names, as a format ("edges") or as an ending ("tsv", "csv.gz"), in `name`.
 * CM_BAD_OPTION: it names none. */
enum { CM_FORMAT_FILE_NAME_MAX = 40 };
cm_status cm_network_format_file_name(const char *said, char name[CM_FORMAT_FILE_NAME_MAX], cm_error *error);

/* Whether a file is of a format that only a confined process should read: a library reads it that damaged files are known
 * to crash. `format`, or what its first bytes say where that is NULL or "". False for a file that cannot be read. */
bool cm_network_needs_confinement(const char *path, const char *format);

/* "topology, snn, metis, ...": all names, in `text`, which it returns. */
const char *cm_network_format_names(char text[CM_FORMAT_NAMES_MAX]);

/* "topology zip, .snn, METIS .graph, ...": what can be read, for people. */
const char *cm_network_formats_about(char text[CM_FORMAT_NAMES_MAX]);
