/* GraphML (.graphml) and GEXF (.gexf): nodes, edges, and of their attributes weights, delays, names and populations.
 *
 * Happy path: keys come first and say which attribute is which, then nodes and edges. What can fail: see xml_graph.c; hyperedges and
 * graphs in graphs are refused. */
#include <stdio.h>
#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/xml/xml_graph.h"

typedef struct reader {
  cm_xml_graph graph;
  char key[CM_KEY_MAX]; /* whose value or default is under way; "": none that matters */
  unsigned graphs;      /* that have begun */
  bool of_edges;        /* GEXF: the attributes under way */
} reader;

/* ---- GraphML ---- */

static void keep_key(reader *r, const char *key)
{
  r->key[0] = '\0';
  if (key != NULL && strlen(key) < sizeof r->key)
    (void)snprintf(r->key, sizeof r->key, "%s", key);
}

static cm_status graphml_start(cm_xml *xml, const char *name, const char *const *attributes, cm_error *error)
{
  reader *r = xml->user;
  if (xml->depth == 1 && strcmp(name, "graphml") != 0)
    return cm_xml_bad(xml, "the outermost element is not graphml", error);
  if (strcmp(name, "node") == 0)
    return cm_xml_graph_node(&r->graph, xml, cm_xml_attribute(attributes, "id"), error);
  if (strcmp(name, "edge") == 0) {
    const char *said = cm_xml_attribute(attributes, "directed");
    bool directed = said != NULL ? strcmp(said, "true") == 0 || strcmp(said, "1") == 0 : r->graph.directed;
    return cm_xml_graph_edge(&r->graph, xml, cm_xml_attribute(attributes, "source"), cm_xml_attribute(attributes, "target"), directed,
                         !directed, error);
  }
  if (strcmp(name, "data") == 0)
    keep_key(r, cm_xml_attribute(attributes, "key"));
  else if (strcmp(name, "key") == 0) {
    const char *id = cm_xml_attribute(attributes, "id"), *of = cm_xml_attribute(attributes, "for"),
               *called = cm_xml_attribute(attributes, "attr.name");
    called = called != NULL ? called : id;
    keep_key(r, id);
    for (int edges = 0; id != NULL && edges < 2; edges++)
      if (of == NULL || strcmp(of, "all") == 0 || strcmp(of, edges ? "edge" : "node") == 0)
        cm_xml_graph_add_key(&r->graph, edges == 1, id, called);
  } else if (strcmp(name, "graph") == 0) {
    const char *said = cm_xml_attribute(attributes, "edgedefault");
    r->graph.directed = said == NULL || strcmp(said, "undirected") != 0;
    if (r->graphs++ > 0)
      return cm_xml_bad(xml, "a second graph begins; one is read: flatten nested graphs, or keep one", error);
  } else if (strcmp(name, "hyperedge") == 0)
    return cm_xml_bad(xml, "hyperedges of GraphML have no direction: make edges of them, source to target", error);
  return CM_OK;
}

static cm_status graphml_end(cm_xml *xml, const char *name, cm_error *error)
{
  reader *r = xml->user;
  if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0)
    return cm_xml_graph_end(&r->graph, xml, error);
  if (strcmp(name, "default") == 0)
    cm_xml_graph_preset(&r->graph, r->key, xml->text);
  if (strcmp(name, "data") != 0 || r->key[0] == '\0')
    return CM_OK;
  cm_status status = cm_xml_graph_value_of(&r->graph, xml, r->key, xml->text, error);
  r->key[0] = '\0';
  return status;
}

/* ---- GEXF ---- */

static cm_status gexf_edge(cm_xml *xml, reader *r, const char *const *attributes, cm_error *error)
{
  const char *type = cm_xml_attribute(attributes, "type"), *weight = cm_xml_attribute(attributes, "weight");
  bool mutual = type != NULL && strcmp(type, "mutual") == 0;
  bool directed = type != NULL ? mutual || strcmp(type, "directed") == 0 : r->graph.directed;
  CM_TRY(cm_xml_graph_edge(&r->graph, xml, cm_xml_attribute(attributes, "source"), cm_xml_attribute(attributes, "target"),
                           directed, mutual || !directed, error));
  return weight != NULL ? cm_xml_graph_value(&r->graph, xml, CM_ROLE_WEIGHT, weight, error) : CM_OK;
}

