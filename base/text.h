/* A text under construction. open_memstream would do, but that it does not say when memory ran out: a text then lacks its
 * middle or its end. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct cm_text {
  FILE *stream; /* write here */
  char *bytes;
  size_t size, room;
  bool failed;
} cm_text;

/* Opens an empty text in `text`, which must stay where it is until cm_text_close; false when out of memory. */
bool cm_text_open(cm_text *text);

/* The whole text, ended by NUL, which the caller frees with free(); NULL when memory ran out at any point. *size (NULL:
 * not wanted) is its length. */
char *cm_text_close(cm_text *text, size_t *size);

/* Whether bytes have no control characters but blanks, as text has none. O(size). */
bool cm_is_text(const void *bytes, size_t size);

/* Writes a cell of a table with commas (RFC 4180): in quotes when it holds a comma, a quote or a line's end; what a program for tables would
 * calculate as a formula stands as text, with an apostrophe before it. NULL: nothing. */
void cm_csv_cell(FILE *stream, const char *text);
