/* A graph as its nodes and edges are met in a file, with attributes of which some have a meaning. What the readers of GraphML
 * and GEXF share. */
#pragma once

#include "core/network/names.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"
#include "core/network/xml/xml.h"

/* What an attribute is for. */
typedef enum cm_xml_graph_role { CM_ROLE_WEIGHT, CM_ROLE_DELAY, CM_ROLE_LABEL, CM_ROLE_POPULATION, CM_ROLES } cm_xml_graph_role;

enum { CM_KEY_MAX = 80, CM_KEYS_MAX = 8, CM_NODE_TEXT_MAX = 1024 };

/* The attributes that have a role: those whose name is the commonest for it. NetworkX writes one for each type of values. */
typedef struct cm_xml_graph_key {
  char id[CM_KEYS_MAX][CM_KEY_MAX];
  unsigned count;          /* 0: none has this role */
  int rank;                /* of their name */
  char preset[CM_KEY_MAX]; /* the value where an element has none; "": none */
} cm_xml_graph_key;

typedef struct cm_xml_graph {
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_names ids;              /* vertices are numbered in order of first mention */
  uint8_t *declared;         /* [ids.count] */
  uint64_t declared_room;
  cm_names labels, populations;
  uint32_t *population_of;   /* [ids.count], one more than the number; 0: not said */
  uint64_t population_room;
  uint8_t *is_input;         /* [populations] those that feed spikes in; NULL: none */
  uint64_t is_input_room;
  bool labelled;             /* every node so far has a label, no two the same */
  cm_entries entries;        /* undirected edges in both directions */
  bool directed;             /* what the graph says of its edges */
  bool any_directed, any_edge;
  bool as_network;           /* directed whatever the graph says: the reader's user said so */
  cm_xml_graph_key key[CM_ROLES];
  /* the node or edge under way */
  bool in_node, in_edge, edge_directed, edge_both;
  uint32_t node, from, to;
  bool has_value[CM_ROLES];
  double value[2];           /* weight, delay */
} cm_xml_graph;

/* Reads a graph: `reader`, of so many bytes, is zeroed, begins with a cm_xml_graph and goes by `read`, which is given what `in` says; the graph becomes in->made.
 * `format` is for messages. */
cm_status cm_xml_graph_read(const cm_reading_of *in, const char *format, size_t bytes, cm_status (*read)(void *reader, const cm_reading_of *in, cm_error *error),
                            cm_error *error);

/* An attribute of edges or nodes: kept if it has a role and no commoner name has been met. */
void cm_xml_graph_add_key(cm_xml_graph *g, bool of_edges, const char *id, const char *name);
void cm_xml_graph_preset(cm_xml_graph *g, const char *id, const char *value);

/* A node begins; an edge begins; a value of it by its role, or by its key's id; it ends. */
cm_status cm_xml_graph_node(cm_xml_graph *g, const cm_xml *xml, const char *id, cm_error *error);
cm_status cm_xml_graph_edge(cm_xml_graph *g, const cm_xml *xml, const char *from, const char *to, bool directed, bool both,
                        cm_error *error);
cm_status cm_xml_graph_value(cm_xml_graph *g, const cm_xml *xml, cm_xml_graph_role role, const char *text, cm_error *error);
cm_status cm_xml_graph_value_of(cm_xml_graph *g, const cm_xml *xml, const char *id, const char *text, cm_error *error);
cm_status cm_xml_graph_end(cm_xml_graph *g, const cm_xml *xml, cm_error *error);
