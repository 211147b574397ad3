/* The shape of a text of rows and fields, looked at as a whole before it is read: what candidates for its format judge by. */
#pragma once

#include "core/network/formats/source.h"

typedef struct cm_survey {
  uint64_t rows;         /* lines that are neither blank nor comments; what follows is of these */
  uint64_t fields;       /* of all rows but the first */
  size_t first_fields, fields_min, fields_max; /* of the first row; of the others */
  bool whole;            /* it was read to its end: a list of edges that goes on and on is not */
  bool first_numbers;    /* every field of the first row is a number */
  bool first_words;      /* none is */
  bool numbers;          /* every field of the other rows is a number or empty ("nan" is one) */
  bool row_numbers;      /* the same but for their first field */
  bool ids;              /* the first two fields of every row, but for a first row of words, could be ids: whole numbers of at least 0 */
  bool fractions;        /* one of the first two fields of a row is a number that is not whole */
  bool weighted;         /* the third and last field of every row is no id: a fraction, or below 0 */
  bool size_line;        /* the first row begins with the same large number twice, as the size of a matrix does */
  bool words;            /* the first row names a source and a target */
  bool zero_diagonal;    /* field i of row i is 0, as far as there are fields */
  bool ones_beside;      /* two rows of two: 0 and 1, 1 and 0 */
  bool header;           /* the first row has words only, of which one stands where all other rows have numbers */
  bool corner;           /* the first field of the first row is empty or a word, and the second is the id of the second row */
  bool counting;         /* the first row is 0, 1, 2, ...: the columns of pandas, without names of rows */
  bool thirds;           /* the third field of every row is a number */
  bool begins_alike;     /* the first field of the first row is the id of the second row */
  bool other_ids;        /* the id of the second row is none of the first row's fields */
  bool braces;           /* a dictionary of Python ends every row, as NetworkX writes it */
  bool repeats;          /* a field stands among the first two of a row and again in another of the first rows */
  bool named;            /* a comment of PyNN names the columns */
  bool tuples;           /* rows are lists in brackets, as Python prints them; `lists`: square ones */
  bool lists;
  char separator;
} cm_survey;

/* Looks at a source from where it stands, and leaves it there. */
cm_status cm_survey_read(cm_source *source, cm_memory *memory, cm_survey *survey, cm_error *error);

/* Whether it is a square of numbers without ids: as many rows as each has fields. */
bool cm_survey_square(const cm_survey *survey);

/* Whether it is such a square below a row that counts its columns, or gives each a name (header). */
bool cm_survey_square_below(const cm_survey *survey);

/* Whether it is a square of numbers with an id for each column, of which the first row begins with an empty corner or a word (or
 * has none). */
bool cm_survey_square_with_ids(const cm_survey *survey);
