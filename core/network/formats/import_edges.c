/* Edge lists: one directed edge a line, source,target[,weight], separated by tabs, commas, semicolons or
 * blanks; '#' and '%' start comment lines, the first line may be a header, fields may be quoted ("" is a quote).
 *
 * Happy path: names become numbers, edges go into plain arrays (8 bytes an edge, 16 with weights), which are
 * then grouped by source in place, each group sorted, repeats merged, weights made integers.
 * What can fail: a line with another number of fields, a weight that is no number, a name that
 * is no text; each with its line. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/internal.h"
#include "core/network/names.h"

enum { FIELDS_MAX = 3, SHOWN_MAX = 40 };

typedef struct field {
  const char *text;
  size_t length;
} field;

typedef struct edge_reader {
  cm_source *source;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_names names;
  uint64_t line;
  char separator;  /* ' ' stands for runs of blanks; 0: not known yet */
  size_t columns;  /* 2 or 3; 0: not known yet */
  char *unquoted;  /* scratch for fields with doubled quotes */
  uint64_t unquoted_room;
  field fields[FIELDS_MAX];
  size_t field_count;
  cm_entries edges;
} edge_reader;

static cm_status bad(edge_reader *r, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "edge list, line %llu: %s", (unsigned long long)r->line, what);
  return cm_fail_at(error, "line %llu", (unsigned long long)r->line);
}

/* ---- lines and fields ---- */

/* The next line without its end; *end at the end of the file. Valid until the next call. */
static cm_status next_line(edge_reader *r, const char **line, size_t *length, bool *end, cm_error *error)
{
  cm_source *source = r->source;
  const uint8_t *feed = memchr(source->at, '\n', (size_t)(source->end - source->at));
  if (feed == NULL && !source->ended) {
    if (cm_source_fill(source, error) != CM_OK)
      return error->status;
    feed = memchr(source->at, '\n', (size_t)(source->end - source->at));
  }
  r->line++;
  if (feed == NULL && !source->ended)
    return bad(r, "it is longer than 262144 bytes; a line must hold source,target[,weight]", error);
  *end = feed == NULL && source->at == source->end;
  *line = (const char *)source->at;
  *length = (size_t)((feed != NULL ? feed : source->end) - source->at);
  source->at = feed != NULL ? feed + 1 : source->end;
  if (*length > 0 && (*line)[*length - 1] == '\r')
    --*length;
  return CM_OK;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* The separator of a line: a tab before a comma before a semicolon, outside quotes; else blanks. */
static char find_separator(const char *line, size_t length)
{
  bool comma = false, semicolon = false, quoted = false;
  for (size_t i = 0; i < length; i++) {
    if (line[i] == '"')
      quoted = !quoted;
    if (quoted)
      continue;
    if (line[i] == '\t')
      return '\t';
    comma = comma || line[i] == ',';
    semicolon = semicolon || line[i] == ';';
  }
  return comma ? ',' : semicolon ? ';' : ' ';
}

/* Reads a quoted field that starts at line[*at]; the text goes to r->unquoted from *used on. */
static cm_status unquote(edge_reader *r, const char *line, size_t length, size_t *at, size_t *used, field *to,
                         cm_error *error)
{
  char *begin = r->unquoted + *used;
  for (size_t i = *at + 1; i < length; i++) {
    if (line[i] != '"') {
      r->unquoted[(*used)++] = line[i];
    } else if (i + 1 < length && line[i + 1] == '"') {
      r->unquoted[(*used)++] = line[i++];
    } else {
      *at = i + 1;
      *to = (field){begin, (size_t)(r->unquoted + *used - begin)};
      return CM_OK;
    }
  }
  return bad(r, "a quote is not closed", error);
}

static cm_status split(edge_reader *r, const char *line, size_t length, cm_error *error)
{
  if (CM_ROOM(r->memory, r->unquoted, &r->unquoted_room, length, error) != CM_OK)
    return error->status;
  size_t at = 0, used = 0, count = 0;
  for (;; at++) { /* over the separator */
    field found;
    while (at < length && is_blank(line[at]) && line[at] != r->separator)
      at++;
    if (r->separator == ' ')
      while (at < length && is_blank(line[at]))
        at++;
    if (r->separator == ' ' && at == length)
      break;
    if (at < length && line[at] == '"') {
      if (unquote(r, line, length, &at, &used, &found, error) != CM_OK)
        return error->status;
      while (at < length && is_blank(line[at]) && line[at] != r->separator)
        at++;
      if (at < length && line[at] != r->separator && !(r->separator == ' ' && is_blank(line[at])))
        return bad(r, "text follows a closing quote", error);
    } else {
      size_t begin = at;
      while (at < length && line[at] != r->separator && !(r->separator == ' ' && is_blank(line[at])))
        at++;
      size_t stop = at;
      while (stop > begin && is_blank(line[stop - 1]))
        stop--;
      found = (field){line + begin, stop - begin};
    }
    if (count < FIELDS_MAX)
      r->fields[count] = found;
    count++;
    if (at >= length)
      break;
  }
  r->field_count = count;
  return CM_OK;
}

/* ---- values ---- */

static bool whole_number(const char *text, size_t length, uint64_t *value)
{
  uint64_t number = 0;
  if (length == 0 || length > 19 || (length > 1 && text[0] == '0'))
    return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9')
      return false;
    number = number * 10 + (uint64_t)(text[i] - '0');
  }
  *value = number;
  return true;
}

