#include "core/placement/mesh/mesh_coarsen.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/wide.h"
#include "core/partition/options.h"

/* Test vectors, smoothings of them, and how fast clusters may grow beyond the mean vertex of their level. */
enum { VECTORS = 8, SMOOTHINGS = 20 };
static const double growth = 2.3, shrink_least = 0.95;
/* Distances below this share of the mean are all the same: what is left there is noise. */
static const float near = 0.1f;

/* One smoothing of all vectors, interleaved by vertex: half the old value, half the mean of the neighbours. */
CM_WIDE static void smooth(const cm_csr_graph *g, const float *restrict from, float *restrict to)
{
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    float sum[VECTORS] = {0}, total = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      const float *at = from + (size_t)g->neighbour[i] * VECTORS;
      float w = (float)cm_csr_graph_weight(g, i);
      total += w;
      for (size_t k = 0; k < VECTORS; k++)
        sum[k] += w * at[k];
    }
    const float *own = from + (size_t)v * VECTORS;
    float *out = to + (size_t)v * VECTORS;
    for (size_t k = 0; k < VECTORS; k++)
      out[k] = total > 0 ? 0.5f * own[k] + 0.5f * sum[k] / total : own[k];
  }
}

static float apart(const float *a, const float *b)
{
  float sum = 0;
  for (size_t k = 0; k < VECTORS; k++)
    sum += fabsf(a[k] - b[k]);
  return sum;
}

/* Weights divided by the square of the algebraic distance, on a scale of integers. */
static void rate(const cm_csr_graph *g, const float *vector, uint32_t *rating)
{
  double total = 0;
  float heaviest = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      float w = (float)cm_csr_graph_weight(g, i);
      total += apart(vector + (size_t)v * VECTORS, vector + (size_t)g->neighbour[i] * VECTORS);
      heaviest = w > heaviest ? w : heaviest;
    }
  float mean = total > 0 ? (float)(total / (double)g->entry_count) : 1, scale = 1e6f / (heaviest > 0 ? heaviest : 1);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      float d = apart(vector + (size_t)v * VECTORS, vector + (size_t)g->neighbour[i] * VECTORS);
      float ratio = mean / (d + near * mean);
      rating[i] = 1 + (uint32_t)(scale * (float)cm_csr_graph_weight(g, i) * ratio * ratio);
    }
}

/* The graph with algebraic ratings in place of weights; *rating is the caller's. */
static cm_status rated(const cm_csr_graph *g, uint64_t seed, uint64_t level, cm_run *run, cm_csr_graph *view,
                       uint32_t **rating, cm_error *error)
{
  float *from, *to = NULL;
  size_t cells = (size_t)g->vertex_count * VECTORS;
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_MESH, UINT64_C(1) << 32 | level);
  cm_status status = CM_NEW(run->memory, from, cells, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, to, cells, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, *rating, g->entry_count, error);
  if (status == CM_OK) {
    for (size_t i = 0; i < cells; i++)
      from[i] = (float)(cm_random_unit(&random) - 0.5);
    for (uint32_t k = 0; k < SMOOTHINGS && status == CM_OK; k++) {
      smooth(g, from, to);
      float *kept = from;
      from = to;
      to = kept;
      status = cm_run_check(run, error);
    }
    rate(g, from, *rating);
    *view = *g;
    view->weight = *rating;
    view->wide = NULL;
  }
  cm_free(from);
  cm_free(to);
  return status;
}

static cm_status add_level(cm_hierarchy *h, cm_mesh_rating rating, const uint32_t *label, uint64_t size_most,
                           uint64_t seed, cm_run *run, bool *stop, cm_error *error)
{
  uint32_t last = h->levels - 1, clusters = 0, *map, *weights = NULL;
  cm_csr_graph *fine = h->level[last], view = *fine;
  uint64_t size_max = (uint64_t)(growth * (double)fine->size_total / fine->vertex_count);
  size_max = size_max < 2 ? 2 : size_max > size_most ? size_most : size_max;
  cm_clustering_options options = {.size_max = size_max, .label = label, .seed = seed, .level = last};
  cm_status status = CM_NEW(run->memory, map, fine->vertex_count, error);
  if (status == CM_OK && rating == CM_RATE_DISTANCE)
    status = rated(fine, seed, last, run, &view, &weights, error);
  if (status == CM_OK)
    status = cm_cluster_heavy_edges(&view, &options, run, map, &clusters, error);
  cm_free(weights);
  *stop = status == CM_OK && (double)clusters > shrink_least * fine->vertex_count;
  if (status != CM_OK || *stop) {
    cm_free(map);
    return status;
  }
  status = cm_csr_graph_contract(fine, map, clusters, run, &h->level[last + 1], error);
  if (status != CM_OK) {
    cm_free(map);
    return status;
  }
  h->map[last] = map;
  h->levels++;
  return CM_OK;
}

/* Labels of the next level: those of any member. */
static cm_status pass_labels(const cm_hierarchy *h, uint32_t **label, cm_run *run, cm_error *error)
{
  uint32_t last = h->levels - 1, *coarse;
  if (CM_NEW(run->memory, coarse, h->level[last]->vertex_count, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < h->level[last - 1]->vertex_count; v++)
    coarse[h->map[last - 1][v]] = (*label)[v];
  cm_free(*label);
  *label = coarse;
  return CM_OK;
}

cm_status cm_mesh_coarsen(cm_csr_graph *finest, cm_mesh_rating rating, const uint32_t *label, uint32_t vertices_min,
                          uint64_t seed, cm_run *run, cm_hierarchy *hierarchy, cm_error *error)
{
  cm_hierarchy h = {.levels = 1, .level = {finest}};
  uint64_t size_most = finest->size_total / 30 + 1;
  uint32_t *own = NULL;
  cm_status status = CM_OK;
  if (label != NULL) {
    status = CM_NEW(run->memory, own, finest->vertex_count, error);
    if (status == CM_OK)
      memcpy(own, label, finest->vertex_count * sizeof *own);
  }
  for (bool stop = false; status == CM_OK && !stop && h.levels < CM_HIERARCHY_MAX &&
                          h.level[h.levels - 1]->vertex_count > vertices_min;) {
    status = add_level(&h, rating, own, size_most, seed, run, &stop, error);
    if (status == CM_OK && !stop && own != NULL)
      status = pass_labels(&h, &own, run, error);
  }
  cm_free(own);
  if (status != CM_OK) {
    cm_hierarchy_free(&h);
    return status;
  }
  *hierarchy = h;
  return CM_OK;
}
