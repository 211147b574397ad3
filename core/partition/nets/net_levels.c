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
  uint32_t vertices_min;
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

static cm_status cluster_level(void *context, const void *graph, uint32_t level, const uint32_t *label, uint32_t *map,
                               uint32_t *clusters, cm_error *error)
{
  clustering *c = context;
  c->graph = graph;
  c->label = label;
  uint32_t n = c->graph->vertex_count, least = (uint32_t)(n / shrink_most);
  cluster_all(c, least > c->vertices_min ? least : c->vertices_min);
  uint32_t count = number(c, map);
  *clusters = count * shrink_least < n ? count : n;
  (void)level;
  (void)error;
  return CM_OK;
}

static cm_status contract_level(const void *graph, const uint32_t *map, uint32_t clusters, cm_run *run, void **coarse,
                                cm_error *error)
{
  cm_net_graph *made;
  cm_status status = cm_net_graph_contract(graph, map, clusters, run, &made, error);
  if (status == CM_OK)
    *coarse = made;
  return status;
}

static void release_level(void *graph)
{
  cm_net_graph_free(graph);
}

cm_status cm_net_levels_build(cm_net_graph *finest, const cm_net_levels_options *options, cm_run *run, cm_hierarchy *hierarchy,
                              cm_error *error)
{
  uint32_t n = finest->vertex_count;
  clustering c = {.vertices_min = options->vertices_min, .size_max = options->size_max};
  const cm_coarsener coarsener = {&c, options->vertices_min, cluster_level, contract_level, release_level};
  cm_random_init(&c.random, options->seed, CM_STREAM_NETS, options->stream);
  cm_status status = allocate(&c, n, run, error);
  if (status == CM_OK)
    status = cm_hierarchy_build(finest, n, options->label, &coarsener, run, hierarchy, error);
  release(&c);
  return status;
}
