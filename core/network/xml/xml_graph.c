/* Happy path: ids become numbers as they are met, edges go into plain arrays; at the end all ids must have been declared. What
 * can fail: edges that name no node, weights and delays that are no numbers, names that are no text. */
#include "core/network/xml/xml_graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/table_rows.h"
#include "core/network/import_limits.h"

static const char *const label_words[] = {"name", "label", NULL};
static const char *const population_words[] = {"population", "layer", "cell_type", "celltype", "group", NULL};

static cm_status open_graph(cm_xml_graph *g, const cm_reading_of *in, cm_error *error)
{
  cm_run *run = in->run;
  *g = (cm_xml_graph){.limits = in->limits, .run = run, .memory = run->memory, .labelled = true,
                       .entries = {.memory = run->memory, .run = run, .limit = in->limits->pins_max}};
  cm_weights_as_asked(&g->entries.weight, in->source);
  g->as_network = cm_source_wants_synapses(in->source);
  return cm_names_open(&g->ids, run->memory, error) == CM_OK && cm_names_open(&g->labels, run->memory, error) == CM_OK
           ? cm_names_open(&g->populations, run->memory, error)
           : error->status;
}

static void free_graph(cm_xml_graph *g)
{
  cm_names_close(&g->ids);
  cm_names_close(&g->labels);
  cm_names_close(&g->populations);
  CM_FREE(g->declared, g->population_of, g->is_input);
  cm_entries_free(&g->entries);
}

/* ---- attributes ---- */

static int rank_of(const char *name, const char *const *words)
{
  for (int i = 0; words[i] != NULL; i++)
    if (strcasecmp(words[i], name) == 0)
      return i;
  return -1;
}

void cm_xml_graph_add_key(cm_xml_graph *g, bool of_edges, const char *id, const char *name)
{
  for (cm_xml_graph_role role = of_edges ? CM_ROLE_WEIGHT : CM_ROLE_LABEL; role <= (of_edges ? CM_ROLE_DELAY : CM_ROLE_POPULATION);
       role++) {
    int rank = of_edges ? cm_column_word(name, strlen(name), role == CM_ROLE_WEIGHT ? CM_COLUMN_WEIGHT : CM_COLUMN_DELAY)
                        : rank_of(name, role == CM_ROLE_LABEL ? label_words : population_words);
    cm_xml_graph_key *key = &g->key[role];
    if (rank < 0 || strlen(id) >= CM_KEY_MAX || (key->count > 0 && key->rank < rank))
      continue;
    if (key->count == 0 || key->rank > rank)
      *key = (cm_xml_graph_key){.rank = rank};
    if (key->count < CM_KEYS_MAX)
      (void)snprintf(key->id[key->count++], CM_KEY_MAX, "%s", id);
  }
}

static bool has_role(const cm_xml_graph *g, int role, const char *id)
{
  for (unsigned i = 0; i < g->key[role].count; i++)
    if (strcmp(g->key[role].id[i], id) == 0)
      return true;
  return false;
}

void cm_xml_graph_preset(cm_xml_graph *g, const char *id, const char *value)
{
  for (int role = 0; role < CM_ROLES; role++)
    if (has_role(g, role, id) && strlen(value) < CM_KEY_MAX)
      (void)snprintf(g->key[role].preset, CM_KEY_MAX, "%s", value);
}

static cm_status bad_name(const cm_xml *xml, const char *what, const char *text, cm_error *error)
{
  return cm_xml_bad(xml, cm_say("the %s %s", what,
                                text == NULL || text[0] == '\0'           ? "is missing" : strlen(text) >= CM_NODE_TEXT_MAX        ? "has more than "
                                        "1023 bytes" : "has control characters").text, error);
}

static bool good_name(const char *text)
{
  return text != NULL && text[0] != '\0' && strlen(text) < CM_NODE_TEXT_MAX && cm_name_valid(text, strlen(text));
}

static cm_status number(const cm_xml *xml, const char *what, const char *text, double *value, cm_error *error)
{
  const cm_field field = {text, strlen(text)};
  if (cm_field_number(&field, value) && isfinite(*value))
    return CM_OK;
  return cm_xml_bad(xml, cm_say("the %s '%.40s' is no finite number", what, text).text, error);
}

