#include "core/placement/mesh/mesh_state.h"

enum { COARSE_UNIT = 4 };

void cm_mesh_grid_free(cm_mesh_grid *grid)
{
  if (grid == NULL)
    return;
  CM_FREE(grid->column_first, grid->row_first, grid->dx, grid->dy, grid->cores, grid->x, grid->y, grid);
}

bool cm_mesh_grid_done(const cm_mesh_grid *grid, const cm_axes *axes)
{
  return grid->columns == axes->columns && grid->rows == axes->rows;
}

/* Mean distances between the intervals of an axis. */
static void mean_distances(const uint32_t *distance, uint32_t length, const uint32_t *first, uint32_t intervals,
                           uint32_t unit, int32_t *mean)
{
  for (uint32_t i = 0; i < intervals; i++)
    for (uint32_t j = 0; j < intervals; j++) {
      uint64_t sum = 0, pairs = (uint64_t)(first[i + 1] - first[i]) * (first[j + 1] - first[j]);
      for (uint32_t a = first[i]; a < first[i + 1] && i != j; a++)
        for (uint32_t b = first[j]; b < first[j + 1]; b++)
          sum += distance[(size_t)a * length + b];
      mean[(size_t)i * intervals + j] = (int32_t)((sum * unit + pairs / 2) / pairs);
    }
}

static void measure_step(cm_mesh_grid *g)
{
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t c = 0; c + 1 < g->columns; c++, count++)
    sum += g->dx[(size_t)c * g->columns + c + 1];
  for (uint32_t r = 0; r + 1 < g->rows; r++, count++)
    sum += g->dy[(size_t)r * g->rows + r + 1];
  g->step = count > 0 ? sum / count : 1;
}

/* Fills what follows from the intervals. */
static cm_status complete(cm_mesh_grid *g, const cm_axes *axes, cm_run *run, cm_error *error)
{
  uint32_t *column_of, *row_of = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(g->dx, (size_t)g->columns * g->columns),
                                CM_ARRAY(g->dy, (size_t)g->rows * g->rows), CM_ARRAY(g->cores, (size_t)g->columns * g->rows),
                                CM_ARRAY(g->x, (size_t)g->columns * g->rows), CM_ARRAY(g->y, (size_t)g->columns * g->rows));
  CM_TRY(status);
  for (uint32_t c = 0; c < g->columns * g->rows; c++) {
    g->x[c] = c % g->columns;
    g->y[c] = c / g->columns;
  }
  g->unit = cm_mesh_grid_done(g, axes) ? 1 : COARSE_UNIT;
  mean_distances(axes->dx, axes->columns, g->column_first, g->columns, g->unit, g->dx);
  mean_distances(axes->dy, axes->rows, g->row_first, g->rows, g->unit, g->dy);
  measure_step(g);
  status = CM_NEW_ALL(run->memory, error, CM_ARRAY(column_of, axes->columns), CM_ARRAY(row_of, axes->rows));
  if (status == CM_OK) {
    for (uint32_t c = 0; c < g->columns; c++)
      for (uint32_t x = g->column_first[c]; x < g->column_first[c + 1]; x++)
        column_of[x] = c;
    for (uint32_t r = 0; r < g->rows; r++)
      for (uint32_t y = g->row_first[r]; y < g->row_first[r + 1]; y++)
        row_of[y] = r;
    for (uint32_t i = 0; i < axes->count; i++)
      g->cores[(size_t)row_of[axes->row[i]] * g->columns + column_of[axes->column[i]]]++;
  }
  CM_FREE(column_of, row_of);
  return status;
}

/* A grid with these numbers of intervals, which the caller fills in. */
static cm_status allocate(uint32_t columns, uint32_t rows, cm_run *run, cm_mesh_grid **grid, cm_error *error)
{
  cm_mesh_grid *g;
  CM_TRY(CM_NEW(run->memory, g, 1, error));
  g->columns = columns;
  g->rows = rows;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->column_first, (size_t)columns + 1),
                       CM_ARRAY(g->row_first, (size_t)rows + 1)), cm_mesh_grid_free(g));
  *grid = g;
  return CM_OK;
}

cm_status cm_mesh_grid_new(const cm_axes *axes, cm_run *run, cm_mesh_grid **grid, cm_error *error)
{
  cm_mesh_grid *g;
  CM_TRY(allocate(1, 1, run, &g, error));
  g->column_first[1] = axes->columns;
  g->row_first[1] = axes->rows;
  cm_status status = complete(g, axes, run, error);
  CM_END(status, *grid = g, cm_mesh_grid_free(g));
}

static uint32_t widest(const uint32_t *first, uint32_t intervals)
{
  uint32_t most = 0;
  for (uint32_t i = 0; i < intervals; i++)
    most = first[i + 1] - first[i] > most ? first[i + 1] - first[i] : most;
  return most;
}

/* Halves all intervals as wide as the widest, less one; `from` gets the interval that each new one came from. */
static uint32_t halve(const uint32_t *first, uint32_t intervals, bool split, uint32_t *finer, uint32_t *from)
{
  uint32_t count = 0, least = widest(first, intervals) - 1;
  for (uint32_t i = 0; i < intervals; i++) {
    uint32_t width = first[i + 1] - first[i];
    from[count] = i;
    finer[count++] = first[i];
    if (split && width >= 2 && width >= least) {
      from[count] = i;
      finer[count++] = first[i] + (width + 1) / 2;
    }
  }
  finer[count] = first[intervals];
  return count;
}

cm_status cm_mesh_grid_split(const cm_mesh_grid *grid, const cm_axes *axes, cm_run *run, cm_mesh_grid **finer,
                             uint32_t **parent, cm_error *error)
{
  bool by_column = widest(grid->column_first, grid->columns) >= widest(grid->row_first, grid->rows);
  cm_mesh_grid *g;
  uint32_t *from_column, *from_row = NULL, *cells = NULL;
  CM_TRY(allocate(2 * grid->columns, 2 * grid->rows, run, &g, error));
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(from_column, 2 * (size_t)grid->columns),
                                CM_ARRAY(from_row, 2 * (size_t)grid->rows));
  if (status == CM_OK) {
    g->columns = halve(grid->column_first, grid->columns, by_column, g->column_first, from_column);
    g->rows = halve(grid->row_first, grid->rows, !by_column, g->row_first, from_row);
    status = complete(g, axes, run, error);
  }
  CM_THEN(status, CM_NEW(run->memory, cells, (size_t)g->columns * g->rows, error));
  for (uint32_t r = 0; status == CM_OK && r < g->rows; r++)
    for (uint32_t c = 0; c < g->columns; c++)
      cells[(size_t)r * g->columns + c] = from_row[r] * grid->columns + from_column[c];
  CM_FREE(from_column, from_row);
  CM_TRY_OR(status, cm_mesh_grid_free(g));
  *finer = g;
  *parent = cells;
  return CM_OK;
}
