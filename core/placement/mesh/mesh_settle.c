/* Passes in which each vertex goes to the best cell with room, until none gains. */
#include "core/placement/mesh/mesh_anneal.h"

enum { CHECK_EVERY = 1 << 16 };

static uint32_t least_at(const int32_t *cost, uint32_t length, uint32_t own)
{
  uint32_t best = own;
  for (uint32_t c = 0; c < length; c++)
    if (cost[c] < cost[best])
      best = c;
  return best;
}

/* The best cell for v that has room; its own when none is better. */
static uint32_t best_cell(cm_mesh_state *s, uint32_t v)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t from = s->cell[v], x = g->x[from], y = g->y[from];
  if (cm_mesh_inside(s, v))
    return from;
  const int32_t *row = cm_mesh_row(s, v);
  uint32_t median_x = least_at(row, g->columns, x), median_y = least_at(row + s->rows_at, g->rows, y);
  uint32_t candidate[] = {median_y * g->columns + median_x, y * g->columns + median_x, median_y * g->columns + x,
                          x > 0 ? from - 1 : from, x + 1 < g->columns ? from + 1 : from,
                          y > 0 ? from - g->columns : from, y + 1 < g->rows ? from + g->columns : from};
  uint32_t best = from;
  int32_t least = 0;
  for (size_t i = 0; i < sizeof candidate / sizeof *candidate; i++) {
    int32_t cost = cm_mesh_cost(s, v, candidate[i]);
    if (cost < least && s->most[candidate[i]] > 0 && cm_mesh_fits(s, v, candidate[i])) {
      least = cost;
      best = candidate[i];
    }
  }
  return best;
}

cm_status cm_mesh_settle(cm_mesh_state *s, uint32_t passes, cm_error *error)
{
  for (uint32_t pass = 0; pass < passes; pass++) {
    uint32_t moves = 0;
    for (uint32_t v = 0; v < s->graph->vertex_count; v++) {
      uint32_t to = best_cell(s, v);
      if (to != s->cell[v]) {
        cm_mesh_move(s, v, to);
        moves++;
      }
      CM_TRY_IF(v % CHECK_EVERY == 0, cm_run_check(s->run, error));
    }
    if (moves == 0)
      break;
  }
  return CM_OK;
}
