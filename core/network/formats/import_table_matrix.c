/* A dense matrix as text, row to column: N rows of N numbers, with or without an id for each column and row; nothing, 0 and nan are
 * no synapse. Rows of a list of lists as Python prints it too.
 *
 * Happy path: the survey says whether there are ids; rows follow each other. What can fail: rows of other lengths or in another
 * order, what is no number; each with its line. */
#include <stdio.h>
#include <strings.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/survey.h"
#include "core/network/formats/table_rows.h"

typedef struct matrix {
  cm_table table;
  bool ids;       /* the first field of each row is its id */
  bool names;     /* ids stand above the columns alone */
  bool own_ids;   /* which are not those of the columns: they name the neurons */
  uint32_t size;
} matrix;

static cm_status bad_shape(matrix *m, uint32_t row, bool end, cm_error *error)
{
  char text[200];
  if (end)
    (void)snprintf(text, sizeof text, "the table ends after %u rows; it has %u columns, and needs a row for each", row, m->size);
  else if (row >= m->size)
    (void)snprintf(text, sizeof text, "more rows follow than the %u columns: a matrix of neurons has as many of both", m->size);
  else
    (void)snprintf(text, sizeof text, "%zu fields; %s%u weights are expected", m->table.field_count, m->ids ? "an id and " : "", m->size);
  return cm_table_bad(&m->table, text, error);
}

/* The id of a row, which is that of the column of its number. */
static cm_status check_id(matrix *m, uint32_t row, cm_error *error)
{
  cm_table *t = &m->table;
  uint32_t number;
  CM_TRY(cm_table_name(t, &t->fields[0], "id", &number, error));
  if (number == row)
    return CM_OK;
  return cm_table_bad(t, cm_say("row %u has the id '%.*s'; rows must be in the order of the columns, one for each", row + 1,
                                cm_field_shown(&t->fields[0]), t->fields[0].text).text, error);
}

static void report(cm_table *t, uint32_t row, uint32_t column, double weight)
{
  cm_reading_row *first = cm_reading_next(&t->source->reading);
  if (first == NULL)
    return;
  (void)snprintf(first->source, sizeof first->source, "row %u", row + 1);
  (void)snprintf(first->target, sizeof first->target, "column %u", column + 1);
  first->weight = weight;
  first->delay_ms = -1;
}

static cm_status read_row(matrix *m, uint32_t row, cm_error *error)
{
  cm_table *t = &m->table;
  if (row >= m->size || t->field_count != m->size + (size_t)m->ids)
    return bad_shape(m, row, false, error);
  CM_TRY_IF(m->ids, check_id(m, row, error));
  for (uint32_t i = 0; i < m->size; i++) {
    const cm_field *f = &t->fields[i + m->ids];
    double weight = 0;
    if (f->length == 0 || (f->length == 3 && strncasecmp(f->text, "nan", 3) == 0))
      continue;
    CM_TRY(cm_table_number(t, f, "weight", &weight, error));
    if (weight == 0)
      continue;
    report(t, row, i, weight);
    CM_TRY(cm_entries_add(&t->edges, row, i, weight, -1, error));
  }
  return CM_OK;
}

/* The ids above the columns. */
static cm_status read_ids(matrix *m, bool corner, cm_error *error)
{
  cm_table *t = &m->table;
  uint32_t number;
  m->ids = true;
  m->size = (uint32_t)(t->field_count - corner);
  for (size_t i = corner; i < t->field_count && !m->own_ids; i++) {
    CM_TRY(cm_table_name(t, &t->fields[i], "id", &number, error));
    if (number == i - corner)
      continue;
    return cm_table_bad(t, cm_say("the id '%.*s' stands above two columns", cm_field_shown(&t->fields[i]), t->fields[i].text).text, error);
  }
  t->source->reading.header = true;
  return CM_OK;
}

static cm_status read_rows(matrix *m, const cm_survey *survey, cm_error *error)
{
  const bool with_ids = !cm_survey_square(survey) && cm_survey_square_with_ids(survey), counted = cm_survey_square_below(survey);
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  m->own_ids = with_ids && !survey->corner && !survey->begins_alike;
  m->table.named = true; /* ids may be words */
  for (uint32_t row = 0, first = 1;; first = 0) {
    CM_TRY(cm_table_next_row(&m->table, &line, &length, &end, error));
    if (end)
      return row == m->size ? CM_OK : bad_shape(m, row, true, error);
    if (first && m->table.field_count > m->table.limits->vertices_max)
      return cm_over_limit("vertices", m->table.field_count, m->table.limits->vertices_max, error);
    if (first && with_ids) {
      CM_TRY(read_ids(m, survey->first_fields == survey->fields_min, error));
      continue;
    }
    if (first)
      m->size = (uint32_t)m->table.field_count;
    if (first && counted && !survey->counting) {
      CM_TRY(read_ids(m, false, error));
      m->ids = false;
      m->names = true;
    }
    if (first && counted)
      continue;
    CM_TRY(read_row(m, row++, error));
  }
}

static cm_status close_matrix(matrix *m, cm_topology *made, cm_error *error)
{
  made->directed = true;
  made->vertex_count = m->size;
  made->size_total = m->size;
  if (m->ids || m->names)
    cm_labels_take(made, &m->table.names);
  return cm_entries_close(&m->table.edges, made, error);
}

cm_status cm_import_table_matrix(const cm_reading_of *in, cm_error *error)
{
  cm_memory *memory = in->run->memory;
  matrix m = {.table = {.source = in->source, .limits = in->limits, .run = in->run, .memory = memory, .what = "matrix",
                        .edges = {.memory = memory, .run = in->run, .limit = in->limits->pins_max}}};
  cm_survey survey;
  cm_weights_as_asked(&m.table.edges.weight, in->source);
  cm_status status = cm_survey_read(in->source, memory, &survey, error);
  m.table.tuples = survey.tuples;
  CM_THEN(status, cm_names_open(&m.table.names, memory, error));
  CM_THEN(status, read_rows(&m, &survey, error));
  CM_THEN(status, close_matrix(&m, in->made, error));
  cm_table_free(&m.table);
  return status;
}
