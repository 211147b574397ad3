/* Happy path: every node by its type, every edge by its two names; an edge to a nested graph goes to its Input, one from it
 * comes from its Output. What can fail: a type that is none of the specification's, a parameter that is missing or of another
 * shape, edges that name no node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/hdf5/h5.h"
#include "core/network/hdf5/nir.h"
#include "core/network/import_limits.h"
#include "core/network/names.h"

enum { NESTED_MAX = 32, NO_NODE = -1 };

static const struct {
  const char *name;
  nir_kind kind;
} types[] = {
  {"IF", NIR_UNIT}, {"LIF", NIR_UNIT}, {"CubaLIF", NIR_UNIT}, {"I", NIR_UNIT}, {"LI", NIR_UNIT}, {"CubaLI", NIR_UNIT},
  {"Threshold", NIR_UNIT}, {"Input", NIR_IDENTITY}, {"Output", NIR_IDENTITY}, {"Flatten", NIR_IDENTITY},
  {"Affine", NIR_AFFINE}, {"Linear", NIR_AFFINE}, {"Conv1d", NIR_CONV}, {"Conv2d", NIR_CONV}, {"SumPool2d", NIR_POOL},
  {"AvgPool2d", NIR_POOL}, {"Scale", NIR_SCALE}, {"Delay", NIR_DELAY},
};

/* A name inside one graph and what it stands for: where edges enter and leave. */
typedef struct local {
  const char *name;
  int64_t in, out;             /* node numbers; NO_NODE: a nested graph without Input or Output, or with several */
  uint32_t inputs, outputs;    /* of a nested graph; 1: a plain node */
} local;

typedef struct scope {
  local *local;
  uint64_t count;
  cm_h5_texts names;
} scope;

/* Where a graph is nested. */
typedef struct nested {
  const char *prefix; /* of its nodes' names */
  int depth;
} nested;

static cm_status read_graph(const cm_h5 *h5, nir_graph *g, hid_t group, const nested *in, local *self, cm_error *error);

static cm_status read_node(const cm_h5 *h5, nir_graph *g, hid_t nodes, const nested *in, local *l, cm_error *error)
{
  hid_t group;
  char type[CM_POPULATION_KIND_MAX], name[2 * CM_H5_TEXT_MAX];
  CM_TRY(cm_h5_object(h5, nodes, l->name, &group, error));
  cm_status status = cm_h5_string(h5, group, "type", type, sizeof type, error);
  (void)snprintf(name, sizeof name, "%s%s%s", in->prefix, in->prefix[0] != '\0' ? "." : "", l->name);
  if (status == CM_OK && (strlen(name) >= NIR_NAME_MAX || !cm_name_valid(name, strlen(name))))
    status = cm_h5_bad(h5, group, NULL, "its name has more than 119 bytes, or control characters", error);
  if (status == CM_OK && strcmp(type, "NIRGraph") == 0)
    status = read_graph(h5, g, group, &(nested){name, in->depth + 1}, l, error);
  else if (status == CM_OK) {
    size_t i = 0;
    while (i < sizeof types / sizeof *types && strcmp(types[i].name, type) != 0)
      i++;
    if (i == sizeof types / sizeof *types) {
      status = cm_h5_bad(h5, group, NULL,
                         cm_say("its type '%s' is none that can be read (IF, LIF, CubaLIF, I, LI, CubaLI, Threshold, Affine, Linear, Conv1d, "
                                 "Conv2d, pools, Flatten, Scale, Delay)", type).text, error);
    } else if (g->count >= NIR_NODES_MAX)
      status = cm_over_limit("nodes", g->count + 1, NIR_NODES_MAX, error);
    else if ((status = CM_ROOM(g->memory, g->node, &g->room, g->count + UINT64_C(1), error)) == CM_OK) {
      nir_node *n = &g->node[g->count];
      *n = (nir_node){.kind = types[i].kind, .groups = 1, .format = "NIR network", .place = "/node/nodes/"};
      (void)snprintf(n->name, sizeof n->name, "%.*s", (int)sizeof n->name - 1, name);
      (void)snprintf(n->type, sizeof n->type, "%s", type);
      l->in = l->out = g->count++;
      l->inputs = l->outputs = 1;
      status = nir_read_parameters(h5, group, n, error);
      if (status == CM_OK && in->depth == 0 && strcmp(type, "Input") == 0) {
        n->input = true;
        n->kind = NIR_UNIT;
        n->model = CM_NEURON_INPUT;
      }
    }
  }
  (void)H5Oclose(group);
  return status;
}

static const local *find(const scope *s, const char *name)
{
  for (uint64_t i = 0; i < s->count; i++)
    if (strcmp(s->local[i].name, name) == 0)
      return &s->local[i];
  return NULL;
}

