/* Which of the text formats of whole numbers a file is: METIS graph, hMETIS hypergraph or edge list begin alike.
 * docs/reference/network-formats.md states the rules. */
#include "core/network/recognise.h"

#include <string.h>

#include "core/network/formats/source.h"

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

void cm_skip_byte_order_mark(cm_source *source)
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

/* Whole numbers between blanks, fmt of zeros and ones. */
static bool read_header(const uint8_t *line, size_t length, header *h)
{
  *h = (header){0};
  for (size_t i = 0; i < length;) {
    if (blank(line[i])) {
      i++;
      continue;
    }
    if (h->fields == HEADER_FIELDS_MAX)
      return false;
    size_t begin = i;
    for (; i < length && !blank(line[i]); i++) {
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

/* What speaks for a METIS graph or for an hMETIS hypergraph, whose headers and lines look alike. In a graph every edge
 * stands in two rows: bits are flipped at a hash of each unordered pair (row, number), and few stay set. */
enum { SKETCH_BITS = 1 << 16, SKETCH_PAIRS_MIN = 32, CUT_PAIRS_MIN = 2 };

typedef struct evidence {
  const header *header;
  uint64_t rows, row_numbers, number;
  uint64_t row_max;  /* pairs count only below this row */
  uint64_t pairs;    /* (row, other row) */
  uint64_t entries;  /* neighbours, were it a METIS graph */
  uint64_t blanks;   /* lines without numbers since the last other one */
  uint64_t filled;   /* lines up to the last that is not blank */
  bool in_number, in_comment, line_begun, line_filled;
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
    e->filled = e->line_filled ? e->rows : e->filled;
  }
  e->row_numbers = 0;
  e->in_comment = e->line_begun = e->line_filled = false;
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
  e->line_filled = e->line_filled || (!blank(c) && c != '\r');
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

/* The rest of the file. Errors: as of reading it. */
static cm_status see_rest(evidence *e, cm_source *source, cm_error *error)
{
  while (source->at < source->end || !source->ended) {
    CM_TRY_IF(source->at == source->end, cm_source_fill(source, error));
    while (source->at < source->end)
      see_byte(e, *source->at++);
  }
  return CM_OK;
}

static uint64_t unmatched_pairs(const evidence *e)
{
  uint64_t left = 0;
  for (size_t i = 0; i < SKETCH_BITS / 64; i++)
    left += (uint64_t)__builtin_popcountll(e->sketch[i]);
  return left;
}

static bool mostly_unmatched(const evidence *e)
{
  return 2 * unmatched_pairs(e) > (e->pairs < SKETCH_BITS / 2 ? e->pairs : SKETCH_BITS / 2);
}

/* What evidence there is for a graph of that header, of the whole file, pairs counted below row_max; the source stands at the
 * beginning, and is left there. */
static cm_status gather(cm_source *source, const header *h, size_t rows, uint64_t row_max, evidence *e, cm_error *error)
{
  *e = (evidence){.header = h, .row_max = row_max, .is_hypergraph = true};
  source->at += rows;
  CM_TRY(see_rest(e, source, error));
  CM_TRY(cm_source_rewind(source, error));
  cm_skip_byte_order_mark(source);
  if (e->line_begun)
    see_line_end(e);
  return CM_OK;
}

/* Decides between METIS graph and hypergraph; the source stands at `rows`, behind the header. The first window mostly
 * has pairs enough to know a graph; else all of the file is read, and the source started over. */
static cm_status graph_or_hypergraph(cm_source *source, const header *h, const uint8_t *rows, cm_memory *memory,
                                     const cm_network_format **found, cm_error *error)
{
  evidence *e;
  *found = &cm_network_formats[CM_FORMAT_METIS];
  if (h->fields == HEADER_FIELDS_MAX || h->value[2] > 11 || h->value[1] == 0) /* a hypergraph has vertices */
    return CM_OK;
  CM_TRY(CM_NEW(memory, e, 1, error));
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
    if (!source->ended && gather(source, h, head, UINT64_MAX, e, error) != CM_OK) {
      cm_free(e);
      return error->status;
    }
    if (e->line_begun)
      see_line_end(e);
    uint64_t lines = e->rows - e->blanks, nets = h->value[0] + (h->value[2] >= 10 ? h->value[1] : 0);
    bool fits = e->is_hypergraph && lines == nets;
    bool unmatched = mostly_unmatched(e);
    if (e->entries != 2 * h->value[1] && ((fits && (unmatched || e->is_no_graph)) || (unmatched && e->pairs >= SKETCH_PAIRS_MIN)))
      *found = &cm_network_formats[CM_FORMAT_HYPERGRAPH];
    /* Vertex weights behind the nets: no METIS graph has as many lines. */
    if (fits && h->value[2] >= 10)
      *found = &cm_network_formats[CM_FORMAT_HYPERGRAPH];
  }
  cm_free(e);
  return CM_OK;
}

/* Whether the lines behind a METIS header, fewer than it announces and all of two numbers, are the first rows of a graph
 * rather than edges: every number is a vertex, and the rows that are there name each other. */
static bool is_cut_graph(const evidence *e)
{
  const uint64_t left = unmatched_pairs(e), seen = e->pairs < SKETCH_BITS / 2 ? e->pairs : SKETCH_BITS / 2;
  return !e->is_no_graph && e->pairs >= CUT_PAIRS_MIN && 8 * left <= seen;
}

/* Adds what says that a file is of a format. */
static void add_flag(cm_format_id format, cm_error *error)
{
  const char *name = cm_network_formats[format].name;
  cm_fail_more(error, " (--format %s, format=%s)", name, name);
}

static cm_status refuse_list(uint64_t lines, uint64_t line, cm_error *error)
{
  cm_fail_more(error, " or a list of %llu edges", (unsigned long long)lines + 1);
  add_flag(CM_FORMAT_EDGES, error);
  cm_fail_more(error, ": say which");
  return cm_fail_at(error, "line %llu", (unsigned long long)line);
}

static cm_status refuse_cut(const header *h, uint64_t lines, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK,
          "the file may be a METIS graph of %llu vertices that was cut off, for only %llu rows follow its header and they name "
          "each other,",
          (unsigned long long)h->value[0], (unsigned long long)lines);
  add_flag(CM_FORMAT_METIS, error);
  return refuse_list(lines, lines + 1, error);
}

/* Edges of which some go where a METIS graph of that header has no vertex, or of which most do not stand in both rows. */
static cm_status refuse_damaged(const header *h, uint64_t lines, cm_error *error)
{
  cm_fail(
    error, CM_BAD_NETWORK,
    "the file may be a METIS graph of %llu vertices that is damaged, for not every edge stands in the rows of both its ends,",
    (unsigned long long)h->value[0]);
  add_flag(CM_FORMAT_METIS, error);
  return refuse_list(lines, 1, error);
}

/* All is as the header says, read as one of a hypergraph; so it may be by chance. */
static cm_status refuse_nets(const header *h, uint64_t lines, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "the file may be an hMETIS hypergraph of %llu nets over %llu vertices",
          (unsigned long long)h->value[0], (unsigned long long)h->value[1]);
  add_flag(CM_FORMAT_HYPERGRAPH, error);
  return refuse_list(lines, 1, error);
}

