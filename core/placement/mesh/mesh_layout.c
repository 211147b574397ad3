/* The spectral start: the two slowest non-constant modes of the random walk on the graph are coordinates in which a
 * graph that was drawn on a plane lies nearly as it was drawn. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "core/partition/options.h"
#include "core/placement/mesh/mesh_descent.h"
#include "core/placement/modes.h"

enum { ANGLES = 12, MODES = CM_MODES_KEPT };
/* A quarter turn: grids look the same after it, but for their sides. */
static const double full_turn = 1.57079632679489661923, angle_min = 0.002;

/* ---- cells from modes ---- */

/* A vertex and where it is along an axis, as an integer in the same order. */
typedef struct placed {
  uint32_t key, vertex;
} placed;

static uint32_t key_of(double along)
{
  float rounded = (float)along;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

/* Sorts by key, keeping the order of equal ones: by two halves of the key, each counted. */
static void sort_placed(placed *list, placed *scratch, uint32_t count, uint32_t *counter)
{
  for (uint32_t shift = 0; shift < 32; shift += 16) {
    memset(counter, 0, ((size_t)UINT16_MAX + 2) * sizeof *counter);
    for (uint32_t i = 0; i < count; i++)
      counter[(list[i].key >> shift & UINT16_MAX) + 1]++;
    for (uint32_t d = 0; d < UINT16_MAX; d++)
      counter[d + 1] += counter[d];
    for (uint32_t i = 0; i < count; i++)
      scratch[counter[list[i].key >> shift & UINT16_MAX]++] = list[i];
    placed *kept = list;
    list = scratch;
    scratch = kept;
  }
}

/* Cuts a sorted run of vertices into pieces by size, in proportion to `share`; end[] gets where each ends. */
static void cut(const cm_csr_graph *g, const placed *order, uint32_t count, const uint64_t *share, uint32_t pieces,
                uint32_t *end)
{
  uint64_t total = 0, all = 0, size = 0, shares = 0;
  uint32_t i = 0;
  for (uint32_t k = 0; k < count; k++)
    total += g->size[order[k].vertex];
  for (uint32_t p = 0; p < pieces; p++)
    all += share[p];
  for (uint32_t p = 0; p < pieces; p++) {
    shares += share[p];
    uint64_t target = all > 0 ? (uint64_t)((double)total * (double)shares / (double)all + 0.5) : total;
    while (i < count && (size + g->size[order[i].vertex] / 2 < target || p + 1 == pieces))
      size += g->size[order[i++].vertex];
    end[p] = i;
  }
}

typedef struct layout {
  const cm_modes *modes;
  const cm_mesh_grid *grid;
  placed *order, *scratch; /* [vertices] */
  uint32_t *column, *begin; /* [vertices] column of each, [columns] where the next of each goes */
  uint32_t *counter;     /* [2^16 + 1] */
  uint64_t *share;       /* [columns + rows] */
  uint32_t *end;         /* [columns + rows] */
} layout;

/* Columns by the first coordinate, rows inside each column by the second. */
static void assign(const layout *l, double angle, uint32_t *cell)
{
  const cm_mesh_grid *grid = l->grid;
  const cm_csr_graph *g = l->modes->graph;
  const double *value = l->modes->value;
  double c = cos(angle), s = sin(angle);
  uint32_t *row_end = l->end + grid->columns;
  uint64_t *row_share = l->share + grid->columns;
  for (uint32_t column = 0; column < grid->columns; column++) {
    l->share[column] = 0;
    for (uint32_t r = 0; r < grid->rows; r++)
      l->share[column] += grid->cores[(size_t)r * grid->columns + column];
  }
  for (uint32_t v = 0; v < g->vertex_count; v++)
    l->order[v] = (placed){key_of(c * value[(size_t)v * MODES] + s * value[(size_t)v * MODES + 1]), v};
  sort_placed(l->order, l->scratch, g->vertex_count, l->counter);
  cut(g, l->order, g->vertex_count, l->share, grid->columns, l->end);
  for (uint32_t column = 0, i = 0; column < grid->columns; column++) {
    l->begin[column] = i;
    for (; i < l->end[column]; i++)
      l->column[l->order[i].vertex] = column;
  }
  for (uint32_t v = 0; v < g->vertex_count; v++)
    l->order[v] = (placed){key_of(c * value[(size_t)v * MODES + 1] - s * value[(size_t)v * MODES]), v};
  sort_placed(l->order, l->scratch, g->vertex_count, l->counter);
  for (uint32_t i = 0; i < g->vertex_count; i++)
    l->scratch[l->begin[l->column[l->order[i].vertex]]++] = l->order[i];
  for (uint32_t column = 0, k = 0; column < grid->columns; k = l->end[column++]) {
    const placed *members = l->scratch + k;
    for (uint32_t r = 0; r < grid->rows; r++)
      row_share[r] = grid->cores[(size_t)r * grid->columns + column];
    cut(g, members, l->end[column] - k, row_share, grid->rows, row_end);
    for (uint32_t r = 0, i = 0; r < grid->rows; r++)
      for (; i < row_end[r]; i++)
        cell[members[i].vertex] = r * grid->columns + column;
  }
}

static cm_status turn(const cm_modes *m, const cm_mesh_grid *grid, cm_run *run, uint32_t *cell, cm_error *error)
{
  layout l = {.modes = m, .grid = grid};
  size_t axes = (size_t)grid->columns + grid->rows;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(l.order, m->graph->vertex_count),
                                CM_ARRAY(l.scratch, m->graph->vertex_count), CM_ARRAY(l.column, m->graph->vertex_count),
                                CM_ARRAY(l.begin, grid->columns), CM_ARRAY(l.counter, (size_t)UINT16_MAX + 2),
                                CM_ARRAY(l.share, axes), CM_ARRAY(l.end, axes));
  if (status == CM_OK) {
    double best = 0, width = full_turn / ANGLES;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < 2 * ANGLES; k++) { /* both axes may be the long one */
      assign(&l, k * width, cell);
      uint64_t cost = cm_mesh_total(m->graph, grid, cell);
      if (cost < least) {
        least = cost;
        best = k * width;
      }
    }
    for (width /= 2; width > angle_min; width /= 2)
      for (int side = -1; side <= 1; side += 2) {
        assign(&l, best + side * width, cell);
        uint64_t cost = cm_mesh_total(m->graph, grid, cell);
        if (cost < least) {
          least = cost;
          best += side * width;
        }
      }
    assign(&l, best, cell);
  }
  CM_FREE(l.order, l.scratch, l.column, l.begin, l.counter, l.share, l.end);
  return status;
}

cm_status cm_mesh_layout(const cm_mesh_work *w, cm_mesh_descent *d, double effort, cm_error *error)
{
  cm_modes m = {0};
  cm_random random;
  cm_random_init(&random, w->seed, CM_STREAM_MESH, UINT64_C(2) << 32);
  cm_status status = cm_modes_find(w->hierarchy, d->level, effort, &random, w->run, &m, error);
  CM_THEN(status, turn(&m, d->grid, w->run, d->cell, error));
  cm_modes_free(&m);
  return status;
}
