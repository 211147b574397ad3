/* Rows of a table of edges: names and numbers of its fields, and the edge and rate that they give. */
#include "core/network/formats/table_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cm_status cm_table_name(cm_table *t, const cm_field *f, const char *what, uint32_t *number, cm_error *error)
{
  if (f->length == 0 || !cm_name_valid(f->text, f->length))
    return cm_table_bad(t, cm_say("the %s %s", what, f->length == 0 ? "is empty" : "is not a name: control characters, or not UTF-8").text, error);
  uint64_t ignored;
  bool negative = f->text[0] == '-' && cm_field_id(f->text + 1, f->length - 1, &ignored) != CM_ID_NAME;
  if (negative || (t->separator == ' ' && !t->named && !t->lines_alike && cm_field_id(f->text, f->length, &ignored) == CM_ID_NAME))
    return cm_table_bad(t, cm_say("the %s '%.*s' %s", what, cm_field_shown(f), f->text,
                                  negative ? "is negative; vertices are numbered from 0, or named (a matrix: format=matrix)" : "is no number; names "
                                          "need commas or tabs between the fields").text, error);
  return cm_names_number(&t->names, f->text, f->length, t->limits->vertices_max, number, error);
}

/* "0,5", as half of Europe writes it where commas part no columns. */
static bool decimal_comma(const cm_field *f, double *value)
{
  char text[64];
  const char *comma = memchr(f->text, ',', f->length);
  if (comma == NULL || f->length >= sizeof text)
    return false;
  memcpy(text, f->text, f->length);
  text[comma - f->text] = '.';
  const cm_field plain = {text, f->length};
  return cm_field_number(&plain, value) && isfinite(*value);
}

cm_status cm_table_number(const cm_table *t, const cm_field *f, const char *what, double *value, cm_error *error)
{
  if (cm_field_number(f, value) && isfinite(*value))
    return CM_OK;
  if (t->separator != ',' && decimal_comma(f, value))
    return CM_OK;
  return cm_table_bad(t, cm_say("%s '%.*s' is not a finite number", what, cm_field_shown(f), f->text).text, error);
}

/* The rate of a source, which is the same in all its rows. */
static cm_status read_rate(cm_table *t, uint32_t source, cm_error *error)
{
  double rate;
  const cm_field *f = &t->fields[t->columns.rate - 1];
  uint64_t before = t->rate_room;
  CM_TRY(cm_table_number(t, f, "rate", &rate, error));
  if (rate < 0)
    return cm_table_bad(t, cm_say("the rate '%.*s' is negative", cm_field_shown(f), f->text).text, error);
  CM_TRY(CM_ROOM(t->memory, t->rate, &t->rate_room, (uint64_t)t->names.count, error));
  for (uint64_t i = before; i < t->rate_room; i++)
    t->rate[i] = NAN;
  if (!isnan(t->rate[source]) && (t->rate[source] < rate || t->rate[source] > rate))
    return cm_table_bad(t, cm_say("the rate is %.15g, and an earlier line of this source says %.15g: a rate is that of the source's axon", rate,
                                  t->rate[source]).text, error);
  t->rate[source] = rate;
  return CM_OK;
}

/* Bytes before the first of `set`, or up to `end`. */
static size_t until(const char *at, const char *end, const char *set)
{
  size_t length = 0;
  while (at + length < end && (at[length] == '\0' || strchr(set, at[length]) == NULL))
    length++;
  return length;
}

/* Of a dictionary of Python, what edges have: {'weight': 0.5, 'delay': 1}. */
static cm_status read_dictionary(const cm_table *t, double *weight, double *delay_ms, cm_error *error)
{
  const char *at = t->dictionary.text, *end = at + t->dictionary.length;
  while ((at += until(at, end, "'\"")) < end) {
    const cm_field key = {at + 1, until(at + 1, end, "'\"")};
    at = key.text + key.length;
    at += at < end;
    while (at < end && (*at == ' ' || *at == ':'))
      at++;
    const cm_field value = {at, until(at, end, ",} ")};
    CM_TRY_IF(cm_column_word(key.text, key.length, CM_COLUMN_WEIGHT) >= 0, cm_table_number(t, &value, "weight", weight, error));
    CM_TRY_IF(cm_column_word(key.text, key.length, CM_COLUMN_DELAY) >= 0, cm_table_number(t, &value, "delay", delay_ms, error));
    if (at < end && (*at == '\'' || *at == '"')) { /* a text */
      at += 1 + until(at + 1, end, "'\"");
      at += at < end;
    }
  }
  return CM_OK;
}

static cm_status read_type(cm_table *t, cm_edge_type *type, cm_error *error)
{
  *type = CM_EDGE_DIRECTED;
  if (t->columns.type == 0)
    return CM_OK;
  const cm_field *f = &t->fields[t->columns.type - 1];
  *type = cm_edge_type_of(f);
  if (*type == CM_EDGE_TYPES && t->edges.count == 0) { /* of synapses, not of edges */
    t->columns.type = 0;
    *type = CM_EDGE_DIRECTED;
    cm_reading_add(t->source->reading.ignored, "type", strlen("type"));
    return CM_OK;
  }
  t->any_directed = t->any_directed || *type != CM_EDGE_UNDIRECTED;
  t->any_undirected = t->any_undirected || *type == CM_EDGE_UNDIRECTED;
  if (*type != CM_EDGE_TYPES)
    return CM_OK;
  return cm_table_bad(t, cm_say("the type '%.*s' is none of Directed, Undirected and Mutual, as earlier rows have it", cm_field_shown(f),
                                f->text).text, error);
}

