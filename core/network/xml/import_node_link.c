/* Node-link JSON, as NetworkX (node_link_data) and d3 write it: {"directed", "nodes": [{"id"}], "links": [{"source", "target"}]}; the
 * links may be called edges, and nodes without ids are their places.
 *
 * Happy path: the whole file is parsed, nodes and then links are walked. What can fail: what is no such object; see graph.c. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/network/formats/readers.h"
#include "core/network/recognise.h"
#include "core/network/xml/xml_graph.h"

enum { FOLD_MAX = 40 }; /* bytes of memory for one of the file, at most */

typedef struct node_link {
  cm_xml_graph graph;
  cm_xml position; /* for messages: the number of a node or link in place of a line */
  bool by_place;   /* nodes have no ids */
} node_link;

/* A text or a number as a text; false: it is neither. */
static bool text_of(const json_t *value, char text[CM_NODE_TEXT_MAX])
{
  if (json_is_string(value))
    return snprintf(text, CM_NODE_TEXT_MAX, "%s", json_string_value(value)) < CM_NODE_TEXT_MAX;
  if (json_is_integer(value))
    (void)snprintf(text, CM_NODE_TEXT_MAX, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    (void)snprintf(text, CM_NODE_TEXT_MAX, "%.17g", json_real_value(value));
  return json_is_number(value);
}

static cm_status read_values(node_link *n, json_t *object, bool of_edges, cm_error *error)
{
  char text[CM_NODE_TEXT_MAX];
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (strlen(key) >= CM_KEY_MAX || !text_of(value, text) || (!of_edges && strcmp(key, "id") == 0))
      continue;
    cm_xml_graph_add_key(&n->graph, of_edges, key, key);
    CM_TRY(cm_xml_graph_value_of(&n->graph, &n->position, key, text, error));
  }
  return cm_xml_graph_end(&n->graph, &n->position, error);
}

static cm_status read_nodes(node_link *n, json_t *nodes, cm_error *error)
{
  char id[CM_NODE_TEXT_MAX];
  json_t *node;
  size_t i;
  n->by_place = json_array_size(nodes) > 0 && json_object_get(json_array_get(nodes, 0), "id") == NULL;
  json_array_foreach(nodes, i, node) {
    n->position.line = (unsigned long)i + 1;
    if (n->by_place)
      (void)snprintf(id, sizeof id, "%zu", i);
    else if (!text_of(json_object_get(node, "id"), id))
      return cm_xml_bad(&n->position, "a node has no id that is a text or a number (the line is its place among the nodes)", error);
    CM_TRY(cm_xml_graph_node(&n->graph, &n->position, id, error));
    CM_TRY(read_values(n, node, false, error));
  }
  return CM_OK;
}

static cm_status read_links(node_link *n, json_t *links, cm_error *error)
{
  char from[CM_NODE_TEXT_MAX], to[CM_NODE_TEXT_MAX];
  json_t *link;
  size_t i;
  json_array_foreach(links, i, link) {
    n->position.line = (unsigned long)i + 1;
    if (!text_of(json_object_get(link, "source"), from) || !text_of(json_object_get(link, "target"), to))
      return cm_xml_bad(&n->position, "a link has no source or target that is a text or a number (the line is its place among the links)", error);
    CM_TRY(cm_xml_graph_edge(&n->graph, &n->position, from, to, n->graph.directed, !n->graph.directed, error));
    CM_TRY(read_values(n, link, true, error));
  }
  return CM_OK;
}

static cm_status read_graph(node_link *n, json_t *json, cm_error *error)
{
  json_t *nodes = json_object_get(json, "nodes"), *links = json_object_get(json, "links");
  links = links != NULL ? links : json_object_get(json, "edges");
  if (!json_is_array(nodes) || !json_is_array(links))
    return cm_refuse_json(error);
  n->graph.directed = json_is_true(json_object_get(json, "directed"));
  return read_nodes(n, nodes, error) == CM_OK ? read_links(n, links, error) : error->status;
}

static cm_status read_file(void *reader, const cm_reading_of *in, cm_error *error)
{
  node_link *n = reader;
  const uint64_t refusals = cm_json_refusals();
  void *image = NULL;
  size_t size = 0;
  json_error_t where;
  n->position.format = "node-link JSON";
  CM_TRY(cm_source_image(in->source, in->run->memory, &image, &size, error));
  json_t *json = cm_json_loadb_within(image, size, 0, size * FOLD_MAX + 65536, &where);
  cm_free(image);
  CM_TRY_IF(json == NULL, cm_json_whole(refusals, "the graph", error));
  if (json == NULL) {
    n->position.line = where.line > 0 ? (unsigned long)where.line : 1;
    return cm_xml_bad(&n->position, where.text, error);
  }
  cm_status status = read_graph(n, json, error);
  json_decref(json);
  return status;
}

cm_status cm_import_node_link(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "node-link JSON", sizeof(node_link), read_file, error);
}
