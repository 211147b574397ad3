/* Numbers on lines of text. */
#pragma once

#include "core/network/formats/source.h"

/* What our exports of a graph as a matrix say below their banner: a matrix alone is a directed network. */
#define CM_COMMENT_UNDIRECTED "% directed no"

typedef struct cm_tokens {
  cm_source *source;
  const char *format; /* for messages: "METIS graph" */
  uint64_t line;      /* under the cursor, from 1 */
  bool undirected;    /* a comment of our own exports says that the matrix is a graph */
} cm_tokens;

/* CM_BAD_NETWORK with format and line. */
cm_status cm_tokens_bad(const cm_tokens *t, uint64_t line, const char *what, cm_error *error);

/* The next byte without taking it; -1 at the end. */
cm_status cm_tokens_peek(cm_tokens *t, int *c, cm_error *error);

/* The next number of the line; *found is false at the end of the line, which is not taken. The second reads any finite number. */
cm_status cm_tokens_number(cm_tokens *t, const char *what, bool *found, uint64_t *value, cm_error *error);
cm_status cm_tokens_real(cm_tokens *t, const char *what, bool *found, double *value, cm_error *error);

/* Takes the line feed that cm_tokens_number stopped at. */
void cm_tokens_end_line(cm_tokens *t);

/* Takes the rest of the line; its first size - 1 bytes go to `text`. */
cm_status cm_tokens_line(cm_tokens *t, char *text, size_t size, cm_error *error);

/* Goes over blanks and blank lines. */
cm_status cm_tokens_skip_blanks(cm_tokens *t, cm_error *error);

/* Takes a comment line; "% weight_scale N" of our own exports sets *scale, "% directed no" t->undirected. */
cm_status cm_tokens_skip_comment(cm_tokens *t, uint64_t *scale, cm_error *error);

/* Goes to the next line that is neither blank nor a comment (see cm_tokens_skip_comment); *end at the end of the file. */
cm_status cm_tokens_next_line(cm_tokens *t, uint64_t *scale, bool *end, cm_error *error);
