/* How a table of edges begins: with a header, a rule of dashes below one, the ids of a square table of weights, which is read to its
 * end, or with the first edge. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/formats/table.h"
#include "core/network/formats/table_rows.h"

/* Whether a first row without known words is a header all the same: its third field is a word, or, where the caller names
 * the columns, its weight or delay is no number. */
static bool looks_like_header(const cm_table *t)
{
  double ignored;
  if (!t->named)
    return t->field_count == 3 && t->fields[2].length > 0 && isalpha((unsigned char)t->fields[2].text[0]) &&
           !cm_field_number(&t->fields[2], &ignored);
  for (int id = CM_COLUMN_WEIGHT; id < CM_COLUMNS; id++)
    if (t->columns.at[id] >= 0 && (size_t)t->columns.at[id] < t->field_count &&
        !cm_field_number(&t->fields[t->columns.at[id]], &ignored))
      return true;
  return false;
}

static bool same(const cm_field *a, const cm_field *b)
{
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* One row of a matrix: an id, and a weight (nothing or 0: no synapse) for each of `ids` vertices. */
static cm_status read_square_row(cm_table *t, uint32_t row, uint32_t ids, cm_error *error)
{
  char text[200];
  uint32_t number = 0;
  if (t->field_count != (size_t)ids + 1) {
    (void)snprintf(text, sizeof text, "%zu fields; an id and %u weights are expected", t->field_count, ids);
    return cm_table_bad(t, text, error);
  }
  if (cm_table_name(t, &t->fields[0], "id", &number, error) != CM_OK)
    return error->status;
  if (number != row || row >= ids) {
    (void)snprintf(text, sizeof text, "row %u has the id '%.*s'; rows must be in the order of the columns, one for each",
                   row + 1, cm_field_shown(&t->fields[0]), t->fields[0].text);
    return cm_table_bad(t, text, error);
  }
  for (uint32_t i = 0; i < ids; i++) {
    double weight = 0;
    if (t->fields[i + 1].length > 0 && cm_table_number(t, &t->fields[i + 1], "weight", &weight, error) != CM_OK)
      return error->status;
    if (weight != 0 && cm_entries_add(&t->edges, row, i, weight, -1, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Reads a matrix to its end. t->fields is its header, the ids from field `begin` on; `line` its first row. */
static cm_status read_square(cm_table *t, size_t begin, const char *line, size_t length, cm_error *error)
{
  uint32_t number, ids = (uint32_t)(t->field_count - begin);
  char text[160];
  t->named = true;
  for (size_t i = begin; i < t->field_count; i++) {
    if (cm_table_name(t, &t->fields[i], "id", &number, error) != CM_OK)
      return error->status;
    if (number == i - begin)
      continue;
    (void)snprintf(text, sizeof text, "the id '%.*s' stands above two columns", cm_field_shown(&t->fields[i]), t->fields[i].text);
    return cm_table_bad(t, text, error);
  }
  if (cm_table_split(t, line, length, error) != CM_OK)
    return error->status;
  for (uint32_t row = 0;; row++) {
    bool end = false;
    if (read_square_row(t, row, ids, error) != CM_OK || cm_table_next_row(t, &line, &length, &end, error) != CM_OK)
      return error->status;
    if (!end)
      continue;
    if (row + 1 == ids)
      return CM_OK;
    (void)snprintf(text, sizeof text, "the table ends after %u rows; it has %u columns, and needs a row for each", row + 1,
                   ids);
    return cm_table_bad(t, text, error);
  }
}

/* The first two rows, of which the first names no columns: the header and first row of a matrix when the second begins with
 * the first id of the first; else rows like any other. `header` is a copy of the first line. */
static cm_status read_first_two(cm_table *t, char *header, size_t header_length, bool *done, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0, second_count = 0;
  bool end = false, square = false, corner = false, header_only = looks_like_header(t);
  uint64_t header_line = t->line;
  if (cm_table_next_row(t, &line, &length, &end, error) != CM_OK)
    return error->status;
  uint64_t second_line = t->line;
  char id[256];
  cm_field first = {id, 0};
  if (!end && t->fields[0].length < sizeof id) {
    first.length = t->fields[0].length;
    memcpy(id, t->fields[0].text, first.length);
    second_count = t->field_count;
  }
  if (cm_table_split(t, header, header_length, error) != CM_OK)
    return error->status;
  if (first.length > 0) {
    corner = second_count == t->field_count && same(&first, &t->fields[1]) &&
             (t->field_count > 3 || t->fields[0].length == 0);
    square = corner || (second_count == t->field_count + 1 && t->field_count > 1 && same(&first, &t->fields[0]));
    double ignored; /* four numbers of which some are no ids: edges with weights */
    uint64_t whole;
    for (size_t i = 0; i < t->field_count && square; i++)
      square = !cm_field_number(&t->fields[i], &ignored) ||
               cm_field_whole(t->fields[i].text, t->fields[i].length, &whole);
  }
  *done = square || end;
  if (square)
    return read_square(t, corner ? 1 : 0, line, length, error);
  t->line = header_line;
  if (!header_only && cm_table_take_row(t, error) != CM_OK)
    return error->status;
  t->line = second_line;
  if (end)
    return CM_OK;
  return cm_table_split(t, line, length, error) == CM_OK ? cm_table_take_row(t, error) : error->status;
}

/* Whether a row is a rule of dashes, as NEST prints one below a header. */
static bool is_rule(const cm_table *t)
{
  for (size_t i = 0; i < t->field_count; i++)
    if (strspn(t->fields[i].text, "-") < t->fields[i].length)
      return false;
  return t->field_count > 1;
}

/* Columns of a header above a rule, between two blanks and more: "synapse model" is one. */
static bool columns_above_rule(cm_table *t, char *header, size_t length)
{
  cm_columns columns;
  for (size_t i = 0; i + 1 < length; i++)
    if (header[i] == ' ' && header[i + 1] != ' ' && i > 0 && header[i - 1] != ' ')
      header[i] = '_';
  cm_error ignored;
  size_t rule = t->field_count;
  if (cm_table_split(t, header, length, &ignored) != CM_OK || t->field_count != rule ||
      !cm_columns_of_header(t->fields, t->field_count, &columns))
    return false;
  t->columns = columns;
  return true;
}

/* The row below a header between blanks: a rule says where columns are, else it is the first of the table. */
static cm_status read_below_header(cm_table *t, const char *line, size_t length, bool *done, cm_error *error)
{
  char *header;
  if (t->separator != ' ')
    return CM_OK;
  if (CM_NEW(t->memory, header, length + 1, error) != CM_OK)
    return error->status;
  memcpy(header, line, length);
  size_t header_length = length;
  cm_status status = cm_table_next_row(t, &line, &length, done, error);
  if (status == CM_OK && !*done && !is_rule(t))
    status = cm_table_take_row(t, error);
  else if (status == CM_OK && !*done && !columns_above_rule(t, header, header_length))
    status = cm_table_bad(t, "the rule of dashes parts other columns than the line above names", error);
  cm_free(header);
  return status;
}

cm_status cm_table_read_first(cm_table *t, bool *done, cm_error *error)
{
  const char *line = NULL, *said = cm_source_option(t->source, CM_READ_COLUMNS);
  size_t length = 0;
  cm_columns columns;
  if (said != NULL && cm_columns_of_option(said, &t->columns, error) != CM_OK)
    return error->status;
  t->named = said != NULL;
  if (cm_table_next_row(t, &line, &length, done, error) != CM_OK || *done)
    return *done ? CM_OK : error->status;
  if (said == NULL && cm_columns_of_header(t->fields, t->field_count, &columns)) {
    t->columns = columns;
    t->named = true;
    return read_below_header(t, line, length, done, error);
  }
  if (t->named)
    return looks_like_header(t) ? CM_OK : cm_table_take_row(t, error);
  if (t->tuples || t->field_count < 3)
    return cm_table_take_row(t, error);
  char *copy;
  if (CM_NEW(t->memory, copy, length + 1, error) != CM_OK)
    return error->status;
  memcpy(copy, line, length);
  cm_status status = read_first_two(t, copy, length, done, error);
  cm_free(copy);
  return status;
}
