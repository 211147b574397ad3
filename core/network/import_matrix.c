/* MatrixMarket .mtx: "%%MatrixMarket matrix coordinate FIELD SYMMETRY", comments, "rows columns entries", then one entry
 * a line: row, column and, unless FIELD is pattern, a value. A general matrix is a directed network (row -> column), a
 * symmetric one an undirected graph of which the file holds the lower triangle.
 *
 * Happy path: entries go into plain arrays (8 bytes, 16 with values), are dealt to rows, sorted, merged, and values made
 * integers. What can fail: an other kind of matrix, numbers, counts; each with its line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/network/internal.h"

typedef struct matrix_reader {
  cm_tokens text;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  bool pattern, symmetric, whole;
  uint64_t entries;  /* announced */
  uint32_t *row, *column;
  double *value;     /* NULL: all 1 */
  uint64_t count, row_room, column_room, value_room;
  uint64_t loops;    /* dropped */
  double *row_value; /* [pin_count] values in rows */
  cm_row_sorter sorter;
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

/* Goes to the next line that is neither blank nor a comment; *end at the end of the file. */
static cm_status next_line(matrix_reader *r, bool *end, cm_error *error)
{
  char ignored[4];
  int c = -1;
  for (;;) {
    if (cm_tokens_peek(&r->text, &c, error) != CM_OK)
      return error->status;
    if (c == '%') {
      if (cm_tokens_line(&r->text, ignored, sizeof ignored, error) != CM_OK)
        return error->status;
    } else if (c == '\n')
      cm_tokens_end_line(&r->text);
    else if (c == ' ' || c == '\t' || c == '\r')
      r->text.source->at++;
    else
      break;
  }
  *end = c == -1;
  return CM_OK;
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

static cm_status keep_value(matrix_reader *r, double value, cm_error *error)
{
  if (r->value == NULL && value == 1)
    return CM_OK;
  bool first = r->value == NULL;
  if (CM_ROOM(r->memory, r->value, &r->value_room, r->row_room, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; first && i < r->count; i++)
    r->value[i] = 1;
  r->value[r->count] = value;
  r->whole = r->whole && value == trunc(value);
  return CM_OK;
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
    (void)snprintf(text, sizeof text, "row %llu, column %llu lies above the diagonal; a symmetric file holds what is below",
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
      keep_value(r, value, error) != CM_OK)
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
      (r->value != NULL && CM_NEW(r->memory, r->row_value, ends, error) != CM_OK))
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
      if (r->value != NULL)
        r->row_value[at] = r->value[i];
    }
  cm_free(r->row);
  cm_free(r->column);
  cm_free(r->value);
  r->row = r->column = NULL;
  r->value = NULL;
  return CM_OK;
}

