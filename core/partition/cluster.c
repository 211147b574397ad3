#include "core/partition/cluster.h"

#include <math.h>

#include "core/base/random.h"
#include "core/partition/options.h"

enum { CHECK_EVERY = 1024 };

typedef struct clustering {
  const cm_hypergraph *graph;
  const cm_cluster_options *options;
  uint32_t *leader;  /* [vertices] cluster of each vertex, named by one member */
  uint32_t *size;    /* [vertices] of the cluster that the vertex leads, in vertex size */
  uint32_t *members; /* [vertices] of the cluster that the vertex leads */
  float *shared;     /* [vertices] by leader: nets shared with the vertex under way, zero between vertices */
  uint32_t *touched; /* [vertices] */
} clustering;

/* Gathers how many sampled inbound nets each cluster shares with v, or for a vertex without any how many of its own
 * nets' targets it holds; returns the number of clusters met. */
static uint32_t gather(clustering *c, uint32_t v, uint64_t *asked)
{
  const cm_hypergraph *g = c->graph;
  uint64_t degree = g->in_first[v + 1] - g->in_first[v];
  const uint32_t *net = g->in_net + g->in_first[v];
  if (degree == 0) {
    degree = g->out_first[v + 1] - g->out_first[v];
    net = g->out_net + g->out_first[v];
  }
  uint64_t take = degree < c->options->samples ? degree : c->options->samples;
  uint32_t count = 0;
  for (uint64_t j = 0; j < take; j++) {
    uint32_t e = net[j * degree / take]; /* evenly spread over its nets */
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      uint32_t leader = c->leader[g->pin[i]];
      if (c->shared[leader] == 0)
        c->touched[count++] = leader;
      c->shared[leader] += 1;
    }
  }
  *asked = take;
  return count;
}

static void join_best(clustering *c, uint32_t v)
{
  uint64_t asked;
  uint32_t count = gather(c, v, &asked), best = v;
  float best_rating = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t leader = c->touched[i];
    float rating = c->shared[leader] / (float)c->members[leader];
    c->shared[leader] = 0;
    if (leader == v || c->size[leader] + c->graph->size[v] > c->options->size_max ||
        rating < (float)c->options->floor * (float)asked)
      continue;
    if (rating > best_rating || (rating == best_rating && leader < best)) {
      best_rating = rating;
      best = leader;
    }
  }
  if (best == v)
    return;
  c->leader[v] = best;
  c->size[best] += c->graph->size[v];
  c->members[best]++;
}

static uint32_t number_clusters(const clustering *c, uint32_t *map)
{
  uint32_t n = c->graph->vertex_count, next = 0;
  for (uint32_t v = 0; v < n; v++)
    c->touched[v] = UINT32_MAX;
  for (uint32_t v = 0; v < n; v++) {
    uint32_t leader = c->leader[v];
    if (c->touched[leader] == UINT32_MAX)
      c->touched[leader] = next++;
    map[v] = c->touched[leader];
  }
  return next;
}

cm_status cm_cluster(const cm_hypergraph *graph, const cm_cluster_options *options, cm_run *run, uint32_t *map,
                     uint32_t *clusters, cm_error *error)
{
  clustering c = {.graph = graph, .options = options};
  uint32_t n = graph->vertex_count, *order = NULL;
  cm_status status = CM_NEW(run->memory, c.leader, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, c.size, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, c.members, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, c.shared, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, c.touched, n, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, order, n, error);
  if (status == CM_OK) {
    cm_random random;
    cm_random_init(&random, options->seed, CM_STREAM_COARSENING, options->level << 32 | 1);
    cm_random_permutation(&random, order, n);
    for (uint32_t v = 0; v < n; v++) {
      c.leader[v] = v;
      c.size[v] = graph->size[v];
      c.members[v] = 1;
    }
  }
  for (uint32_t i = 0; i < n && status == CM_OK; i++) {
    uint32_t v = order[i];
    if (c.leader[v] == v && c.members[v] == 1)
      join_best(&c, v);
    if (i % CHECK_EVERY == 0)
      status = cm_run_progress(run, (double)i / n, (int)options->level, n, NAN, error);
  }
  if (status == CM_OK)
    *clusters = number_clusters(&c, map);
  cm_free(c.leader);
  cm_free(c.size);
  cm_free(c.members);
  cm_free(c.shared);
  cm_free(c.touched);
  cm_free(order);
  return status;
}
