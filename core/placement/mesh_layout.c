/* The spectral start: the two slowest non-constant modes of the random walk on the graph are coordinates in which a
 * graph that was drawn on a plane lies nearly as it was drawn. */
#include <math.h>
#include <stdlib.h>

#include "core/base/random.h"
#include "core/partition/options.h"
#include "core/placement/mesh_coarsen.h"

enum { ANGLES = 12, MODES = 2 };
/* Smoothings of a level: as many as this many times the work of one on the finest graph pays for, within bounds. Slow
 * modes take many, most of them where they are cheap. */
static const double work_share = 8, iterations_least = 20, iterations_most = 1000;
/* A quarter turn: grids look the same after it, but for their sides. */
static const double full_turn = 1.57079632679489661923;

typedef struct modes {
  const cm_compact *graph;
  double *value[MODES]; /* [vertices] */
  double *scratch, *degree;
} modes;

static void degrees(modes *m)
{
  const cm_compact *g = m->graph;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    m->degree[v] = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      m->degree[v] += (double)cm_compact_weight(g, i);
  }
}

/* Takes the constant and the first `before` modes out of one, and scales it to length 1 (in degrees). */
static void purify(modes *m, uint32_t mode)
{
  uint32_t n = m->graph->vertex_count;
  double *x = m->value[mode], sum = 0, total = 0, length = 0;
  for (uint32_t v = 0; v < n; v++) {
    sum += m->degree[v] * x[v];
    total += m->degree[v];
  }
  for (uint32_t v = 0; v < n; v++)
    x[v] -= total > 0 ? sum / total : 0;
  for (uint32_t k = 0; k < mode; k++) {
    const double *y = m->value[k];
    double shared = 0;
    for (uint32_t v = 0; v < n; v++)
      shared += m->degree[v] * x[v] * y[v];
    for (uint32_t v = 0; v < n; v++)
      x[v] -= shared * y[v];
  }
  for (uint32_t v = 0; v < n; v++)
    length += m->degree[v] * x[v] * x[v];
  length = sqrt(length);
  for (uint32_t v = 0; v < n && length > 0; v++)
    x[v] /= length;
}