static cm_status gexf_start(cm_xml *xml, const char *name, const char *const *attributes, cm_error *error)
{
  reader *r = xml->user;
  cm_xml_graph *g = &r->graph;
  const char *label = cm_xml_attribute(attributes, "label");
  if (xml->depth == 1 && strcmp(name, "gexf") != 0)
    return cm_xml_bad(xml, "the outermost element is not gexf", error);
  if (strcmp(name, "node") == 0) {
    CM_TRY(cm_xml_graph_node(g, xml, cm_xml_attribute(attributes, "id"), error));
    return label != NULL ? cm_xml_graph_value(g, xml, CM_ROLE_LABEL, label, error) : CM_OK;
  }
  if (strcmp(name, "edge") == 0)
    return gexf_edge(xml, r, attributes, error);
  if (strcmp(name, "graph") == 0) {
    const char *said = cm_xml_attribute(attributes, "defaultedgetype");
    g->directed = said != NULL && strcmp(said, "undirected") != 0;
    return r->graphs++ > 0 ? cm_xml_bad(xml, "a second graph begins; one is read", error) : CM_OK;
  }
  if (strcmp(name, "attributes") == 0) {
    const char *class = cm_xml_attribute(attributes, "class");
    r->of_edges = class != NULL && strcmp(class, "edge") == 0;
  } else if (strcmp(name, "attribute") == 0) {
    const char *id = cm_xml_attribute(attributes, "id"), *title = cm_xml_attribute(attributes, "title");
    char key[CM_KEY_MAX];
    if (id == NULL || title == NULL)
      return CM_OK;
    (void)snprintf(key, sizeof key, "%c%.*s", r->of_edges ? 'e' : 'n', CM_KEY_MAX - 2, id); /* ids are of their class */
    keep_key(r, key);
    cm_xml_graph_add_key(g, r->of_edges, key, title);
  } else if (strcmp(name, "attvalue") == 0) {
    const char *id = cm_xml_attribute(attributes, "for"), *value = cm_xml_attribute(attributes, "value");
    id = id != NULL ? id : cm_xml_attribute(attributes, "id");
    if (id == NULL || value == NULL)
      return CM_OK;
    return cm_xml_graph_value_of(g, xml, cm_say("%c%.*s", g->in_edge ? 'e' : 'n', CM_KEY_MAX - 2, id).text, value, error);
  }
  return CM_OK;
}

static cm_status gexf_end(cm_xml *xml, const char *name, cm_error *error)
{
  reader *r = xml->user;
  if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0)
    return cm_xml_graph_end(&r->graph, xml, error);
  if (strcmp(name, "default") == 0)
    cm_xml_graph_preset(&r->graph, r->key, xml->text);
  return CM_OK;
}

/* ---- files ---- */

static cm_status read_xml(reader *r, const cm_reading_of *in, cm_xml xml, cm_error *error)
{
  xml.user = r;
  return cm_xml_read(&xml, in->source, error);
}

static cm_status read_graphml(void *r, const cm_reading_of *in, cm_error *error)
{
  return read_xml(r, in, (cm_xml){.format = "GraphML", .start = graphml_start, .end = graphml_end}, error);
}

static cm_status read_gexf(void *r, const cm_reading_of *in, cm_error *error)
{
  return read_xml(r, in, (cm_xml){.format = "GEXF", .start = gexf_start, .end = gexf_end}, error);
}

cm_status cm_import_graphml(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "GraphML", sizeof(reader), read_graphml, error);
}

cm_status cm_import_gexf(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "GEXF", sizeof(reader), read_gexf, error);
}
