/* Vertices of a graph on the cells of a grid: where each is, what each would pay in every column and row, how full
 * cells are. Moves are judged by two look-ups, or by the edges where they are few. Shared by the steps of the mesh
 * mapper. */
#pragma once

#include "core/partition/edge/csr_graph.h"
#include "core/placement/axes.h"

/* A grid of cells, each a rectangle of cores: from one cell of all cores to a cell a core. */
typedef struct cm_mesh_grid {
  uint32_t columns, rows;
  uint32_t *column_first, *row_first; /* [columns + 1], [rows + 1] where each interval of the axes begins */
  int32_t *dx, *dy;       /* [columns * columns], [rows * rows] mean distance of cells in `unit`s, 0 on the diagonal */
  uint32_t unit;          /* of a distance 1; 1 where every cell is one core wide and high */
  double step;            /* mean distance of adjacent cells, in units */
  uint32_t *cores;        /* [columns * rows] cores of each cell */
  uint32_t *x, *y;        /* [columns * rows] column and row of each cell */
} cm_mesh_grid;

/* One cell of all cores. */
cm_status cm_mesh_grid_new(const cm_axes *axes, cm_run *run, cm_mesh_grid **grid, cm_error *error);
void cm_mesh_grid_free(cm_mesh_grid *grid); /* NULL is allowed */
/* Whether each cell is a core. */
bool cm_mesh_grid_done(const cm_mesh_grid *grid, const cm_axes *axes);
/* Halves the longer dimension of the cells. parent [cells of the finer grid] gets the cell that each came from. */
cm_status cm_mesh_grid_split(const cm_mesh_grid *grid, const cm_axes *axes, cm_run *run, cm_mesh_grid **finer,
                             uint32_t **parent, cm_error *error);

typedef struct cm_mesh_state {
  const cm_csr_graph *graph;
  const cm_mesh_grid *grid;
  cm_run *run;
  uint32_t *cell;        /* [vertices] borrowed: row * columns + column */
  const uint32_t *weight; /* [entries] shifted so that tables fit; NULL: 1 each */
  uint32_t *own_weight;
  uint32_t shift;
  size_t stride, rows_at; /* a vertex' row of the table: columns from 0, rows from rows_at on */
  int32_t *table;        /* [vertices * stride], or */
  int16_t *narrow;       /* where costs fit. Both NULL where vertices have few edges: costs are summed over them */
  void *room;            /* that the table is in, its rows where cache lines begin */
  int32_t *change;       /* [stride] scratch of a move, or of a vertex' row */
  int16_t *narrow_change; /* [stride] scratch of a move */
  uint64_t *load, *most; /* [cells] size of the members, and its limit */
  uint32_t *next, *previous, *head; /* members of a cell in a ring */
} cm_mesh_state;

/* Builds the state. `most` [cells] is copied. O(entries * (columns + rows)). */
cm_status cm_mesh_state_new(const cm_csr_graph *graph, const cm_mesh_grid *grid, uint32_t *cell, const uint64_t *most,
                            cm_run *run, cm_mesh_state **state, cm_error *error);
void cm_mesh_state_free(cm_mesh_state *state); /* NULL is allowed */

/* Whether costs are in a table. */
static inline bool cm_mesh_tabled(const cm_mesh_state *s)
{
  return s->narrow != NULL || s->table != NULL;
}

/* Entry i of the table. O(1). */
static inline int32_t cm_mesh_entry(const cm_mesh_state *s, size_t i)
{
  return s->narrow != NULL ? s->narrow[i] : s->table[i];
}

/* The same as cm_mesh_cost, from the edges. O(degree). */
int32_t cm_mesh_cost_of_edges(const cm_mesh_state *s, uint32_t v, uint32_t to);

/* Change of cost when v moves alone. O(1), or O(degree) without a table. */
static inline int32_t cm_mesh_cost(const cm_mesh_state *s, uint32_t v, uint32_t to)
{
  if (!cm_mesh_tabled(s))
    return cm_mesh_cost_of_edges(s, v, to);
  const uint32_t *x = s->grid->x, *y = s->grid->y;
  uint32_t from = s->cell[v];
  size_t column = v * s->stride, row = column + s->rows_at;
  return cm_mesh_entry(s, column + x[to]) - cm_mesh_entry(s, column + x[from]) + cm_mesh_entry(s, row + y[to]) -
         cm_mesh_entry(s, row + y[from]);
}

/* The costs of v by column, and from rows_at on by row; valid until the next call or move. O(columns + rows), times the
 * degree without a table. */
const int32_t *cm_mesh_row(cm_mesh_state *s, uint32_t v);

/* Whether all that v talks to is in its cell. O(1), or O(degree) without a table. */
bool cm_mesh_inside(const cm_mesh_state *s, uint32_t v);

/* Weight between u and v as the tables have it. O(least degree). */
int32_t cm_mesh_weight(const cm_mesh_state *s, uint32_t u, uint32_t v);

/* Distance of two cells, in units. */
static inline int32_t cm_mesh_distance(const cm_mesh_grid *g, uint32_t a, uint32_t b)
{
  return g->dx[(size_t)g->x[a] * g->columns + g->x[b]] + g->dy[(size_t)g->y[a] * g->rows + g->y[b]];
}

/* Moves v, whatever the limits. O(degree * (columns + rows)), or O(1) without a table. */
void cm_mesh_move(cm_mesh_state *s, uint32_t v, uint32_t to);

static inline bool cm_mesh_fits(const cm_mesh_state *s, uint32_t v, uint32_t to)
{
  return s->load[to] + s->graph->size[v] <= s->most[to];
}

/* Sum over edges of weight * distance, from scratch, in the units of graph and grid. O(entries). */
uint64_t cm_mesh_total(const cm_csr_graph *graph, const cm_mesh_grid *grid, const uint32_t *cell);
