/* Numbers on lines: what the readers of METIS graphs, hypergraphs and matrices share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/tokens.h"

enum { NUMBER_BYTES_MAX = 64, SHOWN_MAX = 40 };

cm_status cm_tokens_bad(const cm_tokens *t, uint64_t line, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "%s, line %llu: %s", t->format, (unsigned long long)line, what);
  return cm_fail_at(error, "line %llu", (unsigned long long)line);
}

cm_status cm_tokens_peek(cm_tokens *t, int *c, cm_error *error)
{
  cm_source *source = t->source;
  if (source->at == source->end) {
    CM_TRY_IF(!source->ended, cm_source_fill(source, error));
    if (source->at == source->end) {
      *c = -1;
      return CM_OK;
    }
  }
  *c = *source->at;
  return CM_OK;
}

static cm_status not_a_number(cm_tokens *t, const char *what, const char *expected, cm_error *error)
{
  char token[SHOWN_MAX + 1];
  size_t used = 0;
  for (const uint8_t *p = t->source->at; p < t->source->end && used < SHOWN_MAX && *p > ' '; p++)
    token[used++] = (char)*p;
  token[used] = '\0';
  return cm_tokens_bad(t, t->line, cm_say("%s is '%s'; %s is expected", what, token, expected).text, error);
}

/* Goes to the next number; *found is false at the end of the line. Afterwards a whole number lies in the window, so
 * that a message can show it. */
static cm_status seek_number(cm_tokens *t, bool *found, cm_error *error)
{
  cm_source *source = t->source;
  int c = -1;
  for (;;) {
    CM_TRY(cm_tokens_peek(t, &c, error));
    if (c != ' ' && c != '\t' && c != '\r')
      break;
    source->at++;
  }
  *found = c != -1 && c != '\n';
  CM_TRY_IF(*found && source->end - source->at < NUMBER_BYTES_MAX, cm_source_fill(source, error));
  return CM_OK;
}

cm_status cm_tokens_number(cm_tokens *t, const char *what, bool *found, uint64_t *value, cm_error *error)
{
  static const char expected[] = "a whole number of at least 0";
  CM_TRY(seek_number(t, found, error));
  if (!*found)
    return CM_OK;
  cm_source *source = t->source;
  const uint8_t *p = source->at, *end = source->end;
  uint64_t number = 0;
  for (; p < end && *p >= '0' && *p <= '9'; p++) {
    if (number > (UINT64_MAX - 9) / 10)
      return not_a_number(t, what, expected, error);
    number = number * 10 + (uint64_t)(*p - '0');
  }
  if (p == source->at || (p < end ? *p > ' ' : !source->ended))
    return not_a_number(t, what, expected, error);
  source->at = p;
  *value = number;
  return CM_OK;
}

cm_status cm_tokens_real(cm_tokens *t, const char *what, bool *found, double *value, cm_error *error)
{
  static const char expected[] = "a finite number";
  CM_TRY(seek_number(t, found, error));
  if (!*found)
    return CM_OK;
  char text[NUMBER_BYTES_MAX], *end;
  size_t used = 0;
  const uint8_t *p = t->source->at;
  for (; p < t->source->end && *p > ' ' && used < sizeof text - 1; p++)
    text[used++] = (char)*p;
  text[used] = '\0';
  double number = strtod(text, &end);
  if (used == 0 || *end != '\0' || (p < t->source->end && *p > ' ') || !isfinite(number))
    return not_a_number(t, what, expected, error);
  t->source->at = p;
  *value = number;
  return CM_OK;
}

void cm_tokens_end_line(cm_tokens *t)
{
  if (t->source->at < t->source->end) {
    t->source->at++;
    t->line++;
  }
}

cm_status cm_tokens_line(cm_tokens *t, char *text, size_t size, cm_error *error)
{
  size_t used = 0;
  int c = -1;
  for (;;) {
    CM_TRY(cm_tokens_peek(t, &c, error));
    if (c == -1 || c == '\n')
      break;
    if (used + 1 < size)
      text[used++] = (char)c;
    t->source->at++;
  }
  text[used] = '\0';
  cm_tokens_end_line(t);
  return CM_OK;
}

cm_status cm_tokens_skip_blanks(cm_tokens *t, cm_error *error)
{
  for (int c = -1;;) {
    CM_TRY(cm_tokens_peek(t, &c, error));
    if (c == '\n')
      cm_tokens_end_line(t);
    else if (c == ' ' || c == '\t' || c == '\r')
      t->source->at++;
    else
      return CM_OK;
  }
}

cm_status cm_tokens_next_line(cm_tokens *t, uint64_t *scale, bool *end, cm_error *error)
{
  for (int c = '%'; c == '%';) {
    if (cm_tokens_skip_blanks(t, error) != CM_OK || cm_tokens_peek(t, &c, error) != CM_OK ||
        (c == '%' && cm_tokens_skip_comment(t, scale, error) != CM_OK))
      return error->status;
    *end = c == -1;
  }
  return CM_OK;
}

cm_status cm_tokens_skip_comment(cm_tokens *t, uint64_t *scale, cm_error *error)
{
  char text[64];
  CM_TRY(cm_tokens_line(t, text, sizeof text, error));
  /* Our own exports say so when their integers stand for fractions. */
  static const char own[] = "% weight_scale ";
  if (strncmp(text, own, sizeof own - 1) == 0) {
    uint64_t value = strtoull(text + sizeof own - 1, NULL, 10);
    if (value > 0 && value <= CM_WEIGHT_SCALE_MAX && (value & (value - 1)) == 0)
      *scale = value;
  }
  t->undirected = t->undirected || strcmp(text, CM_COMMENT_UNDIRECTED) == 0;
  return CM_OK;
}
