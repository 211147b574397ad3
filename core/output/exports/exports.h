/* Mappings as the files of other tools (docs/reference/exports.md). One row of a table and one function a format. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/run.h"
#include "core/mapping/mapped.h"
#include "core/verify/check.h"

/* A mapping file (CM_VIEW_FULL_JSON) and what belongs to it. */
typedef struct cm_mapped_file {
  json_t *summary; /* all but its bulk */
  cm_topology *topology;
  cm_topology *measured; /* the same at the rates that the mapping was made at, or with its copies; NULL: it is that itself */
  cm_demand demand; /* of it, as the mapping's options and the chip make it */
  cm_chip *chip;
  cm_mapping_places places;
  cm_mapped mapped; /* borrows from all of these */
} cm_mapped_file;

/* Reads a mapping of `topology`, which is the file's from then on, also on failure; *file has to stay where it is. `chip` is a name
 * or path; NULL: the chip that the mapping describes. The caller closes. Errors: those of cm_chip_open, CM_BAD_MAPPING, CM_NOT_FOUND, memory. O(file). */
cm_status cm_mapped_open(const char *path, cm_topology *topology, const char *chip, cm_run *run, cm_mapped_file *file,
                         cm_error *error);
void cm_mapped_close(cm_mapped_file *file); /* harmless on a zeroed one */

/* The chip that the mapping file at `path`, whose summary is given, describes; the caller's. CM_BAD_MAPPING: it describes none. */
cm_status cm_mapped_chip(const json_t *summary, const char *path, cm_chip **chip, cm_error *error);

/* cm_mapping_set_inputs and cm_chip_limit_neurons for the mapping in a file, which is only opened for networks with inputs. */
cm_status cm_mapping_file_set_inputs(const char *path, const cm_chip *chip, cm_demand *demand, cm_run *run, cm_error *error);

/* The interconnects that a format can tell of. */
typedef enum cm_export_chips { CM_EXPORT_ANY, CM_EXPORT_GRIDS /* and hexagonal ones */, CM_EXPORT_MESHES } cm_export_chips;

typedef struct cm_export_format {
  const char *name, *what;
  const char *file;  /* name that suits it, with its ending */
  const char *media; /* its media type */
  cm_status (*write)(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
  cm_export_chips chips;
} cm_export_format;

/* The formats; the last has no name. */
extern const cm_export_format cm_export_formats[];

/* The format of that name; CM_BAD_OPTION names all. */
cm_status cm_export_find(const char *name, const cm_export_format **format, cm_error *error);

/* Writes a mapping. Same mapping, same bytes. Errors: CM_CONFLICT where a format cannot hold it (says what), CM_DISK_FULL and
 * CM_IO, memory, those of the run. O(synapses + cores) time, O(parts + neurons) memory; pacman: those of routes. */
cm_status cm_export_mapping(const cm_export_format *format, const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
