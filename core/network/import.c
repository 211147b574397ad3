/* Recognises a format and hands over to its importer. docs/reference/network-formats.md states the rules. */
#include "core/network/import.h"

#include <stdio.h>
#include <string.h>

#include "core/network/direction.h"
#include "core/network/formats/source.h"
#include "core/network/recognise.h"

/* The format that is asked for, or what the bytes say. */
static cm_status choose(cm_source *source, const cm_import_hint *hint, cm_memory *memory,
                        const cm_network_format **found, cm_error *error)
{
  char names[CM_FORMAT_NAMES_MAX];
  if (hint->format == NULL || hint->format[0] == '\0')
    return cm_recognise(source, hint->name != NULL ? cm_network_format_by_ending(hint->name) : NULL, memory, found, error);
  const cm_network_format *named = cm_network_format_find(hint->format);
  if (named == NULL)
    return cm_fail(error, CM_BAD_OPTION, "there is no network format \"%.40s\"; the formats are %s", hint->format,
                   cm_network_format_names(names));
  if (named != &cm_network_formats[CM_FORMAT_SNN] && !named->packed)
    cm_skip_byte_order_mark(source);
  *found = named;
  cm_reading_why(&source->reading, "as it was said to be");
  return CM_OK;
}

bool cm_network_needs_confinement(const char *path, const char *format)
{
  const cm_network_format *named = format != NULL && format[0] != '\0' ? cm_network_format_find(format) : NULL;
  const cm_import_limits limits = cm_import_limits_default();
  cm_source source;
  cm_error ignored;
  cm_run run;
  if (named != NULL)
    return named->confined;
  cm_run_init(&run);
  if (cm_source_open(&source, path, &limits, &run, &ignored) != CM_OK)
    return false;
  size_t size = (size_t)(source.end - source.at);
  bool needs = cm_is_hdf5(source.at, size) || cm_is_numpy(source.at, size) || cm_is_xml(source.at, size) || cm_is_tar(source.at, size) ||
               (cm_is_zip(source.at, size) && !cm_is_topology(source.at, size));
  cm_source_close(&source);
  return needs;
}

/* What the one who reads says of the direction, whatever the file does. */
static cm_status direct(const cm_source *source, cm_run *run, cm_topology **topology, cm_error *error)
{
  const char *said = cm_source_option(source, CM_READ_DIRECTED);
  return said == NULL || strcmp(said, "auto") == 0 ? CM_OK : cm_topology_direct(topology, strcmp(said, "yes") == 0, run, error);
}

static cm_status import_source(const cm_reading_of *from, const cm_import_hint *hint, cm_topology **topology, cm_import_report *report, cm_error *error)
{
  const cm_network_format *found = NULL;
  cm_topology *made = NULL;
  cm_source *source = from->source;
  cm_run *run = from->run;
  for (int id = 0; id < CM_READ_OPTIONS; id++)
    CM_TRY_IF(hint->option[id] != NULL && hint->option[id][0] != '\0', cm_read_option_check((cm_read_option_id)id, hint->option[id], error));
  source->hint = hint;
  CM_TRY(choose(source, hint, run->memory, &found, error));
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  cm_status status = found->import(&(cm_reading_of){source, from->limits, run, made}, error);
  if (status == CM_OK)
    status = made->vertex_count > 0 ? direct(source, run, &made, error)
                                    : cm_fail(error, CM_BAD_NETWORK, "the network has no neurons: read as %s, the file names none", found->name);
  if (status != CM_OK) {
    cm_topology_free(made);
    return status;
  }
  *topology = made;
  if (report != NULL) {
    *report = (cm_import_report){.gzipped = source->gzipped,
                                 .bytes = source->raw_bytes,
                                 .plain_bytes = source->plain_bytes,
                                 .reading = source->reading};
    if (report->reading.rows == 0)
      cm_reading_rows(&report->reading, made);
    (void)snprintf(report->format, sizeof report->format, "%s", found->name);
  }
  return CM_OK;
}

cm_status cm_import_as(const char *path, const cm_import_hint *hint, const cm_import_limits *limits, cm_run *run,
                       cm_topology **topology, cm_import_report *report, cm_error *error)
{
  const cm_import_limits standard = cm_import_limits_default();
  cm_source source;
  limits = limits != NULL ? limits : &standard;
  cm_run_phase(run, "read");
  CM_TRY(cm_source_open(&source, path, limits, run, error));
  cm_status status = import_source(&(cm_reading_of){&source, limits, run, NULL}, hint, topology, report, error);
  cm_source_close(&source);
  return status;
}

cm_status cm_import(const char *path, const cm_import_limits *limits, cm_run *run, cm_topology **topology,
                    cm_import_report *report, cm_error *error)
{
  return cm_import_as(path, &(cm_import_hint){.name = path}, limits, run, topology, report, error);
}

cm_status cm_import_memory(const void *bytes, size_t size, const cm_import_hint *hint, const cm_import_limits *limits,
                           cm_run *run, cm_topology **topology, cm_import_report *report, cm_error *error)
{
  cm_source source;
  cm_run_phase(run, "read");
  CM_TRY(cm_source_open_memory(&source, bytes, size, limits, run, error));
  cm_status status = import_source(&(cm_reading_of){&source, limits, run, NULL}, hint, topology, report, error);
  cm_source_close(&source);
  return status;
}
