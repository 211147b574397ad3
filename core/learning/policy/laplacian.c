#include "core/learning/policy/laplacian.h"

#include "base/wide.h"

cm_status cm_laplacian_new(const cm_graph *graph, cm_run *run, cm_laplacian **laplacian, cm_error *error)
{
  cm_laplacian *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->graph = graph;
  cm_status status = CM_NEW(run->memory, made->weight, graph->entry_count, error);
  CM_THEN(status, CM_NEW(run->memory, made->inverse, graph->vertex_count, error));
  CM_TRY_OR(status, cm_laplacian_free(made));
  uint64_t most = 1;
  for (uint64_t i = 0; i < graph->entry_count; i++)
    most = graph->weight[i] > most ? graph->weight[i] : most;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    double sum = 0;
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
      made->weight[i] = (float)((double)graph->weight[i] / (double)most);
      sum += (double)graph->weight[i] / (double)most;
    }
    made->inverse[v] = sum > 0 ? (float)(1 / sum) : 0;
  }
  *laplacian = made;
  return CM_OK;
}

void cm_laplacian_free(cm_laplacian *laplacian)
{
  if (laplacian == NULL)
    return;
  CM_FREE(laplacian->weight, laplacian->inverse, laplacian);
}

enum { BLOCK = 32, SMALL = 8 };

/* `length` columns of a row of A x, in registers: constant lengths become vector instructions. */
static inline __attribute__((always_inline)) void gather_block(const cm_laplacian *l, uint32_t v, uint32_t width,
                                                               uint32_t length, const float *restrict x,
                                                               float *restrict y)
{
  const cm_graph *g = l->graph;
  float sum[BLOCK] = {0};
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    const float *from = x + (size_t)g->neighbour[i] * width;
    float weight = l->weight[i];
    for (uint32_t k = 0; k < length; k++)
      sum[k] += weight * from[k];
  }
  for (uint32_t k = 0; k < length; k++)
    y[(size_t)v * width + k] = sum[k];
}

/* y = A x. Every element has a sum of its own, in one order: wider vectors change no bit. */
CM_WIDE static void gather(const cm_laplacian *l, uint32_t width, const float *x, float *y)
{
  for (uint32_t v = 0; v < l->graph->vertex_count; v++) {
    uint32_t at = 0;
    for (; at + BLOCK <= width; at += BLOCK)
      gather_block(l, v, width, BLOCK, x + at, y + at);
    for (; at + SMALL <= width; at += SMALL)
      gather_block(l, v, width, SMALL, x + at, y + at);
    for (; at < width; at++)
      gather_block(l, v, width, 1, x + at, y + at);
  }
}

void cm_laplacian_apply(const cm_laplacian *laplacian, uint32_t width, const float *x, float *y)
{
  gather(laplacian, width, x, y);
  for (uint32_t v = 0; v < laplacian->graph->vertex_count; v++) {
    const float *own = x + (size_t)v * width;
    float *row = y + (size_t)v * width, inverse = laplacian->inverse[v];
    for (uint32_t k = 0; k < width; k++)
      row[k] = inverse > 0 ? own[k] - inverse * row[k] : 0;
  }
}

void cm_laplacian_apply_transposed(const cm_laplacian *laplacian, uint32_t width, const float *x, float *scratch,
                                   float *y)
{
  uint32_t nodes = laplacian->graph->vertex_count;
  for (uint32_t v = 0; v < nodes; v++)
    for (uint32_t k = 0; k < width; k++)
      scratch[(size_t)v * width + k] = laplacian->inverse[v] * x[(size_t)v * width + k];
  gather(laplacian, width, scratch, y);
  for (uint32_t v = 0; v < nodes; v++)
    for (uint32_t k = 0; k < width; k++)
      y[(size_t)v * width + k] =
        (laplacian->inverse[v] > 0 ? x[(size_t)v * width + k] : 0) - y[(size_t)v * width + k];
}
