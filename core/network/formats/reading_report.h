/* What reading a file understood of it: told before a job, kept with the network. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CM_READING_ROWS = 5, CM_READING_NAME_MAX = 48, CM_READING_TEXT_MAX = 240 };

/* A synapse or edge; delay_ms below 0: none is known. */
typedef struct cm_reading_row {
  char source[CM_READING_NAME_MAX], target[CM_READING_NAME_MAX];
  double weight, delay_ms;
} cm_reading_row;

typedef struct cm_reading {
  char why[CM_READING_TEXT_MAX];     /* what told the format */
  char columns[CM_READING_TEXT_MAX]; /* of a table, which is what, in their order, a line each; "": it is none */
  char ignored[CM_READING_TEXT_MAX]; /* what was there and not read, a line each */
  bool header;                       /* the first row of a table names its columns */
  unsigned rows;
  cm_reading_row row[CM_READING_ROWS]; /* the first, as they stand in the file where it is a table */
} cm_reading;

/* Adds a line to a list, as far as there is room. */
void cm_reading_add(char list[CM_READING_TEXT_MAX], const char *text, size_t length);

/* Says what told the format. */
void cm_reading_why(cm_reading *reading, const char *why);

/* Keeps one of the first rows; NULL: more are not kept. */
cm_reading_row *cm_reading_next(cm_reading *reading);

/* A name, cut to what fits. */
void cm_reading_name(char to[CM_READING_NAME_MAX], const char *text, size_t length);

struct cm_topology;

/* The first rows of a file that is no table are those of the network. */
void cm_reading_rows(cm_reading *reading, const struct cm_topology *topology);
