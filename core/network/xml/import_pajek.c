/* Pajek's .net: "*Vertices N", a line each of number and name, then "*Arcs" (directed), "*Edges" (undirected), their lists, or a
 * "*Matrix".
 *
 * Happy path: a line that begins with a star says what follows. What can fail: numbers that are no vertex, sections that are not read;
 * see graph.c. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/table_rows.h"
#include "core/network/xml/xml_graph.h"

typedef enum section { NOTHING, VERTICES, ARCS, EDGES, ARC_LISTS, EDGE_LISTS, MATRIX, SECTIONS } section;

static const char *const sections[SECTIONS] = {"*network", "*vertices", "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix"};

typedef struct pajek {
  cm_xml_graph graph;
  cm_xml position; /* for messages */
  cm_table table;
  section section;
  uint32_t vertices, named; /* declared; those whose lines have been read, or passed */
  uint32_t row;             /* of the matrix */
} pajek;

static cm_status bad(pajek *p, const char *what, cm_error *error)
{
  p->position.line = (unsigned long)p->table.line;
  return cm_xml_bad(&p->position, what, error);
}

static cm_status vertex_number(pajek *p, const cm_field *f, uint64_t *number, cm_error *error)
{
  if (cm_field_whole(f->text, f->length, number) && *number >= 1 && *number <= p->vertices)
    return CM_OK;
  return bad(p, cm_say("'%.*s' is no vertex; 1 to %u is expected", cm_field_shown(f), f->text, p->vertices).text, error);
}

/* Vertices in order of their numbers, those whose lines are left out named by them. */
static cm_status declare(pajek *p, uint64_t upto, const cm_field *label, cm_error *error)
{
  char id[24], name[CM_NODE_TEXT_MAX];
  p->position.line = (unsigned long)p->table.line;
  while (p->named < upto) {
    (void)snprintf(id, sizeof id, "%u", ++p->named);
    if (label != NULL && p->named == upto && label->length < sizeof name)
      (void)snprintf(name, sizeof name, "%.*s", (int)label->length, label->text);
    else
      (void)snprintf(name, sizeof name, "%s", id);
    CM_TRY(cm_xml_graph_node(&p->graph, &p->position, id, error));
    CM_TRY(cm_xml_graph_value(&p->graph, &p->position, CM_ROLE_LABEL, name, error));
    CM_TRY(cm_xml_graph_end(&p->graph, &p->position, error));
  }
  return CM_OK;
}

static cm_status begin_section(pajek *p, cm_error *error)
{
  const cm_field *f = &p->table.fields[0];
  uint64_t count;
  section to = NOTHING;
  while (to < SECTIONS && (strlen(sections[to]) != f->length || strncasecmp(sections[to], f->text, f->length) != 0))
    to++;
  if (to == SECTIONS)
    return bad(p, cm_say("the section '%.*s' is not read", cm_field_shown(f), f->text).text, error);
  if (to == VERTICES) {
    if (p->vertices > 0)
      return bad(p, "a second network begins; one is read", error);
    if (p->table.field_count < 2 || !cm_field_whole(p->table.fields[1].text, p->table.fields[1].length, &count))
      return bad(p, "the number of vertices is expected behind *Vertices", error);
    if (count > p->table.limits->vertices_max)
      return cm_over_limit("vertices", count, p->table.limits->vertices_max, error);
    p->vertices = (uint32_t)count;
  } else if (to != NOTHING && declare(p, p->vertices, NULL, error) != CM_OK)
    return error->status;
  p->section = to;
  p->graph.directed = p->graph.directed || to == ARCS || to == ARC_LISTS || to == MATRIX;
  return CM_OK;
}

static cm_status read_vertex(pajek *p, cm_error *error)
{
  uint64_t number;
  CM_TRY(vertex_number(p, &p->table.fields[0], &number, error));
  if (number <= p->named)
    return bad(p, "vertices are expected in the order of their numbers, each once", error);
  return declare(p, number, p->table.field_count > 1 && p->table.fields[1].length > 0 ? &p->table.fields[1] : NULL, error);
}

static cm_status add_edge(pajek *p, uint64_t from, uint64_t to, const cm_field *weight, cm_error *error)
{
  const bool directed = p->section == ARCS || p->section == ARC_LISTS || p->section == MATRIX;
  char end[2][24], text[64];
  p->position.line = (unsigned long)p->table.line;
  (void)snprintf(end[0], sizeof end[0], "%llu", (unsigned long long)from);
  (void)snprintf(end[1], sizeof end[1], "%llu", (unsigned long long)to);
  CM_TRY(cm_xml_graph_edge(&p->graph, &p->position, end[0], end[1], directed, !directed, error));
  if (weight != NULL)
    CM_TRY(cm_xml_graph_value(&p->graph, &p->position, CM_ROLE_WEIGHT, cm_say("%.*s",
                                                            (int)(weight->length < sizeof text ? weight->length : sizeof text - 1),
                                                            weight->text).text, error));
  return cm_xml_graph_end(&p->graph, &p->position, error);
}

static cm_status read_matrix_row(pajek *p, cm_error *error)
{
  double value;
  if (p->table.field_count != p->vertices || ++p->row > p->vertices)
    return bad(p, "a matrix has as many rows, and numbers in each, as there are vertices", error);
  for (uint32_t i = 0; i < p->vertices; i++) {
    CM_TRY(cm_table_number(&p->table, &p->table.fields[i], "weight", &value, error));
    CM_TRY_IF(value != 0, add_edge(p, p->row, i + UINT64_C(1), &p->table.fields[i], error));
  }
  return CM_OK;
}

static cm_status read_row(pajek *p, cm_error *error)
{
  const bool lists = p->section == ARC_LISTS || p->section == EDGE_LISTS;
  const cm_table *t = &p->table;
  uint64_t from, to;
  if (p->section == NOTHING)
    return bad(p, "*Vertices is expected first", error);
  if (p->section == VERTICES)
    return read_vertex(p, error);
  if (p->section == MATRIX)
    return read_matrix_row(p, error);
  if (t->field_count < 2)
    return bad(p, "two vertices are expected", error);
  CM_TRY(vertex_number(p, &t->fields[0], &from, error));
  for (size_t i = 1; i < (lists ? t->field_count : 2); i++)
    if (vertex_number(p, &t->fields[i], &to, error) != CM_OK ||
        add_edge(p, from, to, !lists && t->field_count > 2 ? &t->fields[2] : NULL, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status read_lines(pajek *p, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  for (;;) {
    p->table.separator = ' ';
    CM_TRY(cm_table_next_row(&p->table, &line, &length, &end, error));
    if (end)
      return declare(p, p->vertices, NULL, error);
    if (p->table.fields[0].text[0] == '*' ? begin_section(p, error) != CM_OK : read_row(p, error) != CM_OK)
      return error->status;
  }
}

static cm_status read_network(void *reader, const cm_reading_of *in, cm_error *error)
{
  pajek *p = reader;
  p->position.format = "Pajek network";
  p->table = (cm_table){.source = in->source, .what = "Pajek network", .limits = in->limits, .run = in->run, .memory = in->run->memory, .named = true};
  const cm_status status = read_lines(p, error);
  cm_table_free(&p->table);
  return status;
}

cm_status cm_import_pajek(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "Pajek network", sizeof(pajek), read_network, error);
}
