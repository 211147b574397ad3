/* Which format a text is. Three things say it, in this order: words that only one format begins with, the ending of its name, and the
 * shape of all its rows, by which the candidates of the table below judge. Two that could be are never chosen between. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/adjacency.h"
#include "core/network/formats/survey.h"
#include "core/network/formats/table_rows.h"
#include "core/network/recognise.h"

/* ---- words ---- */

typedef struct first_word {
  const char *text;
  cm_format_id format;
} first_word;

static const first_word first_words[] = {
  {"%%MatrixMarket", CM_FORMAT_MATRIX}, {"graph [", CM_FORMAT_GML},     {"graph\n[", CM_FORMAT_GML},    {"graph\r\n[", CM_FORMAT_GML},
  {"creator \"", CM_FORMAT_GML},        {"*vertices", CM_FORMAT_PAJEK}, {"*network", CM_FORMAT_PAJEK}, {"{", CM_FORMAT_NODE_LINK},
  {"network:\n", CM_FORMAT_SANAFE}, {"network:\r\n", CM_FORMAT_SANAFE}, {"architecture:\n", CM_FORMAT_SANAFE}, {"architecture:\r\n", CM_FORMAT_SANAFE}, {"mappings:\n", CM_FORMAT_SANAFE}, {"mappings:\r\n", CM_FORMAT_SANAFE},
};

/* Whether a line begins with a text, in any case. */
static bool begins(const uint8_t *at, const uint8_t *end, const char *text)
{
  return (size_t)(end - at) >= strlen(text) && strncasecmp((const char *)at, text, strlen(text)) == 0;
}

/* A netlist of SANA-FE: "g", a number and attributes, then an edge "e 0.0->0.1" or a neuron "n 0.0 bias=1" among the first bytes. */
static bool is_netlist(const uint8_t *at, const uint8_t *end)
{
  const uint8_t *digits = at + 1;
  while (digits < end && (*digits == ' ' || *digits == '\t'))
    digits++;
  if (digits == at + 1 || digits == end || *digits < '0' || *digits > '9')
    return false;
  for (;;) {
    const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
    if (feed == NULL)
      return false;
    at = feed + 1;
    feed = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((feed != NULL ? feed : end) - at);
    if (length > 2 && ((*at == 'e' && memmem(at, length, "->", 2) != NULL) || (*at == 'n' && memchr(at, '=', length) != NULL)))
      return true;
    if (length > 0 && strchr("gn# \t\r", *at) == NULL)
      return false;
  }
}

/* The format whose words stand first, behind blanks, blank lines and comments; CM_FORMATS: none's. */
static cm_format_id format_of_words(const cm_source *source)
{
  for (const uint8_t *at = source->at, *end = source->end; at < end;) {
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
      at++;
    for (size_t i = 0; i < sizeof first_words / sizeof *first_words; i++)
      if (begins(at, end, first_words[i].text))
        return first_words[i].format;
    if (begins(at, end, "g ") || begins(at, end, "g\t"))
      return is_netlist(at, end) ? CM_FORMAT_SANAFE : CM_FORMATS;
    if (at == end || (*at != '#' && *at != '%'))
      break;
    const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
    at = feed != NULL ? feed : end;
  }
  return CM_FORMATS;
}

/* ---- what is named, and not read ---- */

/* Whether lines end in carriage returns alone. */
static bool has_carriage_returns(const cm_source *source)
{
  const size_t size = (size_t)(source->end - source->at);
  const uint8_t *first = memchr(source->at, '\r', size);
  return first != NULL && first + 1 < source->end && memchr(source->at, '\n', size) == NULL;
}

/* Scotch's graph: "0" alone, vertices and arcs, base and flags. */
static bool is_scotch(const cm_source *source)
{
  char head[64];
  unsigned long long version, vertices, arcs, base;
  char flags[8];
  const size_t size = (size_t)(source->end - source->at);
  (void)snprintf(head, sizeof head, "%.*s", (int)(size < sizeof head ? size : sizeof head - 1), (const char *)source->at);
  return strncmp(head, "0\n", 2) == 0 && sscanf(head, "%llu\n%llu %llu\n%llu %7s", &version, &vertices, &arcs, &base, flags) == 5 &&
         base <= 1 && strlen(flags) == 3 && strspn(flags, "01") == 3;
}

