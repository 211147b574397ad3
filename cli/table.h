/* What is printed for people: tables, and colours on a terminal. */
#ifndef CM_CLI_TABLE_H
#define CM_CLI_TABLE_H

#include <jansson.h>
#include <stdio.h>

typedef enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE, CLI_DIM } cli_colour;

/* The escape that begins a colour on a stream, CLI_PLAIN ends it; "" where the stream is no terminal, TERM is dumb or
 * NO_COLOR is set (https://no-color.org). */
const char *cli_paint(FILE *stream, cli_colour colour);

/* The colour of a job's state. */
cli_colour cli_state_colour(const char *state);

typedef struct cli_column {
  const char *title;
  const char *member; /* of a row: text, number or truth */
  unsigned cut;       /* texts are cut to so many characters; 0: as they are */
} cli_column;

/* Rows (an array of objects) under a line of titles, numbers to the right, columns as wide as they need. Members named
 * "state" have their colour. Nothing but `empty` when there is no row. */
void cli_print_table(const json_t *rows, const cli_column *columns, size_t count, const char *empty);

#endif
