/* MatrixMarket .mtx: "%%MatrixMarket matrix LAYOUT FIELD SYMMETRY", comments, then "rows columns entries" and an entry a line (row,
 * column and, unless FIELD is pattern, a value), or, where LAYOUT is array, "rows columns" and all values, column by column. A
 * matrix is a directed network, row -> column; of a symmetric or skew-symmetric one the file holds the lower triangle.
 *
 * Happy path: entries are collected, those of half a matrix both ways, and become rows. What can fail: an other kind of matrix,
 * numbers, counts; each with its line. */
#include <stdio.h>
#include <strings.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/formats/tokens.h"
#include "core/network/import_limits.h"

typedef enum half { GENERAL, SYMMETRIC, SKEW, SYMMETRIES } half;

typedef struct matrix_reader {
  cm_tokens text;
  const cm_import_limits *limits;
  cm_topology *made;
  bool array, pattern;
  half symmetry; /* what the file holds half of */
  uint64_t count;  /* of entries announced */
  uint64_t loops;  /* of a graph, dropped */
  cm_entries entries;
} matrix_reader;

static cm_status bad(const matrix_reader *r, uint64_t line, const char *what, cm_error *error)
{
  return cm_tokens_bad(&r->text, line, what, error);
}

static const char *const symmetries[SYMMETRIES] = {"general", "symmetric", "skew-symmetric"};

