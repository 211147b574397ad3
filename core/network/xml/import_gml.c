/* GML: "graph [ directed 1 node [ id 0 label "a" ] edge [ source 0 target 1 weight 2 ] ]", as NetworkX, igraph and Gephi write it.
 *
 * Happy path: keys and values follow each other; of nodes and edges those that graphs have a meaning for count, whole lists of others
 * are passed over. What can fail: brackets that do not match, texts without end; see graph.c. */
#include <string.h>
#include <strings.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/tokens.h"
#include "core/network/xml/xml_graph.h"

enum { WORD_MAX = CM_NODE_TEXT_MAX, DEPTH_MAX = 64, EARLY_MAX = 16 };

/* The lists that are open: the whole file, the graph, a node or an edge of it, or one that is passed over. */
typedef enum place { OUTSIDE, IN_GRAPH, IN_NODE, IN_EDGE, ELSEWHERE } place;

typedef struct gml {
  cm_xml_graph graph;
  cm_xml position; /* for messages: format and line */
  cm_tokens text;
  char key[WORD_MAX], value[WORD_MAX];
  place stack[DEPTH_MAX];
  unsigned depth;
  struct {
    char key[CM_KEY_MAX], value[WORD_MAX];
  } early[EARLY_MAX]; /* values that stand before the ids of their node or edge */
  unsigned early_count;
  bool begun;        /* the node or edge under way: its graph has been told of it */
  char id[2][WORD_MAX]; /* of an edge: source, target; of a node the first */
} gml;

static cm_status bad(gml *g, const char *what, cm_error *error)
{
  g->position.line = (unsigned long)g->text.line;
  return cm_xml_bad(&g->position, what, error);
}

/* The next byte behind blanks and comments; -1: the end. */
static cm_status next_byte(gml *g, int *c, cm_error *error)
{
  char ignored[8];
  for (;;) {
    CM_TRY(cm_tokens_skip_blanks(&g->text, error));
    CM_TRY(cm_tokens_peek(&g->text, c, error));
    if (*c != '#')
      return CM_OK;
    CM_TRY(cm_tokens_line(&g->text, ignored, sizeof ignored, error));
  }
}

/* A word, or what stands between quotes. */
static cm_status read_word(gml *g, int first, char word[WORD_MAX], cm_error *error)
{
  const bool quoted = first == '"';
  size_t used = 0;
  g->text.source->at += quoted;
  for (int c = 0;;) {
    CM_TRY(cm_tokens_peek(&g->text, &c, error));
    if (quoted ? c == '"' : c <= ' ' || c == '[' || c == ']') /* the end is -1 */
      break;
    if (c == -1)
      return bad(g, "a quote is not closed", error);
    if (used == WORD_MAX - 1)
      return bad(g, "a text has more than 1023 bytes", error);
    g->text.line += c == '\n';
    word[used++] = c == '\n' ? ' ' : (char)c;
    g->text.source->at++;
  }
  if (!quoted && used == 0)
    return bad(g, "a control character stands where a word is expected", error);
  g->text.source->at += quoted;
  word[used] = '\0';
  return CM_OK;
}

static cm_status give(gml *g, const char *key, const char *value, cm_error *error)
{
  cm_xml_graph_add_key(&g->graph, g->stack[g->depth] == IN_EDGE, key, key);
  return cm_xml_graph_value_of(&g->graph, &g->position, key, value, error);
}

/* A value whose node or edge is not known yet. */
static cm_status keep(gml *g, cm_error *error)
{
  if (g->early_count == EARLY_MAX)
    return bad(g, "more than 16 values stand before the id of a node, or source and target of an edge", error);
  memcpy(g->early[g->early_count].key, g->key, strlen(g->key) + 1);
  memcpy(g->early[g->early_count++].value, g->value, strlen(g->value) + 1);
  return CM_OK;
}

