/* Descents: coarse starts, finer cells and graphs in turn, annealing after each step. */
#include "core/placement/mesh/mesh_descent.h"

#include <math.h>

#include "base/threads.h"
#include "core/partition/options.h"
#include "core/placement/mesh/mesh_anneal.h"

/* Vertices per cell before cells are halved; those of a quick spectral start and of its V-cycles are many times
 * more, as it knows nothing of limits. */
static const double per_cell = 40, per_cell_layout = 200;
/* Temperatures, in typical costs of a move (cm_mesh_typical): after halving the cells, where all is new; at the end of
 * every level. */
static const double hot_split = 1, cold_end = 0.05;
/* Temperatures at which a level starts that comes from a coarser one, and in a V-cycle: a spectral start is straight in
 * the large and must not be melted. */
static const double hot_fine[] = {[CM_BY_WEIGHT] = 0.4, [CM_BY_DISTANCE] = 0.5, [CM_BY_LAYOUT] = 0.05};
static const double hot_cycle[] = {[CM_BY_WEIGHT] = 0.25, [CM_BY_DISTANCE] = 0.1, [CM_BY_LAYOUT] = 0.05};
/* The effort for a layout that is tried only. */
static const double quick_layout = 0.25;
/* Cold sweeps pass over few vertices, so more of them are paid for. */
static const double sweeps_of[] = {[CM_BY_WEIGHT] = 1, [CM_BY_DISTANCE] = 1, [CM_BY_LAYOUT] = 10};

void cm_mesh_descent_free(cm_mesh_descent *d)
{
  cm_mesh_grid_free(d->grid);
  cm_free(d->cell);
  *d = (cm_mesh_descent){0};
}

/* Limits of the cells: exact on the finest graph, with room for one more vertex on coarser ones. */
static cm_status cell_limits(const cm_mesh_work *w, const cm_mesh_descent *d, uint64_t **most, cm_error *error)
{
  uint32_t cells = d->grid->columns * d->grid->rows;
  const cm_csr_graph *g = w->hierarchy->level[d->level];
  CM_TRY(CM_NEW(w->run->memory, *most, cells, error));
  for (uint32_t c = 0; c < cells; c++)
    if (d->grid->cores[c] > 0)
      (*most)[c] = d->grid->cores[c] * w->options->most + (d->level > 0 ? g->size_max : 0);
  return CM_OK;
}

/* What annealing a level of so many vertices takes beside the finest of so many. */
static double level_takes(const cm_mesh_work *w, uint32_t vertices, uint32_t finest)
{
  return pow((double)vertices / finest, 1 - w->power);
}

/* Anneals the descent's level. */
static cm_status refine(const cm_mesh_work *w, cm_mesh_descent *d, double hot, cm_random *random, cm_error *error)
{
  cm_mesh_state *s;
  uint64_t *most;
  const cm_csr_graph *g = w->hierarchy->level[d->level];
  CM_TRY(cell_limits(w, d, &most, error));
  cm_status status = cm_mesh_state_new(g, d->grid, d->cell, most, w->run, &s, error);
  cm_free(most);
  CM_TRY(status);
  double unit = cm_mesh_typical(s), ratio = (double)w->hierarchy->vertices[0] / g->vertex_count;
  cm_mesh_schedule schedule = {hot * unit, cold_end * unit, sweeps_of[w->kind] * w->sweeps * pow(ratio, w->power),
                               w->finest * level_takes(w, g->vertex_count, w->hierarchy->vertices[0]), w->chance};
  status = cm_mesh_rebalance(s, error);
  if (status == CM_LIMIT_BROKEN && d->level > 0)
    status = CM_OK; /* finer vertices will fit */
  CM_THEN(status, cm_mesh_anneal(s, &schedule, random, error));
  CM_THEN(status, cm_mesh_settle(s, 10, error));
  cm_mesh_state_free(s);
  d->cost = cm_mesh_total(g, d->grid, d->cell);
  return status;
}

static cm_status uncoarsen(const cm_mesh_work *w, cm_mesh_descent *d, cm_error *error)
{
  uint32_t finer = d->level - 1;
  uint32_t *cell = cm_reallocate(w->run->memory, d->cell, w->hierarchy->vertices[finer], sizeof *cell, error);
  if (cell == NULL)
    return error->status;
  cm_hierarchy_project(w->hierarchy, finer, cell);
  d->cell = cell;
  d->level = finer;
  return CM_OK;
}

cm_status cm_mesh_uncoarsen(const cm_mesh_work *w, cm_mesh_descent *d, bool cycle, cm_random *random,
                            cm_error *error)
{
  CM_TRY(uncoarsen(w, d, error));
  return refine(w, d, cycle ? hot_cycle[w->kind] : hot_fine[w->kind], random, error);
}

double cm_mesh_vertices_per_core(cm_mesh_kind kind)
{
  return kind == CM_BY_LAYOUT ? per_cell_layout : per_cell;
}

/* Whether the graph has vertices enough for cells half as large. */
static bool splits_next(const cm_mesh_work *w, const cm_mesh_descent *d)
{
  double cells = (double)d->grid->columns * d->grid->rows;
  return !cm_mesh_grid_done(d->grid, w->axes) && w->hierarchy->vertices[d->level] >= 2 * cells * per_cell;
}