cm_status cm_xml_graph_value(cm_xml_graph *g, const cm_xml *xml, cm_xml_graph_role role, const char *text, cm_error *error)
{
  uint32_t found;
  bool of_edges = role <= CM_ROLE_DELAY;
  if ((of_edges && !g->in_edge) || (!of_edges && !g->in_node) || text[0] == '\0')
    return CM_OK;
  g->has_value[role] = true;
  if (of_edges) {
    CM_TRY(number(xml, role == CM_ROLE_WEIGHT ? "weight" : "delay", text, &g->value[role], error));
    return role == CM_ROLE_DELAY && g->value[role] < 0 ? cm_xml_bad(xml, "the delay is negative", error) : CM_OK;
  }
  if (!good_name(text))
    return bad_name(xml, role == CM_ROLE_LABEL ? "label" : "population", text, error);
  if (role == CM_ROLE_LABEL) {
    if (!g->labelled)
      return CM_OK;
    CM_TRY(cm_names_number(&g->labels, text, strlen(text), g->limits->vertices_max, &found, error));
    g->labelled = found == g->node;
    return CM_OK;
  }
  CM_TRY(cm_names_number(&g->populations, text, strlen(text), CM_POPULATIONS_MAX, &found, error));
  g->population_of[g->node] = found + 1;
  return CM_OK;
}

cm_status cm_xml_graph_value_of(cm_xml_graph *g, const cm_xml *xml, const char *id, const char *text, cm_error *error)
{
  for (int role = 0; role < CM_ROLES; role++)
    if (has_role(g, role, id))
      return cm_xml_graph_value(g, xml, (cm_xml_graph_role)role, text, error);
  return CM_OK;
}

/* ---- nodes and edges ---- */

/* The vertex of an id, which may be mentioned before it is declared. */
static cm_status vertex_of(cm_xml_graph *g, const cm_xml *xml, const char *what, const char *id, uint32_t *vertex,
                           cm_error *error)
{
  if (!good_name(id))
    return bad_name(xml, what, id, error);
  uint32_t before = g->ids.count;
  CM_TRY(cm_names_number(&g->ids, id, strlen(id), g->limits->vertices_max, vertex, error));
  CM_TRY(CM_ROOM(g->memory, g->declared, &g->declared_room, g->ids.count, error));
  CM_TRY(CM_ROOM(g->memory, g->population_of, &g->population_room, g->ids.count, error));
  if (g->ids.count > before) {
    g->declared[before] = 0;
    g->population_of[before] = 0;
  }
  return CM_OK;
}

cm_status cm_xml_graph_node(cm_xml_graph *g, const cm_xml *xml, const char *id, cm_error *error)
{
  if (g->in_node || g->in_edge)
    return cm_xml_bad(xml, "nodes inside nodes are not read: flatten the graph", error);
  CM_TRY(vertex_of(g, xml, "node's id", id, &g->node, error));
  if (g->declared[g->node])
    return cm_xml_bad(xml, cm_say("the node '%.60s' stands twice", id).text, error);
  g->declared[g->node] = 1;
  g->in_node = true;
  memset(g->has_value, 0, sizeof g->has_value);
  return CM_OK;
}

cm_status cm_xml_graph_edge(cm_xml_graph *g, const cm_xml *xml, const char *from, const char *to, bool directed, bool both,
                        cm_error *error)
{
  if (g->in_node || g->in_edge)
    return cm_xml_bad(xml, "edges inside nodes or edges are not read: flatten the graph", error);
  CM_TRY(vertex_of(g, xml, "edge's source", from, &g->from, error));
  CM_TRY(vertex_of(g, xml, "edge's target", to, &g->to, error));
  g->in_edge = true;
  g->edge_directed = directed;
  g->edge_both = both;
  memset(g->has_value, 0, sizeof g->has_value);
  return CM_OK;
}

