/* Recognises a format by content and hands over to its importer. docs/network-formats.md states the rules. */
#include "core/network/import.h"

#include <stdio.h>
#include <string.h>

#include "core/network/internal.h"

typedef cm_status (*importer)(cm_source *source, const cm_import_limits *limits, cm_run *run,
                              cm_topology **topology, cm_error *error);

typedef struct format {
  const char *name;
  importer import;
} format;

static const format topology_format = {"topology", cm_import_topology};
static const format snn_format = {"snn", cm_import_snn};
static const format metis_format = {"metis", cm_import_metis};
static const format edges_format = {"edges", cm_import_edges};

cm_import_limits cm_import_limits_default(void)
{
  return (cm_import_limits){.bytes_max = UINT64_C(1) << 36,
                            .ratio_max = 1000,
                            .vertices_max = UINT32_C(1) << 30,
                            .pins_max = UINT64_C(1) << 36};
}

/* One line of the bytes [at, end): moves *at behind it. *whole is false when no line feed ends it. */
static void next_line(const uint8_t **at, const uint8_t *end, const uint8_t **line, size_t *length, bool *whole)
{
  const uint8_t *feed = memchr(*at, '\n', (size_t)(end - *at));
  *line = *at;
  *whole = feed != NULL;
  *at = feed != NULL ? feed + 1 : end;
  *length = (size_t)((feed != NULL ? feed : end) - *line);
  if (*length > 0 && (*line)[*length - 1] == '\r')
    --*length;
}

static void skip_byte_order_mark(cm_source *source)
{
  if (source->end - source->at >= 3 && memcmp(source->at, "\xef\xbb\xbf", 3) == 0)
    source->at += 3;
}

static bool blank(uint8_t c)
{
  return c == ' ' || c == '\t';
}

/* The number of fields between blanks. */
static size_t count_fields(const uint8_t *line, size_t length)
{
  size_t fields = 0;
  for (size_t i = 0; i < length; i++)
    if (!blank(line[i]) && (i == 0 || blank(line[i - 1])))
      fields++;
  return fields;
}

/* Whether a line can be a METIS header: "n m [fmt [ncon]]", whole numbers between spaces, fmt of zeros and
 * ones. Gives n and the number of fields. */
static bool metis_header(const uint8_t *line, size_t length, uint64_t *vertices, size_t *fields)
{
  size_t field = 0;
  uint64_t first = 0;
  for (size_t i = 0; i < length;) {
    if (line[i] == ' ') {
      i++;
      continue;
    }
    size_t begin = i;
    for (; i < length && line[i] != ' '; i++) {
      if (line[i] < '0' || line[i] > '9' || (field == 2 && line[i] > '1') || i - begin > 18)
        return false;
      if (field == 0)
        first = first * 10 + (uint64_t)(line[i] - '0');
    }
    if (field == 2 && i - begin > 3)
      return false;
    field++;
  }
  *vertices = first;
  *fields = field;
  return field >= 2 && field <= 4;
}

/* Counts the lines behind the header of what may be a METIS graph: all of them, and those up to the last
 * that is not blank; comments do not count. Reads the whole source and starts it over. */
static cm_status count_lines(cm_source *source, uint64_t *all, uint64_t *filled, cm_error *error)
{
  uint64_t lines = 0, last_filled = 0;
  bool begin = true, is_blank = true, comment = false, header_seen = false;
  for (;;) {
    if (source->at == source->end) {
      if (source->ended)
        break;
      if (cm_source_fill(source, error) != CM_OK)
        return error->status;
      continue;
    }
    uint8_t c = *source->at++;
    if (c == '\n') {
      if (header_seen && !comment) {
        lines++;
        if (!is_blank)
          last_filled = lines;
      } else if (!comment && !is_blank)
        header_seen = true;
      begin = is_blank = true;
      comment = false;
      continue;
    }
    if (begin && c == '%')
      comment = true;
    begin = false;
    if (!blank(c) && c != '\r')
      is_blank = false;
  }
  if (!begin && header_seen && !comment) {
    lines++;
    if (!is_blank)
      last_filled = lines;
  }
  *all = lines;
  *filled = last_filled;
  if (cm_source_rewind(source, error) != CM_OK)
    return error->status;
  skip_byte_order_mark(source);
  return CM_OK;
}