/* Of a file that could as well be a list: whether it is a METIS graph to the last edge; could be a hypergraph by its header, or a graph
 * that is damaged; or certainly is neither. */
typedef enum graph_fit { IS_GRAPH, COULD_BE_NETS, COULD_BE_GRAPH, IS_NONE } graph_fit;

static graph_fit fit_graph(const evidence *e, const header *h)
{
  const uint64_t nets = h->value[0] + (h->value[2] >= 10 ? h->value[1] : 0);
  const bool fits_hypergraph = e->is_hypergraph && e->rows - e->blanks == nets && h->value[1] > 0;
  const bool graph = !e->is_no_graph && e->entries == 2 * h->value[1] && unmatched_pairs(e) == 0;
  if (graph)
    return IS_GRAPH;
  return fits_hypergraph ? COULD_BE_NETS : e->is_no_graph ? IS_NONE : COULD_BE_GRAPH;
}

/* Whether the lines of a file of lines alike are rows of a graph or a hypergraph: their number and what is in them decides. */
static cm_status weigh_alike(cm_source *source, const header *h, size_t rows, evidence *e, bool *none, cm_error *error)
{
  CM_TRY(gather(source, h, rows, UINT64_MAX, e, error));
  const uint64_t all = e->rows, filled = e->filled;
  *none = h->value[0] < filled;
  if (*none)
    return CM_OK;
  const bool fewer = h->value[0] > all;
  if (fewer) /* than rows: a pair counts where both are there */
    CM_TRY(gather(source, h, rows, all, e, error));
  const bool cut = fewer && is_cut_graph(e), ends_empty = h->value[0] == all + 1; /* in a row that no line feed ends */
  const graph_fit fit = fewer && !ends_empty ? IS_NONE : fit_graph(e, h);
  if (cut && fit != IS_GRAPH)
    return refuse_cut(h, filled, error);
  if (fit == COULD_BE_NETS)
    return refuse_nets(h, filled, error);
  if (fit == COULD_BE_GRAPH && !fewer)
    return refuse_damaged(h, filled, error);
  *none = fit != IS_GRAPH;
  return CM_OK;
}

/* Most edge lists have no line that could be a METIS header, and most graphs and hypergraphs have a line that could be
 * no edge; for the rest the number of lines decides, and what is in them. */
cm_status cm_recognise_metis(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error)
{
  const uint8_t *at = source->at, *line;
  size_t length = 0;
  header h;
  bool whole, varying = false, none = false;
  *found = NULL;
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
    evidence *e;
    CM_TRY(CM_NEW(memory, e, 1, error));
    const cm_status status = weigh_alike(source, &h, rows, e, &none, error);
    cm_free(e);
    if (status != CM_OK)
      return status;
  }
  return none ? CM_OK : graph_or_hypergraph(source, &h, source->at + rows, memory, found, error);
}
