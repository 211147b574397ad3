/* MatrixMarket .mtx: "%%MatrixMarket matrix coordinate FIELD SYMMETRY", comments, "rows columns entries", then one
 * entry a line: row, column and, unless FIELD is pattern, a value. A general matrix is a directed network (row ->
 * column), a symmetric one an undirected graph of which the file holds the lower triangle.
 *
 * Happy path: entries go into plain arrays (8 bytes, 16 with values), are dealt to rows, sorted, merged, and values
 * made integers. What can fail: an other kind of matrix, numbers, counts; each with its line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/formats/tokens.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"

typedef struct matrix_reader {
  cm_tokens text;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  bool pattern, symmetric;
  uint64_t entries;  /* announced */
  uint32_t *row, *column;
  uint64_t count, row_room, column_room;
  uint64_t loops;    /* dropped */
  cm_weights value, row_value; /* of entries; the same in rows */
} matrix_reader;

static cm_status bad(const matrix_reader *r, uint64_t line, const char *what, cm_error *error)
{
  return cm_tokens_bad(&r->text, line, what, error);
}

static cm_status read_banner(matrix_reader *r, cm_error *error)
{
  char line[200], object[32] = "", layout[32] = "", field[32] = "", symmetry[32] = "", text[200];
  if (cm_tokens_line(&r->text, line, sizeof line, error) != CM_OK)
    return error->status;
  static const char banner[] = "%%MatrixMarket ";
  if (strncasecmp(line, banner, sizeof banner - 1) != 0 ||
      sscanf(line + sizeof banner - 1, "%31s %31s %31s %31s", object, layout, field, symmetry) != 4 ||
      strcasecmp(object, "matrix") != 0)
    return bad(r, 1, "the first line must be \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"", error);
  if (strcasecmp(layout, "coordinate") != 0) {
    (void)snprintf(text, sizeof text, "the layout '%s' holds no sparse matrix; 'coordinate' is expected", layout);
    return bad(r, 1, text, error);
  }
  r->pattern = strcasecmp(field, "pattern") == 0;
  if (!r->pattern && strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0) {
    (void)snprintf(text, sizeof text, "entries of the field '%s' are no weights; pattern, integer or real is expected",
                   field);
    return bad(r, 1, text, error);
  }
  r->symmetric = strcasecmp(symmetry, "symmetric") == 0;
  if (!r->symmetric && strcasecmp(symmetry, "general") != 0) {
    (void)snprintf(text, sizeof text, "the symmetry '%s' makes no network; general or symmetric is expected", symmetry);
    return bad(r, 1, text, error);
  }
  return CM_OK;
}

static cm_status next_line(matrix_reader *r, bool *end, cm_error *error)
{
  return cm_tokens_next_line(&r->text, &r->made->weight_scale, end, error);
}

/* A number that must be there. */
static cm_status need_number(matrix_reader *r, const char *what, uint64_t *value, cm_error *error)
{
  bool found;
  char text[120];
  if (cm_tokens_number(&r->text, what, &found, value, error) != CM_OK)
    return error->status;
  if (found)
    return CM_OK;
  (void)snprintf(text, sizeof text, "the line ends before %s", what);
  return bad(r, r->text.line, text, error);
}

static cm_status need_line_end(matrix_reader *r, const char *expected, cm_error *error)
{
  int c = -1;
  for (;; r->text.source->at++) {
    if (cm_tokens_peek(&r->text, &c, error) != CM_OK)
      return error->status;
    if (c != ' ' && c != '\t' && c != '\r')
      break;
  }
  if (c != -1 && c != '\n')
    return bad(r, r->text.line, expected, error);
  cm_tokens_end_line(&r->text);
  return CM_OK;
}

static cm_status read_size(matrix_reader *r, cm_error *error)
{
  uint64_t rows, columns, entries;
  char text[160];
  bool end;
  if (next_line(r, &end, error) != CM_OK || need_number(r, "the number of rows", &rows, error) != CM_OK ||
      need_number(r, "the number of columns", &columns, error) != CM_OK ||
      need_number(r, "the number of entries", &entries, error) != CM_OK)
    return error->status;
  if (rows != columns) {
    (void)snprintf(text, sizeof text,
                   "the matrix has %llu rows and %llu columns; a network needs as many of both, one for each neuron",
                   (unsigned long long)rows, (unsigned long long)columns);
    return bad(r, r->text.line, text, error);
  }
  if (rows > r->limits->vertices_max)
    return cm_over_limit("vertices", rows, r->limits->vertices_max, error);
  if (entries > (r->symmetric ? r->limits->pins_max / 2 : r->limits->pins_max))
    return cm_over_limit("entries", entries, r->symmetric ? r->limits->pins_max / 2 : r->limits->pins_max, error);
  r->made->vertex_count = (uint32_t)rows;
  r->made->size_total = rows;
  r->entries = entries;
  return need_line_end(r, "the line must hold the numbers of rows, columns and entries, and nothing else", error);
}

static cm_status read_entry(matrix_reader *r, cm_error *error)
{
  uint64_t place[2];
  double value = 1;
  bool found;
  char text[160];
  if (need_number(r, "a row", &place[0], error) != CM_OK || need_number(r, "a column", &place[1], error) != CM_OK)
    return error->status;
  for (int i = 0; i < 2; i++)
    if (place[i] == 0 || place[i] > r->made->vertex_count) {
      (void)snprintf(text, sizeof text, "%s %llu is out of range: 1 to %u is expected", i == 0 ? "row" : "column",
                     (unsigned long long)place[i], r->made->vertex_count);
      return bad(r, r->text.line, text, error);
    }
  if (r->symmetric && place[0] < place[1]) {
    (void)snprintf(text, sizeof text,
                   "row %llu, column %llu lies above the diagonal; a symmetric file holds what is below",
                   (unsigned long long)place[0], (unsigned long long)place[1]);
    return bad(r, r->text.line, text, error);
  }
  if (!r->pattern) {
    if (cm_tokens_real(&r->text, "a value", &found, &value, error) != CM_OK)
      return error->status;
    if (!found)
      return bad(r, r->text.line, "the line ends before the value of its entry", error);
  }
  if (need_line_end(r, r->pattern ? "an entry of a pattern has a row and a column only"
                                  : "an entry has a row, a column and a value only", error) != CM_OK)
    return error->status;
  if (r->symmetric && place[0] == place[1]) {
    r->loops++;
    return CM_OK;
  }
  if (CM_ROOM(r->memory, r->row, &r->row_room, r->count + 1, error) != CM_OK ||
      CM_ROOM(r->memory, r->column, &r->column_room, r->count + 1, error) != CM_OK ||
      cm_weights_keep(&r->value, r->memory, r->count, r->row_room, value, error) != CM_OK)
    return error->status;
  r->row[r->count] = (uint32_t)place[0] - 1;
  r->column[r->count++] = (uint32_t)place[1] - 1;
  return CM_OK;
}

static cm_status read_entries(matrix_reader *r, cm_error *error)
{
  char text[160];
  bool end;
  for (uint64_t i = 0;; i++) {
    if (next_line(r, &end, error) != CM_OK)
      return error->status;
    if (end != (i == r->entries)) {
      (void)snprintf(text, sizeof text, end ? "the file ends after %llu entries; %llu are announced"
                                            : "more lines follow after %llu of %llu announced entries",
                     (unsigned long long)i, (unsigned long long)r->entries);
      return bad(r, r->text.line, text, error);
    }
    if (end)
      return CM_OK;
    if (read_entry(r, error) != CM_OK)
      return error->status;
  }
}

/* ---- from entries to a topology ---- */

/* Deals the entries to rows: made->net_first (one row a vertex), made->pin and row_value. */
static cm_status deal(matrix_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t ends = r->symmetric ? 2 * r->count : r->count;
  if (CM_NEW(r->memory, made->net_first, (size_t)made->vertex_count + 2, error) != CM_OK ||
      CM_NEW(r->memory, made->pin, ends, error) != CM_OK ||
      (r->value.value != NULL && CM_NEW(r->memory, r->row_value.value, ends, error) != CM_OK))
    return error->status;
  /* Counted one place too far, so that filling in moves every start to its place. */
  for (uint64_t i = 0; i < r->count; i++) {
    made->net_first[(uint64_t)r->row[i] + 2]++;
    if (r->symmetric)
      made->net_first[(uint64_t)r->column[i] + 2]++;
  }
  for (uint64_t v = 0; v < made->vertex_count; v++)
    made->net_first[v + 2] += made->net_first[v + 1];
  for (uint64_t i = 0; i < r->count; i++)
    for (int way = 0; way < (r->symmetric ? 2 : 1); way++) {
      uint32_t from = way == 0 ? r->row[i] : r->column[i], to = way == 0 ? r->column[i] : r->row[i];
      uint64_t at = made->net_first[(uint64_t)from + 1]++;
      made->pin[at] = to;
      if (r->value.value != NULL)
        r->row_value.value[at] = r->value.value[i];
    }
  cm_free(r->row);
  cm_free(r->column);
  cm_free(r->value.value);
  r->row = r->column = NULL;
  r->value.value = NULL;
  r->row_value.fractions = r->value.fractions;
  return CM_OK;
}

cm_status cm_import_matrix(cm_source *source, const cm_import_limits *limits, cm_run *run,
                           cm_topology **topology, cm_error *error)
{
  matrix_reader r = {.text = {.source = source, .format = "MatrixMarket", .line = 1}, .limits = limits, .run = run,
                     .memory = run->memory};
  if (CM_NEW(run->memory, r.made, 1, error) != CM_OK)
    return error->status;
  cm_status status = read_banner(&r, error);
  if (status == CM_OK)
    status = read_size(&r, error);
  if (status == CM_OK)
    status = read_entries(&r, error);
  r.made->directed = !r.symmetric;
  r.row_value.drop_zeros = cm_source_drops_zeros(source);
  if (status == CM_OK)
    status = deal(&r, error);
  if (status == CM_OK)
    status = cm_weighted_rows_close(r.made, &r.row_value, run, error);
  r.made->self_loop_count += r.loops;
  if (status == CM_OK)
    status = cm_weighted_rows_scale(r.made, &r.row_value, run, error);
  cm_free(r.row);
  cm_free(r.column);
  cm_weights_free(&r.value);
  cm_weights_free(&r.row_value);
  if (status != CM_OK) {
    cm_topology_free(r.made);
    return status;
  }
  CM_TRIM(run->memory, r.made->pin, r.made->pin_count);
  *topology = r.made;
  return CM_OK;
}