/* Any number as strtod knows it, infinities and NaN included. */
static bool read_number(const field *f, double *value)
{
  uint64_t number;
  if (f->length <= 15 && whole_number(f->text, f->length, &number)) {
    *value = (double)number;
    return true;
  }
  char text[64], *end;
  if (f->length == 0 || f->length >= sizeof text || isspace((unsigned char)f->text[0]))
    return false;
  memcpy(text, f->text, f->length);
  text[f->length] = '\0';
  *value = strtod(text, &end);
  return end == text + f->length;
}

static bool is_word(const field *f, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strlen(*words) == f->length && strncasecmp(*words, f->text, f->length) == 0)
      return true;
  return false;
}

/* Whether the first line is a header: well-known words, or a third field that is no number. */
static bool is_header(const edge_reader *r)
{
  static const char *const from_words[] = {"source", "from", "src", "pre", "presynaptic", "source_id", "pre_id", NULL};
  static const char *const to_words[] = {"target", "to", "dst", "dest", "post", "postsynaptic", "target_id", "post_id",
                                         NULL};
  double ignored;
  return (is_word(&r->fields[0], from_words) && is_word(&r->fields[1], to_words)) ||
         (r->field_count == 3 && r->fields[2].length > 0 && isalpha((unsigned char)r->fields[2].text[0]) &&
          !read_number(&r->fields[2], &ignored));
}

static cm_status read_name(edge_reader *r, const field *f, const char *what, uint32_t *number, cm_error *error)
{
  char text[120];
  if (f->length == 0 || !cm_name_valid(f->text, f->length)) {
    (void)snprintf(text, sizeof text, "the %s %s", what,
                   f->length == 0 ? "is empty" : "is not a name: control characters, or not UTF-8");
    return bad(r, text, error);
  }
  uint64_t ignored;
  bool negative = f->text[0] == '-' && whole_number(f->text + 1, f->length - 1, &ignored);
  if (negative || (r->separator == ' ' && !whole_number(f->text, f->length, &ignored))) {
    (void)snprintf(text, sizeof text, "the %s '%.*s' %s", what, f->length < SHOWN_MAX ? (int)f->length : SHOWN_MAX,
                   f->text,
                   negative ? "is negative; vertices are numbered from 0, or named"
                            : "is no number; names need commas or tabs between the fields");
    return bad(r, text, error);
  }
  return cm_names_number(&r->names, f->text, f->length, r->limits->vertices_max, number, error);
}

static cm_status read_weight(edge_reader *r, const field *f, double *weight, cm_error *error)
{
  if (read_number(f, weight) && isfinite(*weight))
    return CM_OK;
  char text[160];
  (void)snprintf(text, sizeof text, "weight '%.*s' is not a finite number",
                 f->length < SHOWN_MAX ? (int)f->length : SHOWN_MAX, f->text);
  return bad(r, text, error);
}

static cm_status read_edge(edge_reader *r, cm_error *error)
{
  uint32_t from, to;
  double weight = 1;
  if (read_name(r, &r->fields[0], "source", &from, error) != CM_OK ||
      read_name(r, &r->fields[1], "target", &to, error) != CM_OK ||
      (r->columns == 3 && read_weight(r, &r->fields[2], &weight, error) != CM_OK))
    return error->status;
  return cm_entries_add(&r->edges, from, to, weight, -1, error);
}

/* A first line of two names before lines of two numbers was a header of unknown words. */
static cm_status drop_header(edge_reader *r, cm_error *error)
{
  uint64_t ignored;
  if (r->edges.count != 1 || r->columns != 2 || r->names.count != 2 ||
      whole_number(r->names.text, r->names.first[1] - 1, &ignored) ||
      whole_number(r->names.text + r->names.first[1], r->names.first[2] - r->names.first[1] - 1, &ignored) ||
      !whole_number(r->fields[0].text, r->fields[0].length, &ignored) ||
      !whole_number(r->fields[1].text, r->fields[1].length, &ignored))
    return CM_OK;
  r->edges.count = 0;
  cm_names_close(&r->names);
  return cm_names_open(&r->names, r->memory, error);
}

