/* Tables for people. */
#pragma once

#include <jansson.h>

typedef struct cli_column {
  const char *title;
  const char *member; /* of a row: text, number or truth */
  unsigned cut;       /* texts are cut to so many characters; 0: as they are */
} cli_column;

/* Rows (an array of objects) under a line of titles, numbers to the right, columns as wide as they need. Members named
 * "state" have their colour. Nothing but `empty` when there is no row. */
void cli_print_table(const json_t *rows, const cli_column *columns, size_t count, const char *empty);