/* The refusal of edges whose ends are no nodes: all of them, and what there is. */
static cm_status refuse_edges(const cm_h5 *h5, hid_t group, const scope *s, const cm_h5_texts *ends, const char *prefix,
                              cm_error *error)
{
  enum { SHOWN = 8 };
  char list[600] = "", nodes[300] = "";
  size_t used = 0;
  uint64_t bad = 0;
  for (uint64_t i = 0; i + 1 < ends->count; i += 2) {
    const char *from = cm_h5_text_at(ends, i), *to = cm_h5_text_at(ends, i + 1);
    if (find(s, from) != NULL && find(s, to) != NULL)
      continue;
    if (bad++ < SHOWN && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s -> %.40s", bad == 1 ? "" : ", ", from, to);
  }
  used = 0;
  for (uint64_t i = 0; i < s->count && used < sizeof nodes; i++)
    used += (size_t)snprintf(nodes + used, sizeof nodes - used, "%s%.40s", i == 0 ? "" : ", ", s->local[i].name);
  return cm_h5_bad(h5, group, "edges", cm_say("%llu edge%s of %s%s name nodes that do not exist: %s%s; its nodes are %s", (unsigned long long)bad,
                                              bad == 1 ? "" : "s", prefix[0] != '\0' ? "graph " : "the graph", prefix, list,
                                                bad > SHOWN ? ", ..." : "", nodes).text, error);
}

static cm_status read_edges(const cm_h5 *h5, nir_graph *g, hid_t group, const scope *s, const char *prefix, cm_error *error)
{
  cm_h5_texts ends;
  cm_h5_extents is;
  CM_TRY(cm_h5_strings(h5, group, "edges", &ends, &is, error));
  cm_status status = CM_OK;
  if (ends.count > 0 && (is.rank != 2 || is.dim[1] != 2))
    status = cm_h5_bad(h5, group, "edges", "pairs of node names are expected", error);
  for (uint64_t i = 0; i + 1 < ends.count && status == CM_OK; i += 2) {
    const local *from = find(s, cm_h5_text_at(&ends, i)), *to = find(s, cm_h5_text_at(&ends, i + 1));
    if (from == NULL || to == NULL) {
      status = refuse_edges(h5, group, s, &ends, prefix, error);
      break;
    }
    if (from->outputs != 1 || to->inputs != 1) {
      const local *wrong = from->outputs != 1 ? from : to;
      status = cm_h5_bad(h5, group, "edges", cm_say("graph '%.60s' has %u %s; an edge needs exactly one", wrong->name,
                                                    wrong == from ? wrong->outputs : wrong->inputs,
                                                      wrong == from ? "Output nodes" : "Input nodes").text, error);
      break;
    }
    status = CM_ROOM(g->memory, g->edge, &g->edge_room, g->edge_count + 1, error);
    if (status == CM_OK) {
      g->edge[g->edge_count][0] = (uint32_t)from->out;
      g->edge[g->edge_count++][1] = (uint32_t)to->in;
    }
  }
  cm_h5_texts_free(&ends);
  return status;
}

static cm_status read_graph(const cm_h5 *h5, nir_graph *g, hid_t group, const nested *in, local *self, cm_error *error)
{
  hid_t nodes;
  scope s = {0};
  if (in->depth > NESTED_MAX)
    return cm_h5_bad(h5, group, NULL, "graphs are nested more than 32 deep", error);
  CM_TRY(cm_h5_object(h5, group, "nodes", &nodes, error));
  cm_status status = cm_h5_names(h5, nodes, &s.names, error);
  CM_THEN(status, CM_NEW(g->memory, s.local, s.names.count, error));
  s.count = status == CM_OK ? s.names.count : 0;
  for (uint64_t i = 0; i < s.count && status == CM_OK; i++) {
    s.local[i] = (local){.name = cm_h5_text_at(&s.names, i), .in = NO_NODE, .out = NO_NODE};
    uint32_t before = g->count;
    status = read_node(h5, g, nodes, in, &s.local[i], error);
    if (status != CM_OK || self == NULL || g->count != before + 1 || s.local[i].in != before)
      continue;
    if (strcmp(g->node[before].type, "Input") == 0) {
      self->in = before;
      self->inputs++;
    } else if (strcmp(g->node[before].type, "Output") == 0) {
      self->out = before;
      self->outputs++;
    }
  }
  CM_THEN(status, read_edges(h5, g, group, &s, in->prefix, error));
  cm_free(s.local);
  cm_h5_texts_free(&s.names);
  (void)H5Oclose(nodes);
  return status;
}

static int by_ends(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

cm_status nir_link(nir_graph *g, cm_error *error)
{
  if (g->edge_count > 0)
    qsort(g->edge, g->edge_count, sizeof *g->edge, by_ends);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < g->edge_count; i++)
    if (i == 0 || by_ends(g->edge[i], g->edge[i - 1]) != 0)
      memmove(g->edge[kept++], g->edge[i], sizeof *g->edge);
  g->edge_count = kept;
  for (uint64_t i = 0; i < kept;) {
    uint64_t end = i;
    while (end < kept && g->edge[end][0] == g->edge[i][0])
      end++;
    nir_node *n = &g->node[g->edge[i][0]];
    CM_TRY(CM_NEW(g->memory, n->next, end - i, error));
    for (; i < end; i++)
      n->next[n->next_count++] = g->edge[i][1];
  }
  return CM_OK;
}

cm_status nir_read(const cm_h5 *h5, nir_graph *g, cm_error *error)
{
  hid_t group;
  char type[CM_POPULATION_KIND_MAX];
  CM_TRY(cm_h5_object(h5, h5->file, "node", &group, error));
  cm_status status = cm_h5_string(h5, group, "type", type, sizeof type, error);
  if (status == CM_OK && strcmp(type, "NIRGraph") != 0)
    status = cm_h5_bad(h5, group, "type", "a NIRGraph is expected", error);
  CM_THEN(status, read_graph(h5, g, group, &(nested){"", 0}, NULL, error));
  (void)H5Oclose(group);
  if (status == CM_OK && nir_without_model(g) == NULL)
    status = nir_keep_nodes(h5, g, error);
  return status == CM_OK ? nir_link(g, error) : status;
}

void nir_free(nir_graph *g)
{
  for (uint32_t i = 0; i < g->count; i++) {
    cm_free(g->node[i].weight);
    for (int p = 0; p < CM_NEURON_PARAMETERS; p++)
      cm_free(g->node[i].parameter[p].value);
    cm_free(g->node[i].next);
  }
  CM_FREE(g->node, g->edge, g->unit, g->nodes, g->number);
}
