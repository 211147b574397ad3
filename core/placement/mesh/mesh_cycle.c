/* V-cycles: the mapping found is coarsened, and annealed on the way back. */
#include "core/placement/mesh/mesh_descent.h"

#include <math.h>
#include <string.h>

#include "core/partition/options.h"

/* Vertices with more neighbours than this are coarsened by weight. */
static const double degree_weighed = 20;

/* Anneals on the way back from a graph that was coarsened inside the cores. */
static cm_status climb(cm_mesh_work *w, uint64_t round, cm_error *error)
{
  cm_mesh_descent *d = &w->best;
  cm_random random;
  cm_hierarchy_lift(w->hierarchy, d->cell);
  d->level = w->hierarchy->levels - 1;
  cm_random_init(&random, w->seed, CM_STREAM_MESH, UINT64_MAX - round);
  while (d->level > 0)
    CM_TRY(cm_mesh_uncoarsen(w, d, true, &random, error));
  return CM_OK;
}

/* Inside the cores edges are mostly local. Where there are many of them their weights tell as much as distances do,
 * which cost as much as annealing there. */
static cm_mesh_rating rating_inside(const cm_mesh_work *w, const cm_csr_graph *graph)
{
  bool many = (double)graph->entry_count > degree_weighed * graph->vertex_count;
  return many ? CM_RATE_WEIGHT : cm_mesh_rating_of(w->kind);
}

/* Labels that keep apart what either mapping has in different cores; where pairs of cores have no numbers of 32 bits,
 * what the first has. */
static void overlay(uint32_t *label, const uint32_t *other, uint32_t vertices, uint32_t cells)
{
  if (other == NULL || cells > UINT16_MAX)
    return;
  for (uint32_t v = 0; v < vertices; v++)
    label[v] = label[v] * cells + other[v];
}

cm_status cm_mesh_cycle(cm_mesh_work *w, cm_csr_graph *graph, const uint32_t *other, uint64_t round, cm_error *error)
{
  cm_mesh_descent *d = &w->best;
  cm_hierarchy h;
  uint32_t n = graph->vertex_count, *kept, *label = NULL, all = w->axes->columns * w->axes->rows;
  uint64_t before = d->cost;
  /* Cells are kept, and fill badly with few vertices each; a layout is right in the large. */
  double cells = cm_mesh_vertices_per_core(w->kind) * all;
  uint32_t least = cells > CM_MESH_COARSEST ? (uint32_t)fmin(cells, UINT32_MAX) : CM_MESH_COARSEST;
  CM_TRY(CM_NEW(w->run->memory, kept, n, error));
  memcpy(kept, d->cell, n * sizeof *kept);
  cm_status status = CM_NEW(w->run->memory, label, n, error);
  if (status == CM_OK) {
    memcpy(label, kept, n * sizeof *label);
    overlay(label, other, n, all);
    const cm_mesh_coarsening how = {rating_inside(w, graph), label, least, w->seed + round};
    status = cm_mesh_coarsen(graph, &how, w->run, &h, error);
  }
  cm_free(label);
  if (status == CM_OK) {
    w->hierarchy = &h;
    w->finest = 1 / cm_mesh_levels_take(w, &h, 0);
    status = climb(w, round, error);
    w->hierarchy = NULL;
    cm_hierarchy_free(&h);
  }
  if (status == CM_OK && d->cost > before) {
    memcpy(d->cell, kept, n * sizeof *kept);
    d->cost = before;
  }
  cm_free(kept);
  return status;
}

