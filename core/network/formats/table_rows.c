/* Rows of a table of edges: names and numbers of its fields, and the edge and rate that they give. */
#include "core/network/formats/table_rows.h"

#include <math.h>
#include <stdio.h>

cm_status cm_table_name(cm_table *t, const cm_field *f, const char *what, uint32_t *number, cm_error *error)
{
  char text[120];
  if (f->length == 0 || !cm_name_valid(f->text, f->length)) {
    (void)snprintf(text, sizeof text, "the %s %s", what,
                   f->length == 0 ? "is empty" : "is not a name: control characters, or not UTF-8");
    return cm_table_bad(t, text, error);
  }
  uint64_t ignored;
  bool negative = f->text[0] == '-' && cm_field_id(f->text + 1, f->length - 1, &ignored) != CM_ID_NAME;
  if (negative || (t->separator == ' ' && !t->named && cm_field_id(f->text, f->length, &ignored) == CM_ID_NAME)) {
    (void)snprintf(text, sizeof text, "the %s '%.*s' %s", what, cm_field_shown(f), f->text,
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
  (void)snprintf(text, sizeof text, "%s '%.*s' is not a finite number", what, cm_field_shown(f), f->text);
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
    (void)snprintf(text, sizeof text, "the rate '%.*s' is negative", cm_field_shown(f), f->text);
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

/* Columns of a table that does not name them: two or three, or the four of a PyNN list. */
static bool columns_by_number(cm_table *t)
{
  size_t count = t->field_count;
  if (count < 2 || count > (t->tuples || t->connections ? 4 : 3))
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

cm_status cm_table_take_row(cm_table *t, cm_error *error)
{
  if (t->columns.count == 0 && !columns_by_number(t))
    return refuse_count(t, error);
  if (t->field_count != t->columns.count)
    return refuse_count(t, error);
  return drop_header(t, error) == CM_OK ? read_edge(t, error) : error->status;
}

cm_status cm_table_next_row(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error)
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
