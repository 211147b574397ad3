/* Happy path: rows are divided as the reader of tables does, and each field is looked at; it ends where the file does, or where a list
 * of edges is certain. */
#include "core/network/formats/survey.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/recognise.h"

/* Rows after which a table of few columns is a list. */
enum { ROWS_ENOUGH = 4096, LIST_FIELDS_MAX = 64, COLUMNS_SEEN = 64 };

typedef struct surveyor {
  cm_survey *s;
  cm_table table;
  char *first;            /* the first line */
  size_t first_length;
  bool columns_of_numbers[COLUMNS_SEEN]; /* in all rows but the first */
  bool words_above[COLUMNS_SEEN];        /* in the first: "--3" is none */
  char second_id[256], third_id[64]; /* the first fields of these rows, "" where they are longer */
  size_t second_fields;
  cm_names seen;          /* fields among the first two of the first rows */
} surveyor;

/* A number, or what stands for none; decimal commas too. */
static bool is_number(const cm_field *f)
{
  double ignored;
  char text[64];
  if (f->length == 0 || f->length >= sizeof text)
    return false;
  for (size_t i = 0; i < f->length; i++)
    text[i] = f->text[i] == ',' ? '.' : f->text[i];
  const cm_field plain = {text, f->length};
  return cm_field_number(&plain, &ignored);
}

static bool is_id(const cm_field *f)
{
  uint64_t ignored;
  return cm_field_id(f->text, f->length, &ignored) <= CM_ID_FLOAT;
}

static bool is_fraction(const cm_field *f)
{
  double value;
  return cm_field_number(f, &value) && isfinite(value) && fabs(value - trunc(value)) > 0;
}

static bool is_digit(const cm_field *f, char digit)
{
  double value;
  return cm_field_number(f, &value) && value == digit - '0';
}