/* Repeated entries make values needed: two of 1 make one of 2. */
static cm_status need_values(matrix_reader *r, uint64_t ends, cm_error *error)
{
  if (r->row_value != NULL)
    return CM_OK;
  if (CM_NEW(r->memory, r->row_value, ends, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < ends; i++)
    r->row_value[i] = 1;
  return CM_OK;
}

/* Sorts the row [begin, end), merges repeats, and moves it to *used on. */
static cm_status close_row(matrix_reader *r, uint32_t vertex, uint64_t begin, uint64_t end, uint64_t ends, uint64_t *used,
                           double **scratch, uint64_t *room, cm_error *error)
{
  cm_topology *made = r->made;
  const uint64_t *key;
  uint64_t count = end - begin, start = *used;
  if (cm_row_order(&r->sorter, made->pin + begin, count, &key, error) != CM_OK)
    return error->status;
  for (uint64_t i = 1; i < count; i++)
    if (key[i] >> 32 == key[i - 1] >> 32 && need_values(r, ends, error) != CM_OK)
      return error->status;
  if (r->row_value != NULL) {
    if (CM_ROOM(r->memory, *scratch, room, count, error) != CM_OK)
      return error->status;
    memcpy(*scratch, r->row_value + begin, count * sizeof **scratch);
  }
  for (uint64_t i = 0; i < count; i++) {
    uint32_t target = (uint32_t)(key[i] >> 32);
    bool repeated = *used > start && made->pin[*used - 1] == target;
    made->duplicate_count += repeated;
    made->self_loop_count += !repeated && target == vertex;
    if (repeated) {
      r->row_value[*used - 1] += (*scratch)[(uint32_t)key[i]];
      continue;
    }
    if (r->row_value != NULL)
      r->row_value[*used] = (*scratch)[(uint32_t)key[i]];
    made->pin[(*used)++] = target;
  }
  return CM_OK;
}

static cm_status close_rows(matrix_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  double *scratch = NULL;
  uint64_t room = 0, used = 0, begin = 0, ends = made->net_first[made->vertex_count];
  uint32_t nets = 0;
  cm_status status = CM_OK;
  if (made->directed)
    status = CM_NEW(r->memory, made->net_source, made->vertex_count, error);
  for (uint32_t v = 0; v < made->vertex_count && status == CM_OK; v++) {
    uint64_t end = made->net_first[v + 1];
    if (v % CM_CHECK_EVERY == 0 && (status = cm_run_check(r->run, error)) != CM_OK)
      break;
    status = begin < end ? close_row(r, v, begin, end, ends, &used, &scratch, &room, error) : CM_OK;
    if (!made->directed || begin < end) {
      if (made->directed)
        made->net_source[nets] = v;
      made->net_first[++nets] = used;
    }
    begin = end;
  }
  cm_free(scratch);
  made->net_count = nets;
  made->pin_count = used;
  if (!made->directed)
    made->duplicate_count /= 2; /* each stood in two rows */
  made->self_loop_count += r->loops;
  return status;
}

static cm_status scale_values(matrix_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  double sum = 0, maximum = 1, ones = (double)made->pin_count;
  bool all_one = true;
  for (uint64_t i = 0; r->row_value != NULL && i < made->pin_count; i++) {
    sum += r->row_value[i];
    maximum = r->row_value[i] > maximum ? r->row_value[i] : maximum;
    all_one = all_one && r->row_value[i] == 1;
  }
  if (r->symmetric) { /* each edge stands in two rows and counts once */
    sum /= 2;
    ones /= 2;
  }
  /* Every axon has rate 1 on the same scale, so the rates must fit too. */
  if (cm_weight_scale(sum > ones ? sum : ones, maximum, UINT32_MAX, r->whole, &made->weight_scale, error) != CM_OK)
    return error->status;
  if (made->directed) {
    if (CM_NEW(r->memory, made->net_weight, made->net_count, error) != CM_OK)
      return error->status;
    for (uint32_t e = 0; e < made->net_count; e++)
      made->net_weight[e] = made->weight_scale;
  }
  if (all_one)
    return CM_OK;
  if (CM_NEW(r->memory, made->pin_weight, made->pin_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < made->pin_count; i++)
    made->pin_weight[i] = (uint32_t)cm_weight_scaled(r->row_value[i], made->weight_scale);
  return CM_OK;
}

cm_status cm_import_matrix(cm_source *source, const cm_import_limits *limits, cm_run *run,
                           cm_topology **topology, cm_error *error)
{
  matrix_reader r = {.text = {.source = source, .format = "MatrixMarket", .line = 1}, .limits = limits, .run = run,
                     .memory = run->memory, .whole = true, .sorter = {.memory = run->memory}};
  if (CM_NEW(run->memory, r.made, 1, error) != CM_OK)
    return error->status;
  cm_status status = read_banner(&r, error);
  if (status == CM_OK)
    status = read_size(&r, error);
  if (status == CM_OK)
    status = read_entries(&r, error);
  r.made->directed = !r.symmetric;
  if (status == CM_OK)
    status = deal(&r, error);
  if (status == CM_OK)
    status = close_rows(&r, error);
  if (status == CM_OK)
    status = scale_values(&r, error);
  cm_row_sorter_free(&r.sorter);
  cm_free(r.row);
  cm_free(r.column);
  cm_free(r.value);
  cm_free(r.row_value);
  if (status != CM_OK) {
    cm_topology_free(r.made);
    return status;
  }
  CM_TRIM(run->memory, r.made->pin, r.made->pin_count);
  *topology = r.made;
  return CM_OK;
}