/* METIS graph or edge list? Most edge lists have no line that could be a METIS header, and most METIS graphs
 * have a line that could be no edge; for the rest the number of lines decides. */
static cm_status text_format(cm_source *source, const format **found, cm_error *error)
{
  const uint8_t *at = source->at, *line;
  size_t length = 0, fields = 0;
  uint64_t vertices = 0;
  bool whole;
  *found = &edges_format;
  do {
    if (at == source->end)
      return CM_OK;
    next_line(&at, source->end, &line, &length, &whole);
  } while (count_fields(line, length) == 0 || *line == '%');
  if (!metis_header(line, length, &vertices, &fields))
    return CM_OK;
  while (at < source->end) {
    next_line(&at, source->end, &line, &length, &whole);
    if (length > 0 && *line == '#')
      return CM_OK;
    if ((!whole && !source->ended) || (length > 0 && *line == '%'))
      continue;
    size_t here = count_fields(line, length);
    if (here != 0 && here != fields)
      fields = 4; /* no edge list has lines of several lengths */
  }
  *found = &metis_format;
  if (fields == 4)
    return CM_OK;
  uint64_t all = 0, filled = 0;
  if (count_lines(source, &all, &filled, error) != CM_OK)
    return error->status;
  if (vertices < filled || vertices > all)
    *found = &edges_format;
  return CM_OK;
}

static cm_status recognise(cm_source *source, const format **found, cm_error *error)
{
  size_t size = (size_t)(source->end - source->at);
  if (size == 0) {
    cm_fail(error, CM_BAD_NETWORK,
            "the file is empty: a topology zip, .snn, METIS graph or edge list (csv, tsv) is expected");
    return cm_fail_at(error, "byte 0");
  }
  if (size >= 4 && memcmp(source->at, "PK", 2) == 0 && source->at[2] < 9 && source->at[3] < 9) {
    *found = &topology_format;
    return CM_OK;
  }
  for (size_t i = 0; i < size; i++)
    if (source->at[i] < ' ' && (source->at[i] < '\t' || source->at[i] > '\r')) {
      *found = &snn_format;
      return CM_OK;
    }
  skip_byte_order_mark(source);
  return text_format(source, found, error);
}

static cm_status import_source(cm_source *source, const cm_import_limits *limits, cm_run *run,
                               cm_topology **topology, cm_import_report *report, cm_error *error)
{
  const format *found = NULL;
  cm_topology *made;
  if (recognise(source, &found, error) != CM_OK || found->import(source, limits, run, &made, error) != CM_OK)
    return error->status;
  *topology = made;
  if (report != NULL) {
    *report = (cm_import_report){.gzipped = source->gzipped,
                                 .bytes = source->raw_bytes,
                                 .plain_bytes = source->plain_bytes};
    (void)snprintf(report->format, sizeof report->format, "%s", found->name);
  }
  return CM_OK;
}

cm_status cm_import(const char *path, const cm_import_limits *limits, cm_run *run, cm_topology **topology,
                    cm_import_report *report, cm_error *error)
{
  cm_import_limits standard = cm_import_limits_default();
  cm_source source;
  cm_run_phase(run, "read");
  if (cm_source_open(&source, path, limits != NULL ? limits : &standard, run, error) != CM_OK)
    return error->status;
  cm_status status = import_source(&source, limits != NULL ? limits : &standard, run, topology, report, error);
  cm_source_close(&source);
  return status;
}

cm_status cm_import_memory(const void *bytes, size_t size, const cm_import_limits *limits, cm_run *run,
                           cm_topology **topology, cm_import_report *report, cm_error *error)
{
  cm_source source;
  cm_run_phase(run, "read");
  if (cm_source_open_memory(&source, bytes, size, limits, run, error) != CM_OK)
    return error->status;
  cm_status status = import_source(&source, limits, run, topology, report, error);
  cm_source_close(&source);
  return status;
}
