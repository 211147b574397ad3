/* Halving the cells of a grid with what is in them. */
#include "core/placement/mesh/mesh_descent.h"

/* The vertices by cells' connected pieces: breadth first from random ones, never out of a cell. */
static cm_status order_by_pieces(const cm_csr_graph *g, const uint32_t *cell, cm_random *random, cm_run *run,
                                 uint32_t **order, cm_error *error)
{
  uint32_t tail = 0, *seed = NULL;
  bool *seen = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(*order, g->vertex_count), CM_ARRAY(seed, g->vertex_count),
                                CM_ARRAY(seen, g->vertex_count));
  if (status == CM_OK)
    cm_random_permutation(random, seed, g->vertex_count);
  for (uint32_t k = 0; status == CM_OK && k < g->vertex_count; k++) {
    if (seen[seed[k]])
      continue;
    seen[seed[k]] = true;
    (*order)[tail] = seed[k];
    for (uint32_t head = tail++; head < tail; head++) {
      uint32_t v = (*order)[head];
      for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
        uint32_t u = g->neighbour[i];
        if (!seen[u] && cell[u] == cell[v]) {
          seen[u] = true;
          (*order)[tail++] = u;
        }
      }
    }
  }
  CM_FREE(seed, seen);
  return status;
}

cm_status cm_mesh_halve_cells(const cm_mesh_work *w, cm_mesh_descent *d, cm_random *random, cm_error *error)
{
  const cm_csr_graph *g = w->hierarchy->level[d->level];
  cm_run *run = w->run;
  cm_mesh_grid *grid = d->grid, *finer;
  uint32_t *cell = d->cell, *parent, *halves = NULL, *order = NULL;
  uint64_t *left = NULL;
  CM_TRY(cm_mesh_grid_split(grid, w->axes, run, &finer, &parent, error));
  uint32_t cells = finer->columns * finer->rows, old = grid->columns * grid->rows;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(halves, 2 * (size_t)old), CM_ARRAY(left, old));
  CM_THEN(status, order_by_pieces(g, cell, random, run, &order, error));
  if (status == CM_OK) {
    for (uint32_t c = 0; c < 2 * old; c++)
      halves[c] = UINT32_MAX;
    for (uint32_t c = 0; c < cells; c++)
      halves[2 * parent[c] + (halves[2 * parent[c]] != UINT32_MAX)] = c;
    for (uint32_t v = 0; v < g->vertex_count; v++)
      left[cell[v]] += g->size[v];
    for (uint32_t c = 0; c < old; c++) /* what the first half takes */
      if (halves[2 * c + 1] != UINT32_MAX && grid->cores[c] > 0)
        left[c] = (uint64_t)((double)left[c] * finer->cores[halves[2 * c]] / grid->cores[c] + 0.5);
    for (uint32_t i = 0; i < g->vertex_count; i++) {
      uint32_t v = order[i], c = cell[v], size = g->size[v];
      uint32_t b = halves[2 * c + 1];
      bool second = b != UINT32_MAX && finer->cores[b] > 0 && (left[c] < (size + 1) / 2 || left[c] == 0);
      cell[v] = halves[2 * c + second];
      left[c] -= second || left[c] < size ? left[c] : size;
    }
    d->grid = finer;
    finer = grid;
  }
  cm_mesh_grid_free(finer);
  CM_FREE(parent, halves, left, order);
  return status;
}
