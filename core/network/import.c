/* Recognises a format by content and hands over to its importer. docs/network-formats.md states the rules. */
#include "core/network/import.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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
static const format hypergraph_format = {"hmetis", cm_import_hypergraph};
static const format matrix_format = {"matrix-market", cm_import_matrix};
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

enum { HEADER_FIELDS_MAX = 4 };

/* The numbers of a line that can be the header of a METIS graph, "n m [fmt [ncon]]", or of an hMETIS hypergraph. */
typedef struct header {
  uint64_t value[HEADER_FIELDS_MAX];
  size_t fields;
} header;

/* Whole numbers between spaces, fmt of zeros and ones. */
static bool read_header(const uint8_t *line, size_t length, header *h)
{
  *h = (header){0};
  for (size_t i = 0; i < length;) {
    if (line[i] == ' ') {
      i++;
      continue;
    }
    if (h->fields == HEADER_FIELDS_MAX)
      return false;
    size_t begin = i;
    for (; i < length && line[i] != ' '; i++) {
      if (line[i] < '0' || line[i] > '9' || (h->fields == 2 && line[i] > '1') || i - begin > 18)
        return false;
      h->value[h->fields] = h->value[h->fields] * 10 + (uint64_t)(line[i] - '0');
    }
    if (h->fields == 2 && i - begin > 3)
      return false;
    h->fields++;
  }
  return h->fields >= 2;
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

/* What speaks for a METIS graph or for an hMETIS hypergraph, whose headers and lines look alike. In a graph every edge
 * stands in two rows: bits are flipped at a hash of each unordered pair (row, number), and few stay set. */
enum { SKETCH_BITS = 1 << 16, SKETCH_PAIRS_MIN = 32 };

typedef struct evidence {
  const header *header;
  uint64_t rows, row_numbers, number;
  uint64_t row_max;  /* pairs count only below this row */
  uint64_t pairs;    /* (row, other row) */
  uint64_t entries;  /* neighbours, were it a METIS graph */
  uint64_t blanks;   /* blank lines since the last other one */
  bool in_number, in_comment, line_begun;
  bool is_hypergraph; /* nothing contradicts it so far */
  bool is_no_graph;   /* a number is no vertex of a graph, or a neighbour lacks its weight */
  uint64_t sketch[SKETCH_BITS / 64];
} evidence;

static void see_number(evidence *e)
{
  const uint64_t *value = e->header->value;
  uint64_t fmt = value[2], before = fmt / 100 + fmt / 10 % 10, index = e->row_numbers++;
  e->in_number = false;
  if (e->blanks > 0)
    e->is_hypergraph = false;
  e->blanks = 0;
  if (e->rows >= value[0])
    e->is_hypergraph = e->is_hypergraph && fmt >= 10 && index == 0;
  else if (!(fmt % 10 == 1 && index == 0) && (e->number == 0 || e->number > value[1]))
    e->is_hypergraph = false;
  if (index < before || (fmt % 10 == 1 && (index - before) % 2 == 1))
    return;
  e->entries++;
  e->is_no_graph = e->is_no_graph || e->number > value[0];
  uint64_t row = e->rows + 1, low = row < e->number ? row : e->number, high = row < e->number ? e->number : row;
  if (low == high || high > e->row_max)
    return;
  uint64_t hash = (low * UINT64_C(0x9e3779b97f4a7c15) ^ high) * UINT64_C(0xd6e8feb86659fd93);
  hash = (hash ^ hash >> 32) % SKETCH_BITS;
  e->sketch[hash / 64] ^= UINT64_C(1) << hash % 64;
  e->pairs++;
}

static void see_line_end(evidence *e)
{
  if (e->in_number)
    see_number(e);
  if (!e->in_comment) {
    uint64_t fmt = e->header->value[2], before = fmt / 100 + fmt / 10 % 10;
    e->is_no_graph = e->is_no_graph || (fmt % 10 == 1 && e->row_numbers > before && (e->row_numbers - before) % 2 == 1);
    e->blanks += e->row_numbers == 0;
    e->rows++;
  }
  e->row_numbers = 0;
  e->in_comment = e->line_begun = false;
}

static void see_byte(evidence *e, uint8_t c)
{
  if (c == '\n') {
    see_line_end(e);
    return;
  }
  e->in_comment = e->in_comment || (!e->line_begun && c == '%');
  e->line_begun = true;
  if (e->in_comment)
    return;
  if (c >= '0' && c <= '9') {
    e->number = (e->in_number ? e->number * 10 : 0) + (uint64_t)(c - '0');
    e->in_number = true;
    return;
  }
  if (e->in_number)
    see_number(e);
  if (!blank(c) && c != '\r')
    e->is_hypergraph = false;
}

static bool mostly_unmatched(const evidence *e)
{
  uint64_t left = 0;
  for (size_t i = 0; i < SKETCH_BITS / 64; i++)
    left += (uint64_t)__builtin_popcountll(e->sketch[i]);
  return 2 * left > (e->pairs < SKETCH_BITS / 2 ? e->pairs : SKETCH_BITS / 2);
}

/* Decides between METIS graph and hypergraph; the source stands at `rows`, behind the header. The first window mostly
 * has pairs enough to know a graph; else all of the file is read, and the source started over. */
static cm_status graph_or_hypergraph(cm_source *source, const header *h, const uint8_t *rows, cm_memory *memory,
                                     const format **found, cm_error *error)
{
  evidence *e;
  *found = &metis_format;
  if (h->fields == HEADER_FIELDS_MAX || h->value[2] > 11)
    return CM_OK;
  if (CM_NEW(memory, e, 1, error) != CM_OK)
    return error->status;
  *e = (evidence){.header = h, .is_hypergraph = true};
  for (const uint8_t *at = rows; at < source->end; at++)
    e->row_max += *at == '\n';
  if (source->ended)
    e->row_max = UINT64_MAX;
  for (const uint8_t *at = rows; at < source->end; at++)
    see_byte(e, *at);
  bool graph = !source->ended && e->pairs >= SKETCH_PAIRS_MIN && !mostly_unmatched(e);
  if (!graph) {
    size_t head = (size_t)(rows - source->at);
    if (!source->ended) {
      *e = (evidence){.header = h, .is_hypergraph = true, .row_max = UINT64_MAX};
      source->at += head;
      while (source->at < source->end || !source->ended) {
        if (source->at == source->end && cm_source_fill(source, error) != CM_OK) {
          cm_free(e);
          return error->status;
        }
        while (source->at < source->end)
          see_byte(e, *source->at++);
      }
    }
    if (e->line_begun)
      see_line_end(e);
    uint64_t lines = e->rows - e->blanks, nets = h->value[0] + (h->value[2] >= 10 ? h->value[1] : 0);
    bool fits = e->is_hypergraph && lines == nets;
    bool unmatched = mostly_unmatched(e);
    if (e->entries != 2 * h->value[1] &&
        ((fits && (unmatched || e->is_no_graph)) || (unmatched && e->pairs >= SKETCH_PAIRS_MIN)))
      *found = &hypergraph_format;
    /* Vertex weights behind the nets: no METIS graph has as many lines. */
    if (fits && h->value[2] >= 10)
      *found = &hypergraph_format;
  }
  cm_free(e);
  if (cm_source_rewind(source, error) != CM_OK)
    return error->status;
  skip_byte_order_mark(source);
  return CM_OK;
}

/* METIS graph, hypergraph or edge list? Most edge lists have no line that could be a METIS header, and most graphs and
 * hypergraphs have a line that could be no edge; for the rest the number of lines decides. */
static cm_status text_format(cm_source *source, cm_memory *memory, const format **found, cm_error *error)
{
  const uint8_t *at = source->at, *line;
  size_t length = 0;
  header h;
  bool whole, varying = false;
  *found = &edges_format;
  do {
    if (at == source->end)
      return CM_OK;
    next_line(&at, source->end, &line, &length, &whole);
  } while (count_fields(line, length) == 0 || *line == '%');
  if (!read_header(line, length, &h))
    return CM_OK;
  size_t rows = (size_t)(at - source->at);
  while (at < source->end) {
    next_line(&at, source->end, &line, &length, &whole);
    if (length > 0 && *line == '#')
      return CM_OK;
    if ((!whole && !source->ended) || (length > 0 && *line == '%'))
      continue;
    size_t here = count_fields(line, length);
    varying = varying || (here != 0 && here != h.fields); /* no edge list has lines of several lengths */
  }
  if (!varying && h.fields < HEADER_FIELDS_MAX) {
    uint64_t all = 0, filled = 0;
    if (count_lines(source, &all, &filled, error) != CM_OK)
      return error->status;
    if (h.value[0] < filled || h.value[0] > all)
      return CM_OK;
  }
  return graph_or_hypergraph(source, &h, source->at + rows, memory, found, error);
}

static cm_status recognise(cm_source *source, cm_memory *memory, const format **found, cm_error *error)
{
  size_t size = (size_t)(source->end - source->at);
  if (size == 0) {
    cm_fail(error, CM_BAD_NETWORK,
            "the file is empty: a topology zip, .snn, METIS graph, hMETIS hypergraph, MatrixMarket or edge list "
            "(csv, tsv) is expected");
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
  static const char banner[] = "%%MatrixMarket";
  if ((size_t)(source->end - source->at) >= sizeof banner - 1 &&
      strncasecmp((const char *)source->at, banner, sizeof banner - 1) == 0) {
    *found = &matrix_format;
    return CM_OK;
  }
  return text_format(source, memory, found, error);
}

static cm_status import_source(cm_source *source, const cm_import_limits *limits, cm_run *run,
                               cm_topology **topology, cm_import_report *report, cm_error *error)
{
  const format *found = NULL;
  cm_topology *made;
  if (recognise(source, run->memory, &found, error) != CM_OK ||
      found->import(source, limits, run, &made, error) != CM_OK)
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
