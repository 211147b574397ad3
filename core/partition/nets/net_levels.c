#include "core/partition/nets/net_levels.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* A level has at least so many times fewer vertices than the finer one, or coarsening ends; at most the other. */
static const double shrink_least = 1.02, shrink_most = 2.5;

/* Larger nets say little about who belongs together and take long to ask. */
enum { PINS_MOST = 1000 };

typedef struct clustering {
  const cm_net_graph *graph;
  const uint32_t *label;
  uint64_t size_max;
  uint32_t *leader;  /* [vertices] of the cluster of each; NONE: alone */
  uint64_t *size;    /* [vertices] of the cluster that it leads */
  double *rating;    /* [vertices] of clusters for the vertex under way; 0 between vertices */
  uint32_t *met;     /* [vertices] */
  uint32_t *order;   /* [vertices] */
  cm_random random;
} clustering;

static uint32_t cluster_of(const clustering *c, uint32_t v)
{
  return c->leader[v] != NONE ? c->leader[v] : v;
}

/* The cluster that v had best join; those of one vertex before others as good, then by lot. */
static uint32_t best_cluster(clustering *c, uint32_t v)
{
  const cm_net_graph *g = c->graph;
  uint32_t count = 0, best = NONE, ties = 0;
  double most = 0;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    uint32_t e = g->net[j];
    uint64_t pins = g->net_first[e + 1] - g->net_first[e];
    if (pins > PINS_MOST)
      continue;
    double score = (double)g->net_weight[e] / (double)(pins - 1);
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      uint32_t u = g->pin[i], to = cluster_of(c, u);
      if (to == v || (c->label != NULL && c->label[u] != c->label[v]))
        continue;
      if (c->rating[to] == 0)
        c->met[count++] = to;
      c->rating[to] += score;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t to = c->met[i];
    double rating = c->rating[to];
    c->rating[to] = 0;
    if (rating < most || c->size[to] + g->size[v] > c->size_max)
      continue;
    bool single = c->leader[to] == NONE, before = best != NONE && c->leader[best] == NONE;
    if (rating > most || (single && !before))
      ties = 0;
    else if (!single && before)
      continue;
    if (cm_random_below(&c->random, ++ties) == 0)
      best = to;
    most = rating;
  }
  return best;
}

static void cluster_all(clustering *c, uint32_t least)
{
  uint32_t n = c->graph->vertex_count, left = n;
  cm_random_permutation(&c->random, c->order, n);
  memset(c->leader, 0xff, n * sizeof *c->leader);
  for (uint32_t v = 0; v < n; v++)
    c->size[v] = c->graph->size[v];
  for (uint32_t i = 0; i < n && left > least; i++) {
    uint32_t v = c->order[i], to;
    if (c->leader[v] != NONE || c->size[v] > c->size_max || (to = best_cluster(c, v)) == NONE)
      continue;
    c->leader[v] = c->leader[to] = to;
    c->size[to] += c->graph->size[v];
    left--;
  }
}

static uint32_t number(clustering *c, uint32_t *map)
{
  uint32_t n = c->graph->vertex_count, next = 0;
  memset(c->met, 0xff, n * sizeof *c->met);
  for (uint32_t v = 0; v < n; v++) {
    uint32_t *name = &c->met[cluster_of(c, v)];
    if (*name == NONE)
      *name = next++;
    map[v] = *name;
  }
  return next;
}

static cm_status allocate(clustering *c, uint32_t n, cm_run *run, cm_error *error)
{
  if (CM_NEW(run->memory, c->leader, n, error) != CM_OK || CM_NEW(run->memory, c->size, n, error) != CM_OK ||
      CM_NEW(run->memory, c->rating, n, error) != CM_OK || CM_NEW(run->memory, c->met, n, error) != CM_OK ||
      CM_NEW(run->memory, c->order, n, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static void release(clustering *c)
{
  cm_free(c->leader);
  cm_free(c->size);
  cm_free(c->rating);
  cm_free(c->met);
  cm_free(c->order);
}

/* One level more; *shrunk: whether it was worth it. `label` [vertices of the coarsest] follows. */
static cm_status add_level(cm_net_levels *levels, clustering *c, const cm_net_levels_options *o, uint32_t *label,
                           cm_run *run, bool *shrunk, cm_error *error)
{
  uint32_t l = levels->count - 1, *map;
  cm_net_graph *g = levels->graph[l];
  uint32_t n = g->vertex_count, least = (uint32_t)(n / shrink_most);
  c->graph = g;
  c->label = label;
  if (CM_NEW(run->memory, map, n, error) != CM_OK)
    return error->status;
  cluster_all(c, least > o->vertices_min ? least : o->vertices_min);
  uint32_t count = number(c, map);
  *shrunk = count * shrink_least < n;
  if (!*shrunk) {
    cm_free(map);
    return CM_OK;
  }
  if (cm_net_graph_contract(g, map, count, run, &levels->graph[l + 1], error) != CM_OK) {
    cm_free(map);
    return error->status;
  }
  if (label != NULL) {
    for (uint32_t v = 0; v < n; v++)
      c->order[map[v]] = label[v];
    memcpy(label, c->order, count * sizeof *label);
  }
  levels->map[l] = map;
  levels->count++;
  return CM_OK;
}

cm_status cm_net_levels_build(cm_net_graph *finest, const cm_net_levels_options *options, cm_run *run,
                              cm_net_levels *levels, cm_error *error)
{
  clustering c = {.size_max = options->size_max};
  uint32_t n = finest->vertex_count, *label = NULL;
  *levels = (cm_net_levels){.count = 1, .graph = {finest}};
  cm_random_init(&c.random, options->seed, CM_STREAM_NETS, options->stream);
  cm_status status = allocate(&c, n, run, error);
  if (status == CM_OK && options->label != NULL) {
    status = CM_NEW(run->memory, label, n, error);
    if (status == CM_OK)
      memcpy(label, options->label, n * sizeof *label);
  }
  bool shrunk = true;
  while (status == CM_OK && shrunk && levels->count < CM_NET_LEVELS_MAX &&
         levels->graph[levels->count - 1]->vertex_count > options->vertices_min) {
    status = add_level(levels, &c, options, label, run, &shrunk, error);
    if (status == CM_OK)
      status = cm_run_check(run, error);
  }
  release(&c);
  cm_free(label);
  if (status != CM_OK)
    cm_net_levels_free(levels);
  return status;
}

void cm_net_levels_free(cm_net_levels *levels)
{
  for (uint32_t l = levels->count; l-- > 1;) {
    cm_net_graph_free(levels->graph[l]);
    cm_free(levels->map[l - 1]);
  }
  *levels = (cm_net_levels){0};
}