static cm_status end_edge(cm_xml_graph *g, cm_error *error)
{
  double weight = g->has_value[CM_ROLE_WEIGHT] ? g->value[CM_ROLE_WEIGHT] : 1;
  double delay_ms = g->has_value[CM_ROLE_DELAY] ? g->value[CM_ROLE_DELAY] : -1;
  g->in_edge = false;
  g->any_edge = true;
  g->any_directed = g->any_directed || g->edge_directed;
  CM_TRY(cm_entries_add(&g->entries, g->from, g->to, weight, delay_ms, error));
  return g->edge_both && g->from != g->to ? cm_entries_add(&g->entries, g->to, g->from, weight, delay_ms, error) : CM_OK;
}

cm_status cm_xml_graph_end(cm_xml_graph *g, const cm_xml *xml, cm_error *error)
{
  for (int role = g->in_edge ? CM_ROLE_WEIGHT : CM_ROLE_LABEL; role <= (g->in_edge ? CM_ROLE_DELAY : CM_ROLE_POPULATION); role++)
    CM_TRY_IF(!g->has_value[role] && g->key[role].preset[0] != '\0', cm_xml_graph_value(g, xml, (cm_xml_graph_role)role, g->key[role].preset, error));
  if (g->in_edge)
    return end_edge(g, error);
  g->labelled = g->labelled && g->has_value[CM_ROLE_LABEL];
  g->in_node = false;
  return CM_OK;
}

/* ---- the whole ---- */

static cm_status refuse_undeclared(const cm_xml_graph *g, const char *format, cm_error *error)
{
  uint64_t missing = 0;
  uint32_t first = 0;
  for (uint32_t v = g->ids.count; v-- > 0;)
    if (!g->declared[v]) {
      missing++;
      first = v;
    }
  if (missing == 0)
    return CM_OK;
  return cm_fail(error, CM_BAD_NETWORK, "%s: edges name %llu node%s that the file does not declare, the first is '%.60s'", format,
                 (unsigned long long)missing, missing == 1 ? "" : "s", g->ids.text + g->ids.first[first]);
}

static cm_status close_populations(cm_xml_graph *g, cm_topology *made, cm_error *error)
{
  uint32_t none = 0;
  for (uint32_t v = 0; v < g->ids.count; v++)
    if (g->population_of[v] == 0 && none == 0) {
      CM_TRY(cm_names_number(&g->populations, "none", strlen("none"), CM_POPULATIONS_MAX, &none, error));
      g->population_of[v] = ++none;
    } else if (g->population_of[v] == 0)
      g->population_of[v] = none;
  for (uint32_t v = 0; v < g->ids.count; v++)
    g->population_of[v]--;
  CM_TRIM(g->memory, g->population_of, g->ids.count);
  return cm_populations_take(made, &g->populations, &g->population_of, g->memory, error);
}

static cm_status fill(cm_xml_graph *g, cm_topology *made, cm_error *error)
{
  made->directed = g->as_network || g->any_directed || (!g->any_edge && g->directed);
  made->vertex_count = g->ids.count;
  made->size_total = made->vertex_count;
  if (g->populations.count > 0)
    CM_TRY(close_populations(g, made, error));
  for (uint32_t p = 0; p < made->population_count && p < g->is_input_room; p++)
    if (g->is_input[p])
      (void)snprintf(made->population[p].kind, sizeof made->population[p].kind, "%s", CM_INPUT_KIND);
  cm_labels_take(made, g->labelled && g->labels.count == g->ids.count ? &g->labels : &g->ids);
  if (!made->directed)
    made->self_loop_count = cm_entries_drop_loops(&g->entries);
  return cm_entries_close(&g->entries, made, error);
}

cm_status cm_xml_graph_read(const cm_reading_of *in, const char *format, size_t bytes, cm_status (*read)(void *reader, const cm_reading_of *in, cm_error *error),
                            cm_error *error)
{
  uint8_t *reader = NULL;
  CM_TRY(CM_NEW(in->run->memory, reader, bytes, error));
  cm_xml_graph *g = (cm_xml_graph *)(void *)reader;
  cm_status status = open_graph(g, in, error);
  CM_THEN(status, read(reader, in, error));
  CM_THEN(status, refuse_undeclared(g, format, error));
  CM_THEN(status, fill(g, in->made, error));
  free_graph(g);
  cm_free(reader);
  return status;
}
