/* A linear order by clusters of clusters. The coarsest ones are ordered greedily; then, level by level, a cluster's
 * members take its place in the order of the mean place of their neighbours. */
#include <stdlib.h>

#include "base/order.h"
#include "core/partition/edge/clustering.h"
#include "core/placement/curve.h"
#include "core/placement/blocks.h"

enum { COARSEST = 1000 };
static const double growth = 4;

/* The coarsest graph as the greedy order wants it. */
static cm_status order_coarsest(const cm_csr_graph *c, cm_run *run, uint32_t *order, cm_error *error)
{
  uint64_t *weight;
  cm_graph *graph;
  CM_TRY(CM_NEW(run->memory, weight, c->entry_count, error));
  for (uint64_t i = 0; i < c->entry_count; i++)
    weight[i] = cm_csr_graph_weight(c, i);
  cm_status status = cm_graph_from_rows(c->vertex_count, c->first, c->neighbour, weight, run, &graph, error);
  cm_free(weight);
  CM_TRY(status);
  status = cm_order_parts(graph, run, order, error);
  cm_graph_free(graph);
  return status;
}

/* A member of a cluster and where its neighbours stand on average. */
typedef struct member {
  double mean;
  uint32_t vertex;
} member;

CM_ORDER(by_mean, member, CM_RISING(mean) CM_RISING(vertex))

/* From the order of a level's clusters to that of their members. */
static cm_status expand(const cm_hierarchy *h, uint32_t level, cm_run *run, uint32_t *order, cm_error *error)
{
  const cm_csr_graph *fine = h->level[level];
  const uint32_t *map = h->map[level], clusters = h->vertices[level + 1];
  uint32_t n = fine->vertex_count, *begin = NULL, *rank = NULL;
  member *list;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(list, n), CM_ARRAY(begin, (size_t)clusters + 1),
                                CM_ARRAY(rank, clusters));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < clusters; i++)
      rank[order[i]] = i;
    for (uint32_t v = 0; v < n; v++)
      begin[rank[map[v]] + 1]++;
    for (uint32_t i = 0; i < clusters; i++)
      begin[i + 1] += begin[i];
    for (uint32_t v = 0; v < n; v++) {
      uint32_t own = rank[map[v]];
      double sum = 0, weight = 0;
      for (uint64_t i = fine->first[v]; i < fine->first[v + 1]; i++) {
        double w = (double)cm_csr_graph_weight(fine, i);
        sum += w * rank[map[fine->neighbour[i]]];
        weight += w;
      }
      list[begin[own]++] = (member){weight > 0 ? sum / weight : own, v};
    }
    for (uint32_t i = 0, from = 0; i < clusters; from = begin[i++])
      qsort(list + from, begin[i] - from, sizeof *list, by_mean);
    for (uint32_t i = 0; i < n; i++)
      order[i] = list[i].vertex;
    status = cm_run_check(run, error);
  }
  CM_FREE(list, begin, rank);
  return status;
}

cm_status cm_order_by_clusters(cm_csr_graph *graph, uint64_t seed, cm_run *run, uint32_t *order, cm_error *error)
{
  cm_hierarchy h;
  cm_csr_coarsen_options options = {.vertices_min = COARSEST, .size_max = graph->size_total, .growth = growth, .seed = seed};
  CM_TRY(cm_csr_coarsen(graph, &options, run, &h, error));
  cm_status status = order_coarsest(cm_hierarchy_coarsest(&h), run, order, error);
  for (uint32_t l = h.levels - 1; l-- > 0 && status == CM_OK;)
    status = expand(&h, l, run, order, error);
  cm_hierarchy_free(&h);
  return status;
}