static bool is_called(const cm_source *source, const char *ending)
{
  const char *name = source->hint != NULL ? source->hint->name : NULL;
  return name != NULL && cm_path_ends(name, strlen(name), ending);
}

static cm_status refuse_others(const cm_source *source, cm_error *error)
{
  if (has_carriage_returns(source))
    return cm_refuse_as("text whose lines end in carriage returns alone", "this line converts it: tr '\\r' '\\n' < FILE > net.csv", error);
  if (is_scotch(source) || is_called(source, ".grf"))
    return cm_refuse_as("a graph of Scotch", "gcv of Scotch writes others; a METIS graph has the rows without their lengths", error);
  if (is_called(source, ".u"))
    return cm_refuse_as("a hypergraph of PaToH", "write it as hMETIS (.hgr): nets and vertices, then the pins of each net, from 1", error);
  return CM_OK;
}

/* ---- endings ---- */

static cm_status refuse_ending(const cm_network_format *named, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "the file's name says %s, and it is text, which such a file is not: say what it is, format=NAME, or name it otherwise",
          named->name);
  return cm_fail_at(error, "byte 0");
}

/* Endings of one text format say what it is; those of tables leave open which. */
static bool binds(const cm_network_format *named)
{
  return named != NULL && named != &cm_network_formats[CM_FORMAT_EDGES] && named != &cm_network_formats[CM_FORMAT_SNN] &&
         named != &cm_network_formats[CM_FORMAT_TOPOLOGY];
}

/* ---- shapes ---- */

/* What a candidate says of a shape. */
typedef enum verdict { CANNOT, COULD, IS } verdict;

typedef struct candidate {
  cm_format_id format;
  const char *reading;                       /* "%llu edges": what it would be, of so many rows */
  verdict (*judge)(const cm_survey *survey);
  const char *why;                           /* where it is */
} candidate;

static bool is_pair_list(const cm_survey *s)
{
  return s->tuples && !s->lists;
}

/* N rows of N numbers are a matrix, unless they could be edges: two or three columns, of which two are ids. */
static verdict judge_matrix(const cm_survey *s)
{
  if (s->named || is_pair_list(s) || s->braces || s->words || s->size_line)
    return CANNOT;
  if (cm_survey_square_below(s))
    return s->first_fields > 3 || s->fractions || (s->first_fields == 3 && !s->ids) ? IS : COULD;
  if (!cm_survey_square(s))
    return cm_survey_square_with_ids(s) ? IS : CANNOT;
  if (s->rows > 3 || s->fractions || (s->rows == 3 && !s->ids))
    return IS;
  if (s->rows == 3)
    return s->weighted ? CANNOT : COULD;
  return s->ids && s->zero_diagonal && !s->ones_beside ? COULD : CANNOT; /* two edges, or the same as a matrix */
}

static verdict judge_edges(const cm_survey *s)
{
  const bool header = s->header && (s->first_fields != 3 || !cm_survey_square_below(s));
  return s->named || is_pair_list(s) || header || s->words || s->braces || !s->whole ? IS : COULD;
}