/* The first rows as they are understood. */
static void report(cm_table *t, double weight, double delay_ms)
{
  const int *at = t->columns.at;
  cm_reading_row *row = cm_reading_next(&t->source->reading);
  if (row == NULL)
    return;
  cm_reading_name(row->source, t->fields[at[CM_COLUMN_SOURCE]].text, t->fields[at[CM_COLUMN_SOURCE]].length);
  cm_reading_name(row->target, t->fields[at[CM_COLUMN_TARGET]].text, t->fields[at[CM_COLUMN_TARGET]].length);
  row->weight = weight;
  row->delay_ms = delay_ms;
}

static cm_status read_edge(cm_table *t, cm_error *error)
{
  const int *at = t->columns.at;
  uint32_t from, to;
  double weight = 1, delay_ms = -1;
  cm_edge_type type;
  CM_TRY(cm_table_name(t, &t->fields[at[CM_COLUMN_SOURCE]], "source", &from, error));
  CM_TRY(cm_table_name(t, &t->fields[at[CM_COLUMN_TARGET]], "target", &to, error));
  CM_TRY_IF(at[CM_COLUMN_WEIGHT] >= 0, cm_table_number(t, &t->fields[at[CM_COLUMN_WEIGHT]], "weight", &weight, error));
  CM_TRY_IF(at[CM_COLUMN_DELAY] >= 0, cm_table_number(t, &t->fields[at[CM_COLUMN_DELAY]], "delay", &delay_ms, error));
  CM_TRY_IF(t->dictionary.length > 0, read_dictionary(t, &weight, &delay_ms, error));
  CM_TRY(read_type(t, &type, error));
  if (delay_ms < 0 && (at[CM_COLUMN_DELAY] >= 0 || delay_ms > -1 || delay_ms < -1))
    return cm_table_bad(t, "the delay is negative", error);
  CM_TRY_IF(t->columns.rate > 0, read_rate(t, from, error));
  if (t->edges.count == 0)
    t->head_line = from == to && t->separator == ' ' && !t->named && !t->tuples ? t->line : 0;
  else if (from == 0 || to == 0)
    t->head_line = 0;
  report(t, weight, delay_ms);
  CM_TRY(cm_entries_add(&t->edges, from, to, weight, delay_ms, error));
  return type != CM_EDGE_DIRECTED && from != to ? cm_entries_add(&t->edges, to, from, weight, delay_ms, error) : CM_OK;
}

/* Columns of a table that does not name them: two or three, or the four of a PyNN list. */
static bool columns_by_number(cm_table *t)
{
  size_t count = t->field_count;
  if (count < 2 || count > (t->tuples || t->connections ? 4 : 3))
    return false;
  t->columns = (cm_columns){.at = {0, 1, count > 2 ? 2 : CM_COLUMN_NONE, count > 3 ? 3 : CM_COLUMN_NONE}, .count = count};
  static const char *const said[] = {"source\ntarget", "source\ntarget\nweight", "source\ntarget\nweight\ndelay"};
  cm_reading_add(t->source->reading.columns, said[count - 2], strlen(said[count - 2]));
  return true;
}

static cm_status refuse_count(cm_table *t, cm_error *error)
{
  char expected[80];
  (void)snprintf(expected, sizeof expected, "%zu are expected, as in the first line", t->columns.count);
  return cm_table_bad(t, cm_say("%zu field%s; %s", t->field_count, t->field_count == 1 ? "" : "s",
                                t->columns.count == 2   ? "source,target is expected, as in the first line" : t->columns.count == 3
                                        ? "source,target,weight is expected, as in the first line" : t->columns.count > 3  ? expected
                                        : t->field_count > 3    ? "source,target or source,target,weight is expected, or a header that names source "
                                        "and target; or say what they are: columns=source,target,weight,delay" : "source,target or "
                                        "source,target,weight is expected").text, error);
}

cm_status cm_table_take_row(cm_table *t, cm_error *error)
{
  if (t->columns.count == 0 && !columns_by_number(t))
    return refuse_count(t, error);
  if (t->field_count != t->columns.count)
    return refuse_count(t, error);
  return read_edge(t, error);
}

/* Takes a dictionary off the end of a line: "a b {'weight': 2}", "a,b,{}". */
static void cut_dictionary(cm_table *t, const char *line, size_t *length)
{
  size_t end = *length;
  const char *begin = memchr(line, '{', end);
  t->dictionary = (cm_field){NULL, 0};
  while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t'))
    end--;
  if (begin == NULL || begin == line || line[end - 1] != '}' || strchr(" \t,;", begin[-1]) == NULL)
    return;
  t->dictionary = (cm_field){begin, end - (size_t)(begin - line)};
  *length = (size_t)(begin - 1 - line);
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
    cut_dictionary(t, *line, length);
    if (t->separator == 0)
      cm_table_find_separator(t, *line, *length);
    return cm_table_split(t, *line, *length, error);
  }
}

void cm_table_free(cm_table *t)
{
  cm_names_close(&t->names);
  CM_FREE(t->rate, t->unquoted, t->gathered, t->fields);
  cm_entries_free(&t->edges);
}
