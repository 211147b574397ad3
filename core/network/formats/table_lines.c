/* Lines of a table and their fields: separated by tabs, commas, semicolons or blanks, quoted or not. A line mostly lies in the window of
 * the source; the row of a large matrix does not, and is gathered. What can fail: lines that are too long, quotes that stay open. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/formats/table_rows.h"
#include "core/network/recognise.h"

cm_status cm_table_bad(const cm_table *t, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "%s, line %llu: %s", t->what != NULL ? t->what : "edge list", (unsigned long long)t->line, what);
  return cm_fail_at(error, "line %llu", (unsigned long long)t->line);
}

/* Bytes of a line at most: the row of a matrix that no memory would hold. */
enum { LINE_BYTES_MAX = 1 << 26 };

/* Where the row ends: at a line feed, of a list of Python at a bracket; NULL: not here. */
static const uint8_t *find_end(const cm_table *t, const uint8_t *at, size_t size)
{
  if (!t->tuples)
    return memchr(at, '\n', size);
  for (const uint8_t *end = at + size; at < end; at++)
    if (*at == ')' || *at == ']')
      return at;
  return NULL;
}

/* A row that is longer than the window. */
static cm_status gather_row(cm_table *t, const char **line, size_t *length, cm_error *error)
{
  cm_source *source = t->source;
  for (*length = 0;;) {
    const size_t left = (size_t)(source->end - source->at);
    const uint8_t *close = find_end(t, source->at, left);
    const size_t part = close != NULL ? (size_t)(close - source->at) : left;
    if (*length + part > LINE_BYTES_MAX)
      return cm_table_bad(t, cm_say("it is longer than %d bytes; a line must hold a row of a table", LINE_BYTES_MAX).text, error);
    CM_TRY(CM_ROOM(t->memory, t->gathered, &t->gathered_room, *length + part + 1, error));
    memcpy(t->gathered + *length, source->at, part);
    *line = t->gathered;
    *length += part;
    source->at += part + (close != NULL);
    if (close != NULL || source->ended)
      return close == NULL && t->tuples ? cm_table_bad(t, "a bracket is not closed", error) : CM_OK;
    CM_TRY(cm_source_fill(source, error));
  }
}

/* The bytes up to the row's end, which is passed. */
static cm_status take_row(cm_table *t, const char **line, size_t *length, cm_error *error)
{
  cm_source *source = t->source;
  const uint8_t *close = find_end(t, source->at, (size_t)(source->end - source->at));
  if (close == NULL && !source->ended) {
    CM_TRY(cm_source_fill(source, error));
    close = find_end(t, source->at, (size_t)(source->end - source->at));
  }
  if (close == NULL)
    return gather_row(t, line, length, error);
  *line = (const char *)source->at;
  *length = (size_t)(close - source->at);
  source->at = close + 1;
  return CM_OK;
}

/* What stands between the next brackets, as a line. */
static cm_status next_tuple(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error)
{
  cm_source *source = t->source;
  for (;; source->at++) {
    CM_TRY_IF(source->at == source->end && !source->ended, cm_source_fill(source, error));
    *end = source->at == source->end;
    if (*end)
      return CM_OK;
    t->line += *source->at == '\n';
    if (strchr(" \t\r\n,[]()", *source->at) == NULL || *source->at == '\0')
      return take_row(t, line, length, error);
  }
}