/* One step down: finer cells while the graph has vertices for them, else a finer graph; done: level `last` is ready. */
static cm_status step(const cm_mesh_work *w, cm_mesh_descent *d, uint32_t last, cm_random *random, bool *done,
                      cm_error *error)
{
  bool fine_grid = cm_mesh_grid_done(d->grid, w->axes);
  *done = d->level <= last && (fine_grid || (last > 0 && !splits_next(w, d)));
  if (*done)
    return CM_OK;
  if (splits_next(w, d) || (!fine_grid && d->level == 0)) {
    cm_status status = cm_mesh_halve_cells(w, d, random, error);
    return status == CM_OK ? refine(w, d, hot_split, random, error) : status;
  }
  return cm_mesh_uncoarsen(w, d, false, random, error);
}

/* The level to which all starts go. */
static uint32_t start_level(const cm_hierarchy *hierarchy)
{
  uint32_t level = hierarchy->levels - 1;
  while (level > 0 && (double)hierarchy->vertices[level - 1] < 0.1 * hierarchy->vertices[0])
    level--;
  return level;
}

double cm_mesh_levels_take(const cm_mesh_work *w, const cm_hierarchy *hierarchy, uint32_t starts)
{
  double all = 0, halvings = starts > 0 ? log2((double)w->axes->columns * w->axes->rows) / hierarchy->levels / 4 : 0;
  const uint32_t last = start_level(hierarchy);
  for (uint32_t l = 0; l < hierarchy->levels; l++)
    all += level_takes(w, hierarchy->vertices[l], hierarchy->vertices[0]) * (l > 0 ? 1 + halvings : 1) * (starts > 0 && l >= last ? starts : 1);
  return all;
}

static cm_status start_one(void *context, size_t index, cm_error *error)
{
  cm_mesh_work *w = context;
  cm_mesh_descent *d = &w->start[index];
  cm_random random;
  bool done = false;
  uint32_t last = start_level(w->hierarchy);
  cm_random_init(&random, w->seed, CM_STREAM_MESH, index);
  d->level = w->hierarchy->levels - 1;
  CM_TRY(cm_mesh_grid_new(w->axes, w->run, &d->grid, error));
  CM_TRY(CM_NEW(w->run->memory, d->cell, w->hierarchy->vertices[d->level], error));
  while (!done && (d->level > last || splits_next(w, d)))
    CM_TRY(step(w, d, 0, &random, &done, error));
  return CM_OK;
}

/* The best of several coarse starts. */
static cm_status start_best(cm_mesh_work *w, uint32_t starts, cm_mesh_descent *d, cm_error *error)
{
  uint32_t best = 0;
  CM_TRY(CM_NEW(w->run->memory, w->start, starts, error));
  cm_status status = cm_parallel(w->run, starts, start_one, w, error);
  for (uint32_t i = 1; i < starts; i++)
    best = w->start[i].cost < w->start[best].cost ? i : best;
  *d = w->start[best];
  w->start[best] = (cm_mesh_descent){0};
  for (uint32_t i = 0; i < starts; i++)
    cm_mesh_descent_free(&w->start[i]);
  cm_free(w->start);
  w->start = NULL;
  return status;
}

/* A spectral start on the finest level, or, quickly, on the coarsest level that has enough vertices for all cells. */
static cm_status start_by_layout(const cm_mesh_work *w, bool quick, cm_mesh_descent *d, cm_random *random,
                                 cm_error *error)
{
  double cells = (double)w->axes->columns * w->axes->rows;
  d->level = quick ? w->hierarchy->levels - 1 : 0;
  while (d->level > 0 && w->hierarchy->vertices[d->level] < cells * per_cell_layout)
    d->level--;
  cm_status status = cm_mesh_grid_new(w->axes, w->run, &d->grid, error);
  while (status == CM_OK && !cm_mesh_grid_done(d->grid, w->axes)) {
    cm_mesh_grid *finer;
    uint32_t *parent;
    status = cm_mesh_grid_split(d->grid, w->axes, w->run, &finer, &parent, error);
    if (status == CM_OK) {
      cm_free(parent);
      cm_mesh_grid_free(d->grid);
      d->grid = finer;
    }
  }
  CM_THEN(status, CM_NEW(w->run->memory, d->cell, w->hierarchy->vertices[d->level], error));
  CM_THEN(status, cm_mesh_layout(w, d, quick ? quick_layout : 1, error));
  return status == CM_OK ? refine(w, d, hot_fine[w->kind], random, error) : status;
}

cm_status cm_mesh_descend_on(cm_mesh_work *w, uint32_t last, cm_error *error)
{
  cm_status status = CM_OK;
  for (bool done = false; status == CM_OK && !done;)
    status = step(w, &w->best, last, &w->random, &done, error);
  return status;
}

cm_status cm_mesh_descend(cm_mesh_work *w, bool quick, uint32_t last, cm_error *error)
{
  cm_mesh_descent d = {0};
  cm_random_init(&w->random, w->seed, CM_STREAM_MESH, UINT64_MAX);
  cm_status status = w->kind == CM_BY_LAYOUT ? start_by_layout(w, quick, &d, &w->random, error)
                                             : start_best(w, quick ? 1 : w->options->starts, &d, error);
  w->best = d;
  return status == CM_OK ? cm_mesh_descend_on(w, last, error) : status;
}
