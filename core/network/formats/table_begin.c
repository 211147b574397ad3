/* How a table of edges begins: with a header, a rule of dashes below one, or with the first edge. */
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/formats/survey.h"
#include "core/network/formats/table.h"
#include "core/network/formats/table_rows.h"

/* Whether a first row without known words is a header all the same: of words above numbers, or, where the caller names the columns,
 * its weight or delay is no number. */
static bool looks_like_header(const cm_table *t, const cm_survey *survey)
{
  double ignored;
  if (!t->named)
    return survey->header;
  for (int id = CM_COLUMN_WEIGHT; id < CM_COLUMNS; id++)
    if (t->columns.at[id] >= 0 && (size_t)t->columns.at[id] < t->field_count &&
        !cm_field_number(&t->fields[t->columns.at[id]], &ignored))
      return true;
  return false;
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
      !cm_columns_of_header(t->fields, t->field_count, true, &columns))
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
  CM_TRY(CM_NEW(t->memory, header, length + 1, error));
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

/* What is read of the columns that a header names, and what is not. */
static void report(cm_table *t)
{
  static const char *const names[CM_COLUMNS] = {"source", "target", "weight", "delay"};
  cm_reading *reading = &t->source->reading;
  reading->header = true;
  for (size_t i = 0; i < t->field_count; i++) {
    const char *role = t->columns.rate == i + 1 ? "rate" : t->columns.type == i + 1 ? "type" : NULL;
    for (int id = 0; id < CM_COLUMNS; id++)
      role = t->columns.at[id] == (int)i ? names[id] : role;
    cm_reading_add(reading->columns, role != NULL ? role : "-", strlen(role != NULL ? role : "-"));
    if (role == NULL && t->fields[i].length > 0)
      cm_reading_add(reading->ignored, t->fields[i].text, t->fields[i].length);
  }
}

/* R writes the name of each row before it, and none of its column. */
static void pass_row_names(cm_table *t, const cm_survey *survey)
{
  if (survey->fields_min != t->field_count + 1 || survey->fields_max != survey->fields_min || t->columns.count != t->field_count)
    return;
  for (int id = 0; id < CM_COLUMNS; id++)
    t->columns.at[id] += t->columns.at[id] >= 0;
  t->columns.rate += t->columns.rate > 0;
  t->columns.type += t->columns.type > 0;
  t->columns.count++;
}

static cm_status begin_below_header(cm_table *t, const cm_survey *survey, const char *line, size_t length, bool *done, cm_error *error)
{
  t->named = true;
  report(t);
  pass_row_names(t, survey);
  return read_below_header(t, line, length, done, error);
}

cm_status cm_table_read_first(cm_table *t, const cm_survey *survey, bool *done, cm_error *error)
{
  const char *line = NULL, *said = cm_source_option(t->source, CM_READ_COLUMNS);
  size_t length = 0;
  cm_columns columns;
  CM_TRY_IF(said != NULL, cm_columns_of_option(said, &t->columns, error));
  t->named = said != NULL;
  t->lines_alike = (survey->repeats || survey->thirds) && survey->fields_min == survey->fields_max && survey->fields_min == survey->first_fields;
  if (cm_table_next_row(t, &line, &length, done, error) != CM_OK || *done)
    return *done ? CM_OK : error->status;
  if (said == NULL && cm_columns_of_header(t->fields, t->field_count, survey->header, &columns)) {
    t->columns = columns;
    return begin_below_header(t, survey, line, length, done, error);
  }
  if (!looks_like_header(t, survey))
    return cm_table_take_row(t, error);
  for (size_t i = 0; said == NULL && i < 2 && i < t->field_count; i++)
    if (cm_column_word(t->fields[i].text, t->fields[i].length, CM_COLUMN_WEIGHT) >= 0 || cm_column_word(t->fields[i].text, t->fields[i].length, CM_COLUMN_DELAY) >= 0)
      return cm_table_bad(t, "the header names no source and target, and a weight or delay where they would stand; say what columns are: columns=weight,source,target", error);
  t->source->reading.header = true;
  return CM_OK;
}
