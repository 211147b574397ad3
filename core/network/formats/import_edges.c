/* Tables of edges: a directed edge a line; which column is what is said by a header, by PyNN's comment, by the caller, or is
 * source,target[,weight]; '#' and '%' start comment lines, fields may be quoted ("" is a quote). A square table with ids is a
 * matrix. "[(0, 1), (1, 2)]", a list as Python prints it, has its rows in brackets.
 *
 * Happy path: names become numbers, edges go into plain arrays (8 bytes an edge, 8 more with weights, 8 more with delays),
 * which are then grouped by source in place, each group sorted, repeats merged, weights made integers.
 * What can fail: a line with another number of fields, a weight that is no number, a name that is no text; each with its
 * line. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/table.h"
#include "core/network/formats/table_rows.h"
#include "core/network/rates.h"

cm_status cm_table_bad(const cm_table *t, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "%s, line %llu: %s", t->what != NULL ? t->what : "edge list", (unsigned long long)t->line, what);
  return cm_fail_at(error, "line %llu", (unsigned long long)t->line);
}

static int shown(const cm_field *f)
{
  return f->length < CM_FIELD_SHOWN_MAX ? (int)f->length : CM_FIELD_SHOWN_MAX;
}

/* ---- values ---- */

cm_status cm_table_name(cm_table *t, const cm_field *f, const char *what, uint32_t *number, cm_error *error)
{
  char text[120];
  if (f->length == 0 || !cm_name_valid(f->text, f->length)) {
    (void)snprintf(text, sizeof text, "the %s %s", what,
                   f->length == 0 ? "is empty" : "is not a name: control characters, or not UTF-8");
    return cm_table_bad(t, text, error);
  }
  uint64_t ignored;
  bool negative = f->text[0] == '-' && cm_field_whole(f->text + 1, f->length - 1, &ignored);
  if (negative || (t->separator == ' ' && !t->named && !cm_field_whole(f->text, f->length, &ignored))) {
    (void)snprintf(text, sizeof text, "the %s '%.*s' %s", what, shown(f), f->text,
                   negative ? "is negative; vertices are numbered from 0, or named"
                            : "is no number; names need commas or tabs between the fields");
    return cm_table_bad(t, text, error);
  }
  return cm_names_number(&t->names, f->text, f->length, t->limits->vertices_max, number, error);
}

cm_status cm_table_number(const cm_table *t, const cm_field *f, const char *what, double *value, cm_error *error)
{
  if (cm_field_number(f, value) && isfinite(*value))
    return CM_OK;
  char text[160];
  (void)snprintf(text, sizeof text, "%s '%.*s' is not a finite number", what, shown(f), f->text);
  return cm_table_bad(t, text, error);
}

/* The rate of a source, which is the same in all its rows. */
static cm_status read_rate(cm_table *t, uint32_t source, cm_error *error)
{
  double rate;
  char text[160];
  const cm_field *f = &t->fields[t->columns.rate - 1];
  uint64_t before = t->rate_room;
  if (cm_table_number(t, f, "rate", &rate, error) != CM_OK)
    return error->status;
  if (rate < 0) {
    (void)snprintf(text, sizeof text, "the rate '%.*s' is negative", shown(f), f->text);
    return cm_table_bad(t, text, error);
  }
  if (CM_ROOM(t->memory, t->rate, &t->rate_room, (uint64_t)t->names.count, error) != CM_OK)
    return error->status;
  for (uint64_t i = before; i < t->rate_room; i++)
    t->rate[i] = NAN;
  if (!isnan(t->rate[source]) && (t->rate[source] < rate || t->rate[source] > rate)) {
    (void)snprintf(text, sizeof text, "the rate is %.15g, and an earlier line of this source says %.15g: a rate is that of the "
                   "source's axon", rate, t->rate[source]);
    return cm_table_bad(t, text, error);
  }
  t->rate[source] = rate;
  return CM_OK;
}

