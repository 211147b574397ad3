/* All that commands print for people goes through here: names, messages and logs are text that others wrote, in a file or on a server,
 * and are shown so that they do nothing to a terminal (base/foreign.h). scripts/lint keeps it so. */
#ifndef CM_CLI_PRINT_H
#define CM_CLI_PRINT_H

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

#endif
