/* Happy path: three quick descents try what suits the network (merging by weight, merging by algebraic distance, a
 * spectral start) -> a full descent of the best kind: several coarse starts, each from one cell of all cores on,
 * halving the cells as long as the graph has vertices for them; the best goes on to finer graphs and cells, annealed on
 * every level; within the limits on the finest; more such descents, where asked for, and V-cycles inside what two of
 * them have in common -> V-cycles inside the cores. */
#include "core/placement/mesh/mesh.h"

#include <math.h>

#include "core/placement/mesh/mesh_anneal.h"
#include "core/placement/mesh/mesh_descent.h"

/* How visits are spread. Where vertices have many neighbours, what moves is settled on coarse levels, and a visit costs
 * more: from degree `few` to `many` the finest level's share of the visits falls to `dense_share`, and coarser ones get
 * more in return (`power`). Each vertex of the finest level is visited so often at least. */
static const double few = 6, many = 50, dense_share = 0.27, power_sparse = 0.5, power_dense = 0.85;
static const double least_sparse = 40, least_dense = 22;
/* More cores take more visits, as long as tables of many columns and rows do not make each dearer. */
static const double cells_power = 0.25;

/* Cells of the final grid as numbers of cores, of vertices in their own order. */
static cm_status number_cores(const cm_mesh_work *w, const uint32_t *order, uint32_t vertices, uint32_t *at,
                              cm_error *error)
{
  uint32_t *core_at;
  const cm_axes *a = w->axes;
  CM_TRY(CM_NEW(w->run->memory, core_at, (size_t)a->columns * a->rows, error));
  for (uint32_t i = 0; i < a->count; i++)
    core_at[(size_t)a->row[i] * a->columns + a->column[i]] = i;
  for (uint32_t v = 0; v < vertices; v++)
    at[order[v]] = core_at[w->best.cell[v]];
  cm_free(core_at);
  return CM_OK;
}

/* Descents, then V-cycles; the hierarchy is used up, but for its finest graph. */
static cm_status search(cm_mesh_work *w, cm_hierarchy *hierarchy, cm_error *error)
{
  uint32_t round = 0, descents = w->options->descents;
  cm_csr_graph *graph = hierarchy->level[0];
  cm_status status = cm_mesh_descend_best_kind(w, hierarchy, error);
  for (uint32_t k = 0; status == CM_OK && k < descents + w->options->cycles; k++) {
    const uint32_t *other = k < descents ? w->other[k] : NULL;
    if (k < descents && other == NULL)
      continue;
    const size_t mark = cm_run_within(w->run, 1.0 / (descents - 1 + w->options->cycles - round));
    status = cm_mesh_cycle(w, graph, other, ++round, error);
    cm_run_leave(w->run, mark);
  }
  for (uint32_t k = 0; w->other != NULL && k < w->options->descents; k++)
    cm_free(w->other[k]);
  cm_free(w->other);
  w->other = NULL;
  return status;
}

/* Coarsens, renumbers and maps. */
static cm_status map_sorted(cm_mesh_work *w, cm_csr_graph *graph, uint32_t *at, cm_error *error)
{
  cm_hierarchy h;
  uint32_t *order;
  cm_run_phase(w->run, "start");
  const cm_mesh_coarsening how = {CM_RATE_DISTANCE, NULL, CM_MESH_COARSEST, w->seed};
  CM_TRY(cm_mesh_coarsen(graph, &how, w->run, &h, error));
  cm_status status = cm_mesh_sort(&h, w->run, &order, error);
  CM_TRY_OR(status, cm_hierarchy_free(&h));
  cm_csr_graph *sorted = h.level[0];
  status = search(w, &h, error);
  CM_THEN(status, number_cores(w, order, graph->vertex_count, at, error));
  cm_csr_graph_free(sorted);
  cm_free(order);
  return status;
}

cm_status cm_map_on_mesh(cm_csr_graph *graph, const cm_axes *axes, const cm_mesh_options *options, cm_run *run,
                         uint32_t *at, uint64_t *cost, cm_error *error)
{
  float chance[CM_CHANCES];
  double cells = axes->count, n = graph->vertex_count > 0 ? graph->vertex_count : 1;
  cm_mesh_work w = {.axes = axes, .options = options, .run = run, .seed = options->seed, .chance = chance};
  double degree = (double)graph->entry_count / n;
  double crowd = fmin(1, fmax(0, degree - few) / (many - few)), share = 1 + crowd * (dense_share - 1);
  w.power = power_sparse + crowd * (power_dense - power_sparse);
  double least = least_sparse + crowd * (least_dense - least_sparse);
  w.sweeps = fmin(fmax(share * options->visits / n, least), options->sweeps_max);
  w.sweeps *= pow(cells / 64, (1 - crowd) * cells_power);
  cm_mesh_chances(chance);
  cm_status status = map_sorted(&w, graph, at, error);
  if (status == CM_OK)
    *cost = w.best.cost;
  cm_mesh_descent_free(&w.best);
  return status;
}
