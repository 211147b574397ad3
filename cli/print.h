/* All that commands print for people goes through here: names, messages and logs are text that others wrote, in a file or on a server,
 * and are shown so that they do nothing to a terminal (base/foreign.h). scripts/lint keeps it so. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* fprintf, of text that may have several lines. */
void cli_printf(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text of others and a line end, on standard output. */
void cli_puts(const char *text);

/* "coremap:", or "coremap COMMAND:", at the head of an error. */
void cli_print_head(const char *command);

/* JSON and a line end. 0, or -1 when memory ran out or the stream failed. */
int cli_write_json(const json_t *json, size_t flags, FILE *stream);

/* What `from` holds from its start on, as text. */
void cli_print_file(FILE *from, FILE *stream);

typedef enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE, CLI_DIM } cli_colour;

/* The escape that begins a colour on a stream, CLI_PLAIN ends it; "" where the stream is no terminal, TERM is dumb or
 * NO_COLOR is set (https://no-color.org). */
const char *cli_paint(FILE *stream, cli_colour colour);

/* The colour of a job's state. */
cli_colour cli_state_colour(const char *state);