static cm_status read_edge(cm_table *t, cm_error *error)
{
  const int *at = t->columns.at;
  uint32_t from, to;
  double weight = 1, delay_ms = -1;
  if (cm_table_name(t, &t->fields[at[CM_COLUMN_SOURCE]], "source", &from, error) != CM_OK ||
      cm_table_name(t, &t->fields[at[CM_COLUMN_TARGET]], "target", &to, error) != CM_OK ||
      (at[CM_COLUMN_WEIGHT] >= 0 &&
       cm_table_number(t, &t->fields[at[CM_COLUMN_WEIGHT]], "weight", &weight, error) != CM_OK) ||
      (at[CM_COLUMN_DELAY] >= 0 &&
       cm_table_number(t, &t->fields[at[CM_COLUMN_DELAY]], "delay", &delay_ms, error) != CM_OK))
    return error->status;
  if (at[CM_COLUMN_DELAY] >= 0 && delay_ms < 0)
    return cm_table_bad(t, "the delay is negative", error);
  if (t->columns.rate > 0 && read_rate(t, from, error) != CM_OK)
    return error->status;
  if (t->edges.count == 0)
    t->head_line = from == to && t->separator == ' ' && !t->named && !t->tuples ? t->line : 0;
  else if (from == 0 || to == 0)
    t->head_line = 0;
  return cm_entries_add(&t->edges, from, to, weight, delay_ms, error);
}

/* ---- rows ---- */

/* Columns of a table that does not name them: two or three, or the four of a PyNN list. */
static bool columns_by_number(cm_table *t)
{
  const char *name = t->source->hint != NULL && t->source->hint->name != NULL ? t->source->hint->name : "";
  const char *ending = cm_format_ending(&cm_network_formats[CM_FORMAT_EDGES], name);
  bool list = t->tuples || (ending != NULL && strcmp(ending, ".conn") == 0);
  size_t count = t->field_count;
  if (count < 2 || count > (list ? 4 : 3))
    return false;
  t->columns = (cm_columns){{0, 1, count > 2 ? 2 : CM_COLUMN_NONE, count > 3 ? 3 : CM_COLUMN_NONE}, 0, count};
  return true;
}

static cm_status refuse_count(cm_table *t, cm_error *error)
{
  char text[240], expected[80];
  (void)snprintf(expected, sizeof expected, "%zu are expected, as in the first line", t->columns.count);
  (void)snprintf(text, sizeof text, "%zu field%s; %s", t->field_count, t->field_count == 1 ? "" : "s",
                 t->columns.count == 2   ? "source,target is expected, as in the first line"
                 : t->columns.count == 3 ? "source,target,weight is expected, as in the first line"
                 : t->columns.count > 3  ? expected
                 : t->field_count > 3    ? "source,target or source,target,weight is expected, or a header that names source "
                                           "and target; or say what they are: columns=source,target,weight,delay"
                                         : "source,target or source,target,weight is expected");
  return cm_table_bad(t, text, error);
}

/* A first line of two names before lines of two numbers was a header of unknown words. */
static cm_status drop_header(cm_table *t, cm_error *error)
{
  uint64_t ignored;
  if (t->named || t->edges.count != 1 || t->columns.count != 2 || t->names.count != 2 ||
      cm_field_whole(t->names.text, t->names.first[1] - 1, &ignored) ||
      cm_field_whole(t->names.text + t->names.first[1], t->names.first[2] - t->names.first[1] - 1, &ignored) ||
      !cm_field_whole(t->fields[0].text, t->fields[0].length, &ignored) ||
      !cm_field_whole(t->fields[1].text, t->fields[1].length, &ignored))
    return CM_OK;
  t->edges.count = 0;
  cm_names_close(&t->names);
  return cm_names_open(&t->names, t->memory, error);
}

/* A row that has been divided. */
static cm_status take_row(cm_table *t, cm_error *error)
{
  if (t->columns.count == 0 && !columns_by_number(t))
    return refuse_count(t, error);
  if (t->field_count != t->columns.count)
    return refuse_count(t, error);
  return drop_header(t, error) == CM_OK ? read_edge(t, error) : error->status;
}

/* The next line that is neither blank nor a comment, divided; a comment of PyNN names the columns. */
static cm_status next_row(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error)
{
  for (;;) {
    if (cm_table_next_line(t, line, length, end, error) != CM_OK || *end)
      return *end ? CM_OK : error->status;
    size_t begin = 0;
    while (begin < *length && ((*line)[begin] == ' ' || (*line)[begin] == '\t'))
      begin++;
    if (begin < *length && ((*line)[begin] == '#' || (*line)[begin] == '%')) {
      if (t->separator == 0 && !t->named)
        t->named = cm_columns_of_comment(*line, *length, &t->columns);
      continue;
    }
    if (begin == *length && !(t->separator == '\t' && t->columns.count > 0 && *length > 0))
      continue;
    if (t->separator == 0)
      cm_table_find_separator(t, *line, *length);
    return cm_table_split(t, *line, *length, error);
  }
}

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