static cm_status read_edges(edge_reader *r, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  for (;;) {
    if (next_line(r, &line, &length, &end, error) != CM_OK)
      return error->status;
    if (end)
      return CM_OK;
    size_t begin = 0;
    while (begin < length && is_blank(line[begin]))
      begin++;
    if (begin == length || line[begin] == '#' || line[begin] == '%')
      continue;
    bool first = r->separator == 0;
    if (first)
      r->separator = find_separator(line, length);
    if (split(r, line, length, error) != CM_OK)
      return error->status;
    if (r->field_count < 2 || r->field_count > 3 || (r->columns != 0 && r->field_count != r->columns)) {
      char text[160];
      (void)snprintf(text, sizeof text, "%zu field%s; %s", r->field_count, r->field_count == 1 ? "" : "s",
                     r->columns == 0   ? "source,target or source,target,weight is expected"
                     : r->columns == 2 ? "source,target is expected, as in the first line"
                                       : "source,target,weight is expected, as in the first line");
      return bad(r, text, error);
    }
    r->columns = r->field_count;
    if (first && is_header(r))
      continue;
    if (drop_header(r, error) != CM_OK || read_edge(r, error) != CM_OK)
      return error->status;
  }
}

/* ---- from edges to a topology ---- */

typedef struct numbered {
  uint64_t value;
  uint32_t number;
} numbered;

static int by_value(const void *a, const void *b)
{
  uint64_t left = ((const numbered *)a)->value, right = ((const numbered *)b)->value;
  return left < right ? -1 : left > right;
}

/* Where every name is a whole number, vertices go in order of these numbers. */
static cm_status order_names(edge_reader *r, cm_topology *made, cm_error *error)
{
  cm_names *names = &r->names;
  numbered *ids = NULL;
  uint32_t *place = NULL;
  bool same = true; /* every name is its vertex's number already */
  uint64_t value;
  cm_free(names->slot);
  names->slot = NULL;
  for (uint32_t i = 0; i < names->count; i++) {
    if (!whole_number(names->text + names->first[i], names->first[i + 1] - names->first[i] - 1, &value))
      goto keep;
    same = same && value == i;
  }
  if (same)
    return CM_OK;
  if (CM_NEW(r->memory, ids, names->count, error) != CM_OK ||
      CM_NEW(r->memory, place, names->count, error) != CM_OK ||
      CM_NEW(r->memory, made->label_text, names->first[names->count], error) != CM_OK ||
      CM_NEW(r->memory, made->label_first, (size_t)names->count + 1, error) != CM_OK) {
    cm_free(ids);
    cm_free(place);
    return error->status;
  }
  for (uint32_t i = 0; i < names->count; i++) {
    whole_number(names->text + names->first[i], names->first[i + 1] - names->first[i] - 1, &value);
    ids[i] = (numbered){value, i};
  }
  qsort(ids, names->count, sizeof *ids, by_value);
  same = true;
  for (uint32_t v = 0; v < names->count; v++) {
    uint32_t i = ids[v].number;
    uint64_t size = names->first[i + 1] - names->first[i];
    same = same && ids[v].value == v;
    place[i] = v;
    memcpy(made->label_text + made->label_first[v], names->text + names->first[i], size);
    made->label_first[v + 1] = made->label_first[v] + size;
  }
  for (uint64_t e = 0; e < r->edges.count; e++) {
    r->edges.from[e] = place[r->edges.from[e]];
    r->edges.to[e] = place[r->edges.to[e]];
  }
  cm_free(ids);
  cm_free(place);
  if (same) {
    cm_free(made->label_text);
    cm_free(made->label_first);
    made->label_text = NULL;
    made->label_first = NULL;
  }
  return CM_OK;

keep:
  CM_TRIM(r->memory, names->text, names->first[names->count]);
  CM_TRIM(r->memory, names->first, (uint64_t)names->count + 1);
  made->label_text = names->text;
  made->label_first = names->first;
  names->text = NULL;
  names->first = NULL;
  return CM_OK;
}

static cm_status build(edge_reader *r, cm_topology *made, cm_error *error)
{
  made->directed = true;
  made->vertex_count = r->names.count;
  made->size_total = made->vertex_count;
  return order_names(r, made, error) == CM_OK ? cm_entries_close(&r->edges, made, error) : error->status;
}

cm_status cm_import_edges(cm_source *source, const cm_import_limits *limits, cm_run *run,
                          cm_topology **topology, cm_error *error)
{
  edge_reader r = {.source = source, .limits = limits, .run = run, .memory = run->memory,
                   .edges = {.memory = run->memory, .run = run, .limit = limits->pins_max}};
  cm_topology *made = NULL;
  cm_status status = cm_names_open(&r.names, run->memory, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, made, 1, error);
  if (status == CM_OK)
    status = read_edges(&r, error);
  if (status == CM_OK)
    status = build(&r, made, error);
  cm_names_close(&r.names);
  cm_free(r.unquoted);
  cm_entries_free(&r.edges);
  if (status != CM_OK) {
    cm_topology_free(made);
    return status;
  }
  *topology = made;
  return CM_OK;
}