/* The node or edge is known to its graph once its ids are. */
static cm_status begin(gml *g, cm_error *error)
{
  const bool edge = g->stack[g->depth] == IN_EDGE, whole = g->id[0][0] != '\0' && (!edge || g->id[1][0] != '\0');
  if (g->begun || !whole)
    return CM_OK;
  g->begun = true;
  cm_status status = edge ? cm_xml_graph_edge(&g->graph, &g->position, g->id[0], g->id[1], g->graph.directed, !g->graph.directed, error)
                          : cm_xml_graph_node(&g->graph, &g->position, g->id[0], error);
  for (unsigned i = 0; i < g->early_count && status == CM_OK; i++)
    status = give(g, g->early[i].key, g->early[i].value, error);
  return status;
}

static cm_status take_value(gml *g, cm_error *error)
{
  const place here = g->stack[g->depth];
  g->position.line = (unsigned long)g->text.line;
  if (here == IN_GRAPH && strcasecmp(g->key, "directed") == 0)
    g->graph.directed = strcmp(g->value, "0") != 0;
  if (here != IN_NODE && here != IN_EDGE)
    return CM_OK;
  const int which = here == IN_NODE ? (strcasecmp(g->key, "id") == 0 ? 0 : -1)
                                    : strcasecmp(g->key, "source") == 0 ? 0 : strcasecmp(g->key, "target") == 0 ? 1 : -1;
  if (which >= 0) {
    memcpy(g->id[which], g->value, strlen(g->value) + 1);
    return begin(g, error);
  }
  return strlen(g->key) >= CM_KEY_MAX ? CM_OK : g->begun ? give(g, g->key, g->value, error) : keep(g, error);
}

static cm_status open_list(gml *g, cm_error *error)
{
  static const struct {
    const char *key;
    place within, place;
  } known[] = {{"graph", OUTSIDE, IN_GRAPH}, {"node", IN_GRAPH, IN_NODE}, {"edge", IN_GRAPH, IN_EDGE}};
  place to = ELSEWHERE;
  if (g->depth + 1 == DEPTH_MAX)
    return bad(g, "lists are nested more than 64 deep", error);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].within == g->stack[g->depth] && strcasecmp(known[i].key, g->key) == 0)
      to = known[i].place;
  g->stack[++g->depth] = to;
  if (to == IN_NODE || to == IN_EDGE) {
    g->begun = false;
    g->early_count = 0;
    g->id[0][0] = g->id[1][0] = '\0';
  }
  return CM_OK;
}

static cm_status close_list(gml *g, cm_error *error)
{
  if (g->depth == 0)
    return bad(g, "a bracket closes that none opened", error);
  const place here = g->stack[g->depth--];
  g->position.line = (unsigned long)g->text.line;
  if (here != IN_NODE && here != IN_EDGE)
    return CM_OK;
  return g->begun ? cm_xml_graph_end(&g->graph, &g->position, error)
                  : bad(g, here == IN_NODE ? "a node has no id" : "an edge has no source and target", error);
}

static cm_status read_graph(void *reader, const cm_reading_of *in, cm_error *error)
{
  gml *g = reader;
  g->position.format = g->text.format = "GML";
  g->text.source = in->source;
  g->text.line = 1;
  for (int c = 0;;) {
    CM_TRY(next_byte(g, &c, error));
    if (c == -1)
      return g->depth == 0 ? CM_OK : bad(g, "the file ends inside a list", error);
    if (c == ']') {
      g->text.source->at++;
      CM_TRY(close_list(g, error));
      continue;
    }
    if (c == '[' || c == '"')
      return bad(g, "a value stands where a key is expected", error);
    CM_TRY(read_word(g, c, g->key, error));
    CM_TRY(next_byte(g, &c, error));
    if (c == -1 || c == ']')
      return bad(g, "a key has no value", error);
    g->text.source->at += c == '[';
    if (c == '[' ? open_list(g, error) != CM_OK : read_word(g, c, g->value, error) != CM_OK || take_value(g, error) != CM_OK)
      return error->status;
  }
}

cm_status cm_import_gml(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "GML", sizeof(gml), read_graph, error);
}