static cm_status read_banner(matrix_reader *r, cm_error *error)
{
  char line[200], object[32] = "", layout[32] = "", field[32] = "", symmetry[32] = "", text[200];
  static const char banner[] = "%%MatrixMarket ";
  CM_TRY(cm_tokens_skip_blanks(&r->text, error));
  CM_TRY(cm_tokens_line(&r->text, line, sizeof line, error));
  if (strncasecmp(line, banner, sizeof banner - 1) != 0 ||
      sscanf(line + sizeof banner - 1, "%31s %31s %31s %31s", object, layout, field, symmetry) != 4 ||
      strcasecmp(object, "matrix") != 0)
    return bad(r, 1, "the file must begin with the line \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"", error);
  r->array = strcasecmp(layout, "array") == 0;
  r->pattern = strcasecmp(field, "pattern") == 0;
  while (r->symmetry < SYMMETRIES && strcasecmp(symmetry, symmetries[r->symmetry]) != 0)
    r->symmetry++;
  text[0] = '\0';
  if (!r->array && strcasecmp(layout, "coordinate") != 0)
    (void)snprintf(text, sizeof text, "the layout '%s' is none of coordinate and array", layout);
  else if ((!r->pattern || r->array) && strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
    (void)snprintf(text, sizeof text, "entries of the field '%s' are no weights; %sinteger or real is expected", field,
                   r->array ? "" : "pattern, ");
  else if (r->symmetry == SYMMETRIES || (r->symmetry == SKEW && r->pattern))
    (void)snprintf(text, sizeof text, "the symmetry '%s' makes no network; general, symmetric or skew-symmetric is expected", symmetry);
  return text[0] != '\0' ? bad(r, r->text.line - 1, text, error) : CM_OK;
}

static cm_status next_line(matrix_reader *r, bool *end, cm_error *error)
{
  return cm_tokens_next_line(&r->text, &r->made->weight_scale, end, error);
}

/* A number that must be there. */
static cm_status need_number(matrix_reader *r, const char *what, uint64_t *value, cm_error *error)
{
  bool found;
  CM_TRY(cm_tokens_number(&r->text, what, &found, value, error));
  if (found)
    return CM_OK;
  return bad(r, r->text.line, cm_say("the line ends before %s", what).text, error);
}

static cm_status need_line_end(matrix_reader *r, const char *expected, cm_error *error)
{
  int c = -1;
  for (;; r->text.source->at++) {
    CM_TRY(cm_tokens_peek(&r->text, &c, error));
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
  uint64_t rows, columns;
  const uint64_t most = r->symmetry != GENERAL ? r->limits->pins_max / 2 : r->limits->pins_max;
  bool end;
  if (next_line(r, &end, error) != CM_OK || need_number(r, "the number of rows", &rows, error) != CM_OK ||
      need_number(r, "the number of columns", &columns, error) != CM_OK ||
      (!r->array && need_number(r, "the number of entries", &r->count, error) != CM_OK))
    return error->status;
  if (rows != columns)
    return bad(r, r->text.line, cm_say("the matrix has %llu rows and %llu columns; a network needs as many of both, one for each neuron", (unsigned long long)rows, (unsigned long long)columns).text, error);
  if (rows > r->limits->vertices_max)
    return cm_over_limit("vertices", rows, r->limits->vertices_max, error);
  if (!r->array && r->count > most)
    return cm_over_limit("entries", r->count, most, error);
  r->made->vertex_count = (uint32_t)rows;
  r->made->size_total = rows;
  if (r->array)
    r->count = r->symmetry == GENERAL ? rows * rows : r->symmetry == SYMMETRIC ? rows * (rows + 1) / 2 : rows * (rows - (rows > 0)) / 2;
  return need_line_end(r, r->array ? "the line must hold the numbers of rows and columns, and nothing else"
                                   : "the line must hold the numbers of rows, columns and entries, and nothing else", error);
}

/* An entry, and its counterpart where the file holds half a matrix. */
static cm_status add(matrix_reader *r, uint32_t row, uint32_t column, double value, cm_error *error)
{
  if (r->text.undirected && row == column) {
    r->loops++;
    return CM_OK;
  }
  CM_TRY(cm_entries_add(&r->entries, row, column, value, -1, error));
  return r->symmetry == GENERAL || row == column
           ? CM_OK
           : cm_entries_add(&r->entries, column, row, r->symmetry == SKEW ? -value : value, -1, error);
}

static cm_status read_value(matrix_reader *r, double *value, cm_error *error)
{
  bool found;
  CM_TRY(cm_tokens_real(&r->text, "a value", &found, value, error));
  return found ? CM_OK : bad(r, r->text.line, "the line ends before the value of its entry", error);
}

static cm_status read_entry(matrix_reader *r, cm_error *error)
{
  uint64_t place[2];
  double value = 1;
  CM_TRY(need_number(r, "a row", &place[0], error));
  CM_TRY(need_number(r, "a column", &place[1], error));
  for (int i = 0; i < 2; i++)
    if (place[i] == 0 || place[i] > r->made->vertex_count)
      return bad(r, r->text.line, cm_say("%s %llu is out of range: 1 to %u is expected", i == 0 ? "row" : "column", (unsigned long long)place[i],
                                         r->made->vertex_count).text, error);
  if (r->symmetry != GENERAL && place[0] < place[1] + (r->symmetry == SKEW))
    return bad(r, r->text.line, cm_say("row %llu, column %llu lies %s the diagonal; a %s file holds what is below", (unsigned long long)place[0],
                                       (unsigned long long)place[1], place[0] == place[1] ? "on" : "above", symmetries[r->symmetry]).text, error);
  CM_TRY_IF(!r->pattern, read_value(r, &value, error));
  return need_line_end(r, r->pattern ? "an entry of a pattern has a row and a column only"
                                     : "an entry has a row, a column and a value only", error) == CM_OK
           ? add(r, (uint32_t)place[0] - 1, (uint32_t)place[1] - 1, value, error)
           : error->status;
}

static cm_status check_count(matrix_reader *r, uint64_t read, bool end, cm_error *error)
{
  if (end == (read == r->count))
    return CM_OK;
  return bad(r, r->text.line, cm_say(end ? "the file ends after %llu entries; %llu are announced" : "more lines follow after %llu of %llu announced "
          "entries", (unsigned long long)read, (unsigned long long)r->count).text, error);
}

static cm_status read_entries(matrix_reader *r, cm_error *error)
{
  bool end;
  for (uint64_t i = 0;; i++) {
    CM_TRY(next_line(r, &end, error));
    CM_TRY(check_count(r, i, end, error));
    if (end)
      return CM_OK;
    CM_TRY(read_entry(r, error));
  }
}

/* All values of a matrix or of its half, column by column, 0 being no synapse. */
static cm_status read_array(matrix_reader *r, cm_error *error)
{
  const uint32_t size = r->made->vertex_count;
  double value;
  bool end;
  uint64_t read = 0;
  for (uint32_t column = 0; column < size; column++)
    for (uint32_t row = r->symmetry == GENERAL ? 0 : column + (r->symmetry == SKEW); row < size; row++, read++) {
      if (next_line(r, &end, error) != CM_OK || check_count(r, read, end, error) != CM_OK || read_value(r, &value, error) != CM_OK ||
          (value != 0 && add(r, row, column, value, error) != CM_OK))
        return error->status;
    }
  return next_line(r, &end, error) == CM_OK ? check_count(r, read, end, error) : error->status;
}

cm_status cm_import_matrix(const cm_reading_of *in, cm_error *error)
{
  matrix_reader r = {.text = {.source = in->source, .format = "MatrixMarket", .line = 1}, .limits = in->limits, .made = in->made,
                     .entries = {.memory = in->run->memory, .run = in->run, .limit = in->limits->pins_max}};
  cm_weights_as_asked(&r.entries.weight, in->source);
  cm_status status = read_banner(&r, error);
  CM_THEN(status, read_size(&r, error));
  if (status == CM_OK)
    status = r.array ? read_array(&r, error) : read_entries(&r, error);
  r.made->directed = !r.text.undirected;
  CM_THEN(status, cm_entries_close(&r.entries, r.made, error));
  r.made->self_loop_count += r.loops;
  cm_entries_free(&r.entries);
  return status;
}