/* ---- square tables ---- */

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
                   row + 1, shown(&t->fields[0]), t->fields[0].text);
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
    (void)snprintf(text, sizeof text, "the id '%.*s' stands above two columns", shown(&t->fields[i]), t->fields[i].text);
    return cm_table_bad(t, text, error);
  }
  if (cm_table_split(t, line, length, error) != CM_OK)
    return error->status;
  for (uint32_t row = 0;; row++) {
    bool end = false;
    if (read_square_row(t, row, ids, error) != CM_OK || next_row(t, &line, &length, &end, error) != CM_OK)
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
  if (next_row(t, &line, &length, &end, error) != CM_OK)
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
  if (!header_only && take_row(t, error) != CM_OK)
    return error->status;
  t->line = second_line;
  if (end)
    return CM_OK;
  return cm_table_split(t, line, length, error) == CM_OK ? take_row(t, error) : error->status;
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
  cm_status status = next_row(t, &line, &length, done, error);
  if (status == CM_OK && !*done && !is_rule(t))
    status = take_row(t, error);
  else if (status == CM_OK && !*done && !columns_above_rule(t, header, header_length))
    status = cm_table_bad(t, "the rule of dashes parts other columns than the line above names", error);
  cm_free(header);
  return status;
}

static cm_status read_first(cm_table *t, bool *done, cm_error *error)
{
  const char *line = NULL, *said = cm_source_option(t->source, CM_READ_COLUMNS);
  size_t length = 0;
  cm_columns columns;
  if (said != NULL && cm_columns_of_option(said, &t->columns, error) != CM_OK)
    return error->status;
  t->named = said != NULL;
  if (next_row(t, &line, &length, done, error) != CM_OK || *done)
    return *done ? CM_OK : error->status;
  if (said == NULL && cm_columns_of_header(t->fields, t->field_count, &columns)) {
    t->columns = columns;
    t->named = true;
    return read_below_header(t, line, length, done, error);
  }
  if (t->named)
    return looks_like_header(t) ? CM_OK : take_row(t, error);
  if (t->tuples || t->field_count < 3)
    return take_row(t, error);
  char *copy;
  if (CM_NEW(t->memory, copy, length + 1, error) != CM_OK)
    return error->status;
  memcpy(copy, line, length);
  cm_status status = read_first_two(t, copy, length, done, error);
  cm_free(copy);
  return status;
}

static cm_status read_edges(cm_table *t, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  if (read_first(t, &end, error) != CM_OK)
    return error->status;
  while (!end) {
    if (next_row(t, &line, &length, &end, error) != CM_OK || (!end && take_row(t, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

cm_status cm_import_edges(cm_source *source, const cm_import_limits *limits, cm_run *run,
                          cm_topology **topology, cm_error *error)
{
  cm_table t = {.source = source, .limits = limits, .run = run, .memory = run->memory, .line = 0,
                .edges = {.memory = run->memory, .run = run, .limit = limits->pins_max}};
  cm_topology *made = NULL;
  t.edges.weight.drop_zeros = cm_source_drops_zeros(source);
  t.tuples = cm_is_tuple_list(source->at, (size_t)(source->end - source->at));
  t.line = t.tuples ? 1 : 0;
  cm_status status = cm_names_open(&t.names, run->memory, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, made, 1, error);
  if (status == CM_OK)
    status = read_edges(&t, error);
  if (status == CM_OK)
    status = cm_table_close(&t, made, error);
  if (status == CM_OK && t.rate != NULL)
    status = cm_topology_set_rates(made, t.rate, run, error);
  cm_names_close(&t.names);
  cm_free(t.rate);
  cm_free(t.unquoted);
  cm_free(t.fields);
  cm_entries_free(&t.edges);
  if (status != CM_OK) {
    cm_topology_free(made);
    return status;
  }
  *topology = made;
  return CM_OK;
}