static cm_status iterate(modes *m, uint32_t iterations, cm_run *run, cm_error *error)
{
  const cm_compact *g = m->graph;
  for (uint32_t k = 0; k < iterations; k++) {
    for (uint32_t mode = 0; mode < MODES; mode++) {
      double *x = m->value[mode];
      purify(m, mode);
      for (uint32_t v = 0; v < g->vertex_count; v++) {
        double sum = 0;
        for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
          sum += (double)cm_compact_weight(g, i) * x[g->neighbour[i]];
        m->scratch[v] = m->degree[v] > 0 ? 0.5 * x[v] + 0.5 * sum / m->degree[v] : x[v];
      }
      m->value[mode] = m->scratch;
      m->scratch = x;
    }
    if (cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  for (uint32_t mode = 0; mode < MODES; mode++)
    purify(m, mode);
  return CM_OK;
}

/* Room for the modes of a level; carries over those of the level above it where there is one. */
static cm_status enter_level(modes *m, const cm_hierarchy *h, uint32_t level, cm_random *random, cm_run *run,
                             cm_error *error)
{
  const cm_compact *g = h->level[level];
  double *fresh[MODES] = {0}, *scratch = NULL, *degree = NULL;
  cm_status status = CM_NEW(run->memory, scratch, g->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, degree, g->vertex_count, error);
  for (uint32_t k = 0; k < MODES && status == CM_OK; k++)
    status = CM_NEW(run->memory, fresh[k], g->vertex_count, error);
  if (status != CM_OK) {
    cm_free(scratch);
    cm_free(degree);
    for (uint32_t k = 0; k < MODES; k++)
      cm_free(fresh[k]);
    return status;
  }
  for (uint32_t k = 0; k < MODES; k++) {
    for (uint32_t v = 0; v < g->vertex_count; v++)
      fresh[k][v] = m->graph != NULL ? m->value[k][h->map[level][v]] : cm_random_unit(random) - 0.5;
    cm_free(m->value[k]);
    m->value[k] = fresh[k];
  }
  cm_free(m->scratch);
  cm_free(m->degree);
  m->scratch = scratch;
  m->degree = degree;
  m->graph = g;
  degrees(m);
  return CM_OK;
}

typedef struct placed {
  double along;
  uint32_t vertex;
} placed;

static int by_place(const void *a, const void *b)
{
  const placed *x = a, *y = b;
  return x->along != y->along ? (x->along < y->along ? -1 : 1) : x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Cuts a sorted run of vertices into pieces by size, in proportion to `share`; end[] gets where each ends. */
static void cut(const cm_compact *g, const placed *order, uint32_t count, const uint64_t *share, uint32_t pieces,
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
  const modes *modes;
  const cm_mesh_grid *grid;
  placed *order;         /* [vertices] */
  uint64_t *share;       /* [columns + rows] */
  uint32_t *end;         /* [columns + rows] */
} layout;

/* Columns by the first coordinate, rows inside each column by the second. */
static void assign(const layout *l, double angle, uint32_t *cell)
{
  const cm_mesh_grid *grid = l->grid;
  const cm_compact *g = l->modes->graph;
  const double *x = l->modes->value[0], *y = l->modes->value[1];
  double c = cos(angle), s = sin(angle);
  uint32_t *row_end = l->end + grid->columns, begin = 0;
  uint64_t *row_share = l->share + grid->columns;
  for (uint32_t column = 0; column < grid->columns; column++) {
    l->share[column] = 0;
    for (uint32_t r = 0; r < grid->rows; r++)
      l->share[column] += grid->cores[(size_t)r * grid->columns + column];
  }
  for (uint32_t v = 0; v < g->vertex_count; v++)
    l->order[v] = (placed){c * x[v] + s * y[v], v};
  qsort(l->order, g->vertex_count, sizeof *l->order, by_place);
  cut(g, l->order, g->vertex_count, l->share, grid->columns, l->end);
  for (uint32_t column = 0; column < grid->columns; begin = l->end[column++]) {
    uint32_t count = l->end[column] - begin, k = 0;
    placed *members = l->order + begin;
    for (uint32_t i = 0; i < count; i++)
      members[i].along = c * y[members[i].vertex] - s * x[members[i].vertex];
    qsort(members, count, sizeof *members, by_place);
    for (uint32_t r = 0; r < grid->rows; r++)
      row_share[r] = grid->cores[(size_t)r * grid->columns + column];
    cut(g, members, count, row_share, grid->rows, row_end);
    for (uint32_t r = 0; r < grid->rows; r++)
      for (; k < row_end[r]; k++)
        cell[members[k].vertex] = r * grid->columns + column;
  }
}

static cm_status turn(const modes *m, const cm_mesh_grid *grid, cm_run *run, uint32_t *cell, cm_error *error)
{
  layout l = {.modes = m, .grid = grid};
  size_t axes = (size_t)grid->columns + grid->rows;
  cm_status status = CM_NEW(run->memory, l.order, m->graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.share, axes, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.end, axes, error);
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
    for (width /= 2; width > 0.01; width /= 2)
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
  cm_free(l.order);
  cm_free(l.share);
  cm_free(l.end);
  return status;
}

static uint32_t iterations_on(const cm_compact *g, const cm_compact *finest)
{
  double paid = work_share * (double)finest->entry_count / (double)(g->entry_count + 1);
  return (uint32_t)fmin(fmax(paid, iterations_least), iterations_most);
}

cm_status cm_mesh_layout(const cm_hierarchy *hierarchy, uint32_t level, const cm_mesh_grid *grid, uint64_t seed,
                         cm_run *run, uint32_t *cell, cm_error *error)
{
  modes m = {0};
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_MESH, UINT64_C(2) << 32);
  cm_status status = CM_OK;
  for (uint32_t l = hierarchy->levels; status == CM_OK && l-- > level;) {
    status = enter_level(&m, hierarchy, l, &random, run, error);
    if (status == CM_OK)
      status = iterate(&m, iterations_on(m.graph, hierarchy->level[0]), run, error);
  }
  if (status == CM_OK)
    status = turn(&m, grid, run, cell, error);
  for (uint32_t k = 0; k < MODES; k++)
    cm_free(m.value[k]);
  cm_free(m.scratch);
  cm_free(m.degree);
  return status;
}