static bool same(const cm_field *a, const cm_field *b)
{
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* "9000 9000 ...": no edge of a neuron to itself, as in a file of a few rows. */
static bool is_size_line(const cm_table *t)
{
  enum { FAR_LEAST = 1000 };
  uint64_t rows, columns;
  return t->field_count > 1 && cm_field_whole(t->fields[0].text, t->fields[0].length, &rows) &&
         cm_field_whole(t->fields[1].text, t->fields[1].length, &columns) && rows == columns && rows > FAR_LEAST;
}

static void see_first(surveyor *v)
{
  cm_columns ignored;
  const cm_table *t = &v->table;
  cm_survey *s = v->s;
  s->first_fields = t->field_count;
  s->separator = t->separator;
  s->named = t->named;
  s->first_numbers = s->first_words = s->numbers = s->row_numbers = s->ids = s->zero_diagonal = s->weighted = true;
  s->size_line = is_size_line(t);
  s->words = cm_columns_of_header(t->fields, t->field_count, s->first_fields > 2, &ignored);
  for (size_t i = 0; i < t->field_count; i++) {
    const bool number = is_number(&t->fields[i]);
    s->first_numbers = s->first_numbers && number;
    s->first_words = s->first_words && !number;
    uint64_t value;
    s->counting = (i == 0 || s->counting) && cm_field_whole(t->fields[i].text, t->fields[i].length, &value) && value == i;
    if (i < COLUMNS_SEEN)
      v->words_above[i] = t->fields[i].length > 0 && strchr("-+.0123456789", t->fields[i].text[0]) == NULL;
  }
}

/* Whether a table of three rows of three is one of two neurons with their ids: "id,A,B". */
static bool is_pair_of_ids(const surveyor *v, const cm_field *first, const cm_field *second)
{
  const cm_field third = {v->third_id, strlen(v->third_id)};
  return v->s->rows == 3 && v->s->first_fields == 3 && v->s->fields_max == 3 && v->s->row_numbers && same(second, &first[1]) && same(&third, &first[2]);
}

/* The second row beside the first, whose ids it may have. */
static cm_status see_second(surveyor *v, cm_error *error)
{
  cm_table *t = &v->table;
  const cm_field second = {v->second_id, strlen(v->second_id)};
  const size_t fields = v->second_fields;
  CM_TRY(cm_table_split(t, v->first, v->first_length, error));
  const bool corner = t->fields[0].length == 0 || !is_number(&t->fields[0]);
  v->s->corner = corner && second.length > 0 && fields == t->field_count && fields > 1 && same(&second, &t->fields[1]) &&
                 (fields > 3 || t->fields[0].length == 0 || is_pair_of_ids(v, t->fields, &second));
  v->s->begins_alike = fields == t->field_count + 1 && t->field_count > 1 && same(&second, &t->fields[0]);
  v->s->other_ids = corner || fields == t->field_count + 1;
  for (size_t i = 0; i < t->field_count; i++)
    v->s->other_ids = v->s->other_ids && !same(&second, &t->fields[i]);
  return CM_OK;
}

static cm_status see_names(surveyor *v, cm_error *error)
{
  cm_table *t = &v->table;
  uint32_t number;
  for (size_t i = 0; i < 2 && i < t->field_count && v->s->rows <= COLUMNS_SEEN && t->fields[i].length > 0; i++) {
    const uint32_t before = v->seen.count;
    CM_TRY(cm_names_number(&v->seen, t->fields[i].text, t->fields[i].length, CM_VERTICES_MAX, &number, error));
    v->s->repeats = v->s->repeats || v->seen.count == before;
  }
  return CM_OK;
}

static void keep_id(char *to, size_t room, const cm_field *f)
{
  const size_t length = f->length < room ? f->length : 0;
  memcpy(to, f->text, length);
  to[length] = '\0';
}

static cm_status see_row(surveyor *v, cm_error *error)
{
  const cm_table *t = &v->table;
  cm_survey *s = v->s;
  const uint64_t row = s->rows++;
  s->braces = (row == 0 || s->braces) && t->dictionary.length > 0;
  CM_TRY(see_names(v, error));
  for (size_t i = 0; i < 2; i++) {
    s->ids = s->ids && i < t->field_count && ((row == 0 && s->first_words) || is_id(&t->fields[i]));
    s->fractions = s->fractions || (i < t->field_count && is_fraction(&t->fields[i]));
  }
  s->weighted = s->weighted && t->field_count == 3 && !is_id(&t->fields[2]);
  s->thirds = (row == 0 || s->thirds) && t->field_count > 2 && is_number(&t->fields[2]);
  s->zero_diagonal = s->zero_diagonal && (row >= t->field_count || is_digit(&t->fields[row], '0'));
  s->ones_beside = (row == 0 || s->ones_beside) && t->field_count == 2 && row < 2 && is_digit(&t->fields[row], '0') &&
                   is_digit(&t->fields[1 - row], '1');
  if (row == 0)
    return CM_OK;
  s->fields += t->field_count;
  s->fields_min = row == 1 || t->field_count < s->fields_min ? t->field_count : s->fields_min;
  s->fields_max = t->field_count > s->fields_max ? t->field_count : s->fields_max;
  for (size_t i = 0; i < t->field_count; i++) {
    const bool number = t->fields[i].length == 0 || is_number(&t->fields[i]);
    s->numbers = s->numbers && number;
    s->row_numbers = s->row_numbers && (number || i == 0);
    if (i < COLUMNS_SEEN && (row == 1 || !number))
      v->columns_of_numbers[i] = number && t->fields[i].length > 0;
  }
  if (row == 1)
    v->second_fields = t->field_count;
  if (row == 1)
    keep_id(v->second_id, sizeof v->second_id, &t->fields[0]);
  if (row == 2)
    keep_id(v->third_id, sizeof v->third_id, &t->fields[0]);
  return CM_OK;
}

/* A list for certain: its rows are alike, and too many for a matrix. */
static bool is_enough(const cm_survey *s)
{
  return s->rows >= ROWS_ENOUGH && s->first_fields <= LIST_FIELDS_MAX && s->fields_min == s->fields_max;
}

static cm_status see_rows(surveyor *v, cm_error *error)
{
  cm_table *t = &v->table;
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  while (!is_enough(v->s)) {
    CM_TRY(cm_table_next_row(t, &line, &length, &end, error));
    if (end)
      break;
    if (v->s->rows == 0) {
      CM_TRY(CM_NEW(t->memory, v->first, length + 1, error));
      memcpy(v->first, line, length);
      v->first_length = length;
      see_first(v);
    }
    CM_TRY(see_row(v, error));
  }
  v->s->whole = end;
  return v->s->rows > 1 ? see_second(v, error) : CM_OK;
}

static void close_survey(surveyor *v)
{
  cm_survey *s = v->s;
  const size_t shift = s->words && s->fields_min == s->first_fields + 1 ? 1 : 0; /* names of rows, as R writes them */
  for (size_t i = 0; i < s->first_fields && i + shift < COLUMNS_SEEN; i++)
    s->header = s->header || (s->rows > 1 && s->fields_min == s->fields_max && s->first_fields + shift == s->fields_min && s->first_words && i + shift < s->fields_min && v->words_above[i] &&
                              v->columns_of_numbers[i + shift]);
  cm_names_close(&v->seen);
  cm_free(v->first);
  cm_table_free(&v->table);
}

cm_status cm_survey_read(cm_source *source, cm_memory *memory, cm_survey *survey, cm_error *error)
{
  cm_error wrong;
  const uint8_t *at = source->at;
  const uint64_t produced = source->plain_bytes;
  *survey = (cm_survey){0};
  surveyor v = {.s = survey, .table = {.source = source, .memory = memory}};
  v.table.tuples = survey->tuples = cm_is_tuple_list(at, (size_t)(source->end - at));
  if (survey->tuples) {
    const uint8_t *bracket = memchr(at, '[', (size_t)(source->end - at));
    do
      bracket++;
    while (isspace(*bracket));
    survey->lists = *bracket == '[';
  }
  cm_status status = cm_names_open(&v.seen, memory, &wrong);
  CM_THEN(status, see_rows(&v, &wrong));
  close_survey(&v);
  if (status != CM_OK && status != CM_BAD_NETWORK) { /* what cannot be divided, its reader names */
    *error = wrong;
    return status;
  }
  if (source->plain_bytes == produced) {
    source->at = at;
    return CM_OK;
  }
  CM_TRY(cm_source_rewind(source, error));
  cm_skip_byte_order_mark(source);
  return CM_OK;
}

bool cm_survey_square(const cm_survey *s)
{
  return s->whole && s->rows > 1 && s->rows == s->first_fields && s->fields_min == s->rows && s->fields_max == s->rows &&
         s->first_numbers && s->numbers;
}

bool cm_survey_square_below(const cm_survey *s)
{
  return s->whole && (s->counting || (s->header && !s->words)) && s->first_fields > 1 && s->rows == s->first_fields + 1 && s->fields_min == s->first_fields &&
         s->fields_max == s->first_fields && s->numbers;
}

bool cm_survey_square_with_ids(const cm_survey *s)
{
  if (s->corner || s->begins_alike)
    return true;
  const uint64_t columns = s->fields_min - (s->fields_min > 0);
  return s->whole && s->other_ids && s->row_numbers && s->rows > 2 && s->rows - 1 == columns && s->fields_max == s->fields_min &&
         (s->first_fields == columns || s->first_fields == columns + 1);
}
