/* Graphs of parts, chips and multicast nodes at random, for the tests of core/learning. */
#pragma once

#include "networks.h"

#include "core/chip/chip.h"
#include "core/learning/multicast.h"
#include "core/learning/policy/laplacian.h"
#include "core/partition/graph.h"

/* The graph of a dense symmetric matrix; 0: no edge. */
static inline cm_graph *parts_graph(uint32_t n, const uint64_t *dense, cm_run *run)
{
  cm_error error;
  cm_graph *graph;
  uint64_t entries = 0, *first = network_array((size_t)n + 1, sizeof *first);
  uint64_t *weight = network_array((size_t)n * n, sizeof *weight);
  uint32_t *neighbour = network_array((size_t)n * n, sizeof *neighbour);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t u = 0; u < n; u++) {
      if (u == v || dense[(size_t)v * n + u] == 0)
        continue;
      neighbour[entries] = u;
      weight[entries++] = dense[(size_t)v * n + u];
    }
    first[v + 1] = entries;
  }
  ck_ok(cm_graph_from_rows(n, first, neighbour, weight, run, &graph, &error));
  cm_free(first);
  cm_free(weight);
  cm_free(neighbour);
  return graph;
}

/* Groups of vertices numbered by v % groups: edges inside with a chance of `inside` percent, between with `between`. */
static inline cm_graph *parts_planted(cm_random *random, uint32_t n, uint32_t groups, uint32_t inside, uint32_t between,
                                      uint32_t weight_max, cm_run *run)
{
  uint64_t *dense = network_array((size_t)n * n, sizeof *dense);
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t u = 0; u < v; u++)
      if (below(random, 100) < (u % groups == v % groups ? inside : between))
        dense[(size_t)v * n + u] = dense[(size_t)u * n + v] = 1 + below(random, weight_max);
  cm_graph *graph = parts_graph(n, dense, run);
  cm_free(dense);
  return graph;
}

/* A chip of dies_x * dies_y dies of width * height routers with `shared` cores each side by side. */
static inline cm_chip *parts_chip(uint32_t dies_x, uint32_t dies_y, uint32_t width, uint32_t height, uint32_t shared,
                                  bool torus)
{
  char text[300];
  cm_chip *chip;
  cm_error error;
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"p\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"cores_per_router\": [%u, 1], \"torus\": "
                 "[%s, %s]}",
                 dies_x, dies_y, width * shared, height, shared, torus ? "true" : "false", torus ? "true" : "false");
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

/* Multicast nodes among n, every third or so, each with some targets. */
static inline cm_multicast parts_multicast(cm_random *random, uint32_t n)
{
  cm_multicast m = {.nodes = n};
  m.first = network_array((size_t)n + 1, sizeof *m.first);
  m.target = network_array((size_t)n * n, sizeof *m.target);
  for (uint32_t v = 0; v < n; v++) {
    uint32_t share = below(random, 3) == 0 ? 1 + below(random, 5) : 0;
    m.first[v + 1] = m.first[v];
    for (uint32_t u = 0; u < n; u++)
      if (u != v && below(random, 10) < share)
        m.target[m.first[v + 1]++] = u;
    m.trees += m.first[v + 1] > m.first[v];
  }
  return m;
}

/* The seed's own form of a Laplacian: in the upper left corner of a matrix of side x side (as many as physical nodes), and zeros around it. */
static inline void laplacian_pad(const cm_laplacian *laplacian, uint32_t side, float *matrix)
{
  const cm_graph *g = laplacian->graph;
  memset(matrix, 0, (size_t)side * side * sizeof *matrix);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; laplacian->inverse[v] > 0 && i < g->first[v + 1]; i++) {
      matrix[(size_t)v * side + v] = 1;
      matrix[(size_t)v * side + g->neighbour[i]] -= laplacian->inverse[v] * laplacian->weight[i];
    }
}
