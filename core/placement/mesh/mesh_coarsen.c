#include "core/placement/mesh/mesh_coarsen.h"

#include <math.h>

#include "base/random.h"
#include "base/wide.h"
#include "core/partition/options.h"

/* Test vectors, smoothings of them, and how fast clusters may grow beyond the mean vertex of their level. */
enum { VECTORS = 8, SMOOTHINGS = 20 };
static const double growth = 2.3;
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

static cm_status rate_by_distance(const cm_csr_graph *g, uint64_t seed, uint32_t level, cm_run *run, uint32_t **rating,
                                  cm_error *error)
{
  float *from, *to = NULL;
  uint32_t *made = NULL;
  size_t cells = (size_t)g->vertex_count * VECTORS;
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_MESH, UINT64_C(1) << 32 | level);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(from, cells), CM_ARRAY(to, cells), CM_ARRAY(made, g->entry_count));
  for (size_t i = 0; i < cells && status == CM_OK; i++)
    from[i] = (float)(cm_random_unit(&random) - 0.5);
  for (uint32_t k = 0; k < SMOOTHINGS && status == CM_OK; k++) {
    smooth(g, from, to);
    float *kept = from;
    from = to;
    to = kept;
    status = cm_run_check(run, error);
  }
  if (status == CM_OK) {
    rate(g, from, made);
    *rating = made;
    made = NULL;
  }
  CM_FREE(from, to, made);
  return status;
}

cm_status cm_mesh_coarsen(cm_csr_graph *finest, const cm_mesh_coarsening *how, cm_run *run, cm_hierarchy *hierarchy,
                          cm_error *error)
{
  cm_csr_coarsen_options options = {.vertices_min = how->vertices_min,
                                    .size_max = finest->size_total / 30 + 1,
                                    .size_min = 2,
                                    .growth = growth,
                                    .label = how->label,
                                    .seed = how->seed,
                                    .rate = how->rating == CM_RATE_DISTANCE ? rate_by_distance : NULL};
  return cm_csr_coarsen(finest, &options, run, hierarchy, error);
}
