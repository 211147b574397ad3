#include "core/partition/nets/net_levels.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* A level has at least so many times fewer vertices than the finer one, or coarsening ends; at most the other. */
static const double shrink_min = 1.02, shrink_max = 2.5;

/* Larger nets say little about who belongs together and take long to ask: up to so many pins all are asked, then a few at a time, then
 * none. */
enum { PINS_ALL = 64, PINS_SOME = 1000, PINS_ASKED = 16 };

typedef struct clustering {
  const cm_net_graph *graph;
  const uint32_t *label;
  uint32_t vertices_min;
  uint64_t size_max;
  uint32_t *leader;  /* [vertices] of the cluster of each; of one that is alone itself */
  bool *joined;      /* [vertices] clusters of several */
  uint64_t *size;    /* [vertices] of the cluster that it leads */
  double *rating;    /* [vertices] of clusters for the vertex under way; 0 between vertices */
  uint32_t *met;     /* [vertices + 1] the last place is for what was met before */
  uint32_t *order;   /* [vertices] */
  cm_random random;
} clustering;

/* Adds what a net says about the clusters of its pins; of many pins a run that begins anywhere is asked. Returns how many clusters were
 * met by now. */
static uint32_t ask(clustering *c, uint32_t e, uint32_t count)
{
  const cm_net_graph *g = c->graph;
  uint64_t begin = g->net_first[e], end = g->net_first[e + 1], pins = end - begin;
  if (pins > PINS_SOME)
    return count;
  if (pins > PINS_ALL) {
    begin += cm_random_below(&c->random, pins - PINS_ASKED + 1);
    end = begin + PINS_ASKED;
  }
  double score = (double)g->net_weight[e] / (double)(pins - 1);
  for (uint64_t i = begin; i < end; i++) {
    uint32_t to = c->leader[g->pin[i]];
    c->met[count] = to;
    count += c->rating[to] == 0;
    c->rating[to] += score;
  }
  return count;
}

/* The cluster that v, which is alone, had best join; those of one vertex before others as good, then by lot. */
static uint32_t best_cluster(clustering *c, uint32_t v)
{
  const cm_net_graph *g = c->graph;
  uint32_t count = 0, best = NONE, ties = 0;
  double most = 0;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++)
    count = ask(c, g->net[j], count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t to = c->met[i];
    double rating = c->rating[to];
    c->rating[to] = 0;
    if (rating < most || to == v || c->size[to] + g->size[v] > c->size_max || (c->label != NULL && c->label[to] != c->label[v]))
      continue;
    bool single = !c->joined[to], before = best != NONE && !c->joined[best];
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
  memset(c->joined, 0, n * sizeof *c->joined);
  for (uint32_t v = 0; v < n; v++) {
    c->leader[v] = v;
    c->size[v] = c->graph->size[v];
  }
  for (uint32_t i = 0; i < n && left > least; i++) {
    uint32_t v = c->order[i], to;
    if (c->leader[v] != v || c->joined[v] || c->size[v] > c->size_max || (to = best_cluster(c, v)) == NONE)
      continue;
    c->leader[v] = to;
    c->joined[to] = true;
    c->size[to] += c->graph->size[v];
    left--;
  }
}

static uint32_t number(clustering *c, uint32_t *map)
{
  uint32_t n = c->graph->vertex_count, next = 0;
  memset(c->met, 0xff, n * sizeof *c->met);
  for (uint32_t v = 0; v < n; v++) {
    uint32_t *name = &c->met[c->leader[v]];
    if (*name == NONE)
      *name = next++;
    map[v] = *name;
  }
  return next;
}

static cm_status allocate(clustering *c, uint32_t n, cm_run *run, cm_error *error)
{
  if (CM_NEW(run->memory, c->leader, n, error) != CM_OK || CM_NEW(run->memory, c->size, n, error) != CM_OK ||
      CM_NEW(run->memory, c->rating, n, error) != CM_OK || CM_NEW(run->memory, c->met, (size_t)n + 1, error) != CM_OK ||
      CM_NEW(run->memory, c->order, n, error) != CM_OK || CM_NEW(run->memory, c->joined, n, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static void release(clustering *c)
{
  CM_FREE(c->leader, c->size, c->rating, c->met, c->order, c->joined);
}

static cm_status cluster_level(void *context, const cm_level *level, uint32_t *map, uint32_t *clusters, CM_UNUSED cm_error *error)
{
  clustering *c = context;
  c->graph = level->graph;
  c->label = level->label;
  uint32_t n = c->graph->vertex_count, least = (uint32_t)(n / shrink_max);
  cluster_all(c, least > c->vertices_min ? least : c->vertices_min);
  uint32_t count = number(c, map);
  *clusters = count * shrink_min < n ? count : n;
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
  const cm_coarsener coarsener = {&c, options->vertices_min, options->label, cluster_level, contract_level, release_level};
  cm_random_init(&c.random, options->seed, CM_STREAM_NETS, options->stream);
  cm_status status = allocate(&c, n, run, error);
  CM_THEN(status, cm_hierarchy_build(finest, n, &coarsener, run, hierarchy, error));
  release(&c);
  return status;
}