static const candidate candidates[] = {
  {CM_FORMAT_TABLE, "a matrix of %llu neurons", judge_matrix, "as many rows of numbers as columns"},
  {CM_FORMAT_EDGES, "a list of %llu edges", judge_edges, "rows of source, target and what else a header names"},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

static cm_status refuse_two(const candidate *a, const candidate *b, uint64_t rows, cm_error *error)
{
  const candidate *both[] = {a, b};
  cm_fail(error, CM_BAD_NETWORK, "the file may be ");
  for (int i = 0; i < 2; i++) {
    const char *mark = strstr(both[i]->reading, "%llu");
    cm_fail_more(error, "%.*s%llu%s (--format %s, format=%s)%s", (int)(mark - both[i]->reading), both[i]->reading, (unsigned long long)rows,
                 mark + strlen("%llu"), cm_network_formats[both[i]->format].name, cm_network_formats[both[i]->format].name,
                 i == 0 ? " or " : ": say which");
  }
  return cm_fail_at(error, "line 1");
}

/* The candidate that it is, or alone could be. */
static cm_status choose(const cm_survey *s, const candidate **chosen, cm_error *error)
{
  const candidate *could[CANDIDATES + 1] = {NULL}, *is = NULL;
  size_t count = 0;
  for (size_t i = 0; i < CANDIDATES; i++) {
    const verdict v = candidates[i].judge(s);
    if (v == IS && is == NULL)
      is = &candidates[i];
    if (v == COULD)
      could[count++] = &candidates[i];
  }
  if (is == NULL && count > 1)
    return refuse_two(could[0], could[1], s->rows - cm_survey_square_below(s), error);
  *chosen = is != NULL ? is : could[0];
  return CM_OK;
}

/* Rows of several lengths, or of three, may be a neuron and its targets; so may a square of ids, of which everybody targets all others. */
static cm_status weigh_adjacency(cm_source *source, const cm_survey *s, const candidate *chosen, cm_memory *memory,
                                 const cm_network_format **found, cm_error *error)
{
  static const candidate adjacency = {CM_FORMAT_ADJACENCY, "an adjacency list of %llu neurons", NULL, NULL};
  const bool varying = s->fields_min != s->fields_max || s->first_fields != s->fields_min;
  bool fits = false, repeats = false;
  if ((chosen->format != CM_FORMAT_EDGES && !cm_survey_square(s)) || s->named || s->header || s->tuples || s->braces || !s->whole || s->rows < 2 ||
      (!varying && (s->first_fields < 3 || !s->ids)))
    return CM_OK;
  CM_TRY(cm_adjacency_fits(source, memory, &fits, &repeats, error));
  if (fits && !varying && !repeats)
    return refuse_two(chosen, &adjacency, s->rows, error);
  if (fits && varying)
    *found = &cm_network_formats[CM_FORMAT_ADJACENCY];
  return CM_OK;
}

static cm_status format_of_shape(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error)
{
  const candidate *chosen = NULL;
  cm_survey survey;
  CM_TRY(cm_survey_read(source, memory, &survey, error));
  const bool named = cm_source_option(source, CM_READ_COLUMNS) != NULL || cm_network_names_connections(source);
  if (named) {
    *found = &cm_network_formats[CM_FORMAT_EDGES];
    return CM_OK;
  }
  CM_TRY(choose(&survey, &chosen, error));
  *found = &cm_network_formats[chosen->format];
  cm_reading_why(&source->reading, chosen->why);
  return weigh_adjacency(source, &survey, chosen, memory, found, error);
}

/* ---- the whole ---- */

cm_status cm_text_format(cm_source *source, const cm_network_format *named, cm_memory *memory,
                         const cm_network_format **found, cm_error *error)
{
  const cm_format_id word = format_of_words(source);
  *found = NULL;
  if (refuse_others(source, error) != CM_OK)
    return cm_fail_at(error, "byte 0");
  if (word < CM_FORMATS) {
    *found = &cm_network_formats[word];
    cm_reading_why(&source->reading, "its first words");
    return CM_OK;
  }
  if (binds(named) && named->confined)
    return refuse_ending(named, error);
  if (binds(named)) {
    *found = named;
    cm_reading_why(&source->reading, "the ending of its name");
    return CM_OK;
  }
  const bool lists = cm_is_tuple_list(source->at, (size_t)(source->end - source->at));
  CM_TRY_IF(named != &cm_network_formats[CM_FORMAT_EDGES] && !lists, cm_recognise_metis(source, memory, found, error));
  if (*found == NULL)
    return format_of_shape(source, memory, found, error);
  cm_reading_why(&source->reading, "a header and as many rows as it says");
  return CM_OK;
}