cm_status cm_table_next_line(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error)
{
  cm_source *source = t->source;
  if (t->tuples)
    return next_tuple(t, line, length, end, error);
  t->line++;
  CM_TRY_IF(source->at == source->end && !source->ended, cm_source_fill(source, error));
  *end = source->at == source->end;
  CM_TRY(take_row(t, line, length, error));
  if (*length > 0 && (*line)[*length - 1] == '\r')
    --*length;
  return CM_OK;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Whether a comma parts no columns but the digits of a number: "0,5". */
static bool is_decimal(const char *line, size_t length, size_t comma)
{
  return comma > 0 && comma + 1 < length && isdigit((unsigned char)line[comma - 1]) && isdigit((unsigned char)line[comma + 1]);
}

/* A tab before a comma before a semicolon, outside quotes; but commas inside numbers part nothing where semicolons do, or where two
 * blanks do before the first of them. */
static char separator_of(const char *line, size_t length)
{
  bool comma = false, decimal = false, semicolon = false, quoted = false;
  size_t blanks = 0;
  for (size_t i = 0; i < length; i++) {
    if (line[i] == '"')
      quoted = !quoted;
    if (quoted)
      continue;
    if (line[i] == '\t')
      return '\t';
    const bool inside = line[i] == ',' && is_decimal(line, length, i);
    decimal = decimal || inside;
    comma = comma || (line[i] == ',' && !inside);
    semicolon = semicolon || line[i] == ';';
    blanks += !decimal && !comma && line[i] == ' ' && i > 0 && line[i - 1] != ' ';
  }
  if (comma || (decimal && !semicolon && blanks < 2))
    return ',';
  return semicolon ? ';' : ' ';
}

/* Reads a quoted field that starts at line[*at]; the text goes to t->unquoted from *used on. */
static cm_status unquote(cm_table *t, const char *line, size_t length, size_t *at, size_t *used, cm_field *to, cm_error *error)
{
  char *begin = t->unquoted + *used;
  for (size_t i = *at + 1; i < length; i++) {
    if (line[i] != '"') {
      t->unquoted[(*used)++] = line[i];
    } else if (i + 1 < length && line[i + 1] == '"') {
      t->unquoted[(*used)++] = line[i++];
    } else {
      *at = i + 1;
      *to = (cm_field){begin, (size_t)(t->unquoted + *used - begin)};
      return CM_OK;
    }
  }
  return cm_table_bad(t, "a quote is not closed", error);
}

cm_status cm_table_split(cm_table *t, const char *line, size_t length, cm_error *error)
{
  CM_TRY(CM_ROOM(t->memory, t->unquoted, &t->unquoted_room, length, error));
  size_t at = 0, used = 0, count = 0;
  for (;; at++) { /* over the separator */
    cm_field found;
    while (at < length && is_blank(line[at]) && line[at] != t->separator)
      at++;
    if (t->separator == ' ')
      while (at < length && is_blank(line[at]))
        at++;
    if (t->separator == ' ' && at == length)
      break;
    if (at < length && line[at] == '"') {
      CM_TRY(unquote(t, line, length, &at, &used, &found, error));
      while (at < length && is_blank(line[at]) && line[at] != t->separator)
        at++;
      if (at < length && line[at] != t->separator && !(t->separator == ' ' && is_blank(line[at])))
        return cm_table_bad(t, "text follows a closing quote", error);
    } else {
      size_t begin = at;
      while (at < length && line[at] != t->separator && !(t->separator == ' ' && is_blank(line[at])))
        at++;
      size_t stop = at;
      while (stop > begin && is_blank(line[stop - 1]))
        stop--;
      found = (cm_field){line + begin, stop - begin};
    }
    CM_TRY(CM_ROOM(t->memory, t->fields, &t->fields_room, count + 1, error));
    t->fields[count++] = found;
    if (at >= length)
      break;
  }
  t->field_count = count;
  return CM_OK;
}

void cm_table_find_separator(cm_table *t, const char *line, size_t length)
{
  t->separator = t->tuples ? ',' : separator_of(line, length);
}

bool cm_is_tuple_list(const uint8_t *bytes, size_t size)
{
  size_t brackets = 0;
  for (size_t i = 0; i < size && brackets < 2; i++) {
    if (bytes[i] == '[' || (brackets == 1 && bytes[i] == '('))
      brackets++;
    else if (bytes[i] != ' ' && (bytes[i] < '\t' || bytes[i] > '\r'))
      return false;
  }
  return brackets == 2;
}
