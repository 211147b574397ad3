#include "core/placement/mesh/mesh_state.h"

#include <string.h>

#include "base/wide.h"

enum { LANES = 8, LINE = 64 /* bytes of a cache line */, AHEAD = 4 /* rows for which memory is asked in advance */ };
/* Up to so many edges a vertex, summing over them is faster than keeping tables that no cache holds. */
static const double degree_direct = 6;
#define NONE UINT32_MAX

static size_t padded(size_t length)
{
  return (length + LANES - 1) / LANES * LANES;
}

/* The rows of a vertex' neighbours in a table, from one column to another. */
typedef struct rows {
  const uint32_t *neighbour, *weight; /* [degree] weight NULL: 1 each */
  size_t degree, stride, begin, end;
} rows;

/* Adds weight * change to these. */
CM_WIDE static void add_rows(int32_t *restrict table, rows of, const int32_t *restrict change)
{
  for (size_t i = 0; i < of.degree; i++) {
    int32_t *row = table + of.neighbour[i] * of.stride;
    int32_t w = of.weight != NULL ? (int32_t)of.weight[i] : 1;
    if (i + AHEAD < of.degree)
      __builtin_prefetch(table + of.neighbour[i + AHEAD] * of.stride + of.begin, 1);
    for (size_t c = of.begin; c < of.end; c += LANES)
      for (size_t k = 0; k < LANES; k++)
        row[c + k] += w * change[c + k];
  }
}

/* The same in 16 bits. */
CM_WIDE static void add_narrow_rows(int16_t *restrict table, rows of, const int16_t *restrict change)
{
  for (size_t i = 0; i < of.degree; i++) {
    int16_t *row = table + of.neighbour[i] * of.stride, w = (int16_t)(of.weight != NULL ? of.weight[i] : 1);
    if (i + AHEAD < of.degree)
      __builtin_prefetch(table + of.neighbour[i + AHEAD] * of.stride + of.begin, 1);
    for (size_t c = of.begin; c < of.end; c += LANES)
      for (size_t k = 0; k < LANES; k++)
        row[c + k] = (int16_t)(row[c + k] + w * change[c + k]);
  }
}

/* Adds the edges of v as seen from its cell, or as moved there from another. */
static void add_edges(cm_mesh_state *s, uint32_t v, size_t begin, size_t end)
{
  uint64_t first = s->graph->first[v];
  const rows of = {s->graph->neighbour + first, s->weight != NULL ? s->weight + first : NULL, s->graph->first[v + 1] - first, s->stride,
                   begin, end};
  if (s->table != NULL) {
    add_rows(s->table, of, s->change);
    return;
  }
  for (size_t c = begin; c < end; c++)
    s->narrow_change[c] = (int16_t)s->change[c];
  add_narrow_rows(s->narrow, of, s->narrow_change);
}

static void fill_change(cm_mesh_state *s, uint32_t from, uint32_t to)
{
  const cm_mesh_grid *g = s->grid;
  const int32_t *column = g->dx + (size_t)(to % g->columns) * g->columns;
  const int32_t *row = g->dy + (size_t)(to / g->columns) * g->rows;
  if (from == NONE) {
    memcpy(s->change, column, g->columns * sizeof *column);
    memcpy(s->change + s->rows_at, row, g->rows * sizeof *row);
    return;
  }
  const int32_t *old_column = g->dx + (size_t)(from % g->columns) * g->columns;
  const int32_t *old_row = g->dy + (size_t)(from / g->columns) * g->rows;
  for (uint32_t c = 0; c < g->columns; c++)
    s->change[c] = column[c] - old_column[c];
  for (uint32_t r = 0; r < g->rows; r++)
    s->change[s->rows_at + r] = row[r] - old_row[r];
}

static void enter(cm_mesh_state *s, uint32_t v, uint32_t cell)
{
  uint32_t head = s->head[cell];
  if (head == NONE) {
    s->next[v] = s->previous[v] = v;
    s->head[cell] = v;
  } else { /* last in the ring */
    s->previous[v] = s->previous[head];
    s->next[v] = head;
    s->next[s->previous[head]] = v;
    s->previous[head] = v;
  }
  s->load[cell] += s->graph->size[v];
  s->cell[v] = cell;
}

static void leave(cm_mesh_state *s, uint32_t v)
{
  uint32_t cell = s->cell[v];
  s->next[s->previous[v]] = s->next[v];
  s->previous[s->next[v]] = s->previous[v];
  if (s->head[cell] == v)
    s->head[cell] = s->next[v] == v ? NONE : s->next[v];
  s->load[cell] -= s->graph->size[v];
}

int32_t cm_mesh_cost_of_edges(const cm_mesh_state *s, uint32_t v, uint32_t to)
{
  const cm_csr_graph *g = s->graph;
  const cm_mesh_grid *grid = s->grid;
  uint32_t from = s->cell[v];
  const int32_t *x_to = grid->dx + (size_t)grid->x[to] * grid->columns;
  const int32_t *x_from = grid->dx + (size_t)grid->x[from] * grid->columns;
  const int32_t *y_to = grid->dy + (size_t)grid->y[to] * grid->rows;
  const int32_t *y_from = grid->dy + (size_t)grid->y[from] * grid->rows;
  int32_t sum = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t cell = s->cell[g->neighbour[i]], x = grid->x[cell], y = grid->y[cell];
    sum += (s->weight != NULL ? (int32_t)s->weight[i] : 1) * (x_to[x] - x_from[x] + y_to[y] - y_from[y]);
  }
  return sum;
}

const int32_t *cm_mesh_row(cm_mesh_state *s, uint32_t v)
{
  if (s->table != NULL)
    return s->table + v * s->stride;
  if (s->narrow != NULL) {
    for (size_t c = 0; c < s->stride; c++)
      s->change[c] = s->narrow[v * s->stride + c];
    return s->change;
  }
  const cm_csr_graph *g = s->graph;
  const cm_mesh_grid *grid = s->grid;
  memset(s->change, 0, s->stride * sizeof *s->change);
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t cell = s->cell[g->neighbour[i]];
    int32_t w = s->weight != NULL ? (int32_t)s->weight[i] : 1;
    const int32_t *column = grid->dx + (size_t)grid->x[cell] * grid->columns;
    const int32_t *row = grid->dy + (size_t)grid->y[cell] * grid->rows;
    for (uint32_t c = 0; c < grid->columns; c++)
      s->change[c] += w * column[c];
    for (uint32_t r = 0; r < grid->rows; r++)
      s->change[s->rows_at + r] += w * row[r];
  }
  return s->change;
}

bool cm_mesh_inside(const cm_mesh_state *s, uint32_t v)
{
  uint32_t cell = s->cell[v];
  if (cm_mesh_tabled(s)) {
    size_t row = v * s->stride;
    return cm_mesh_entry(s, row + s->grid->x[cell]) + cm_mesh_entry(s, row + s->rows_at + s->grid->y[cell]) == 0;
  }
  for (uint64_t i = s->graph->first[v]; i < s->graph->first[v + 1]; i++)
    if (s->cell[s->graph->neighbour[i]] != cell)
      return false;
  return true;
}

void cm_mesh_move(cm_mesh_state *s, uint32_t v, uint32_t to)
{
  uint32_t from = s->cell[v], columns = s->grid->columns;
  if (cm_mesh_tabled(s)) {
    fill_change(s, from, to);
    bool along_x = from % columns != to % columns, along_y = from / columns != to / columns;
    add_edges(s, v, along_x ? 0 : s->rows_at, along_y ? s->stride : s->rows_at);
  }
  leave(s, v);
  enter(s, v, to);
}

int32_t cm_mesh_weight(const cm_mesh_state *s, uint32_t u, uint32_t v)
{
  const cm_csr_graph *g = s->graph;
  if (cm_csr_graph_degree(g, v) < cm_csr_graph_degree(g, u)) {
    uint32_t kept = u;
    u = v;
    v = kept;
  }
  int32_t sum = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
    if (g->neighbour[i] == v)
      sum += s->weight != NULL ? (int32_t)s->weight[i] : 1;
  return sum;
}

/* The farthest that two cells are apart. */
static uint64_t farthest(const cm_mesh_grid *g)
{
  int32_t x = 0, y = 0;
  for (size_t i = 0; i < (size_t)g->columns * g->columns; i++)
    x = g->dx[i] > x ? g->dx[i] : x;
  for (size_t i = 0; i < (size_t)g->rows * g->rows; i++)
    y = g->dy[i] > y ? g->dy[i] : y;
  return (uint64_t)x + (uint64_t)y + 1;
}

/* Weights as the tables take them: shifted until the heaviest vertex cannot overflow. *narrow: 16 bits hold all. */
static cm_status take_weights(cm_mesh_state *s, bool *narrow, cm_error *error)
{
  const cm_csr_graph *g = s->graph;
  uint64_t heaviest = 0, far = farthest(s->grid);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    uint64_t sum = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      sum += cm_csr_graph_weight(g, i);
    heaviest = sum > heaviest ? sum : heaviest;
  }
  while ((heaviest >> s->shift) > (uint64_t)INT32_MAX / 8 / far)
    s->shift++;
  *narrow = heaviest <= (uint64_t)INT16_MAX / far;
  s->weight = g->weight;
  if (s->shift == 0 && g->wide == NULL)
    return CM_OK;
  CM_TRY(CM_NEW(s->run->memory, s->own_weight, g->entry_count, error));
  for (uint64_t i = 0; i < g->entry_count; i++)
    s->own_weight[i] = (uint32_t)(cm_csr_graph_weight(g, i) >> s->shift);
  s->weight = s->own_weight;
  return CM_OK;
}

/* The table, empty, where a cache line begins. */
static cm_status new_table(cm_mesh_state *s, bool narrow, cm_error *error)
{
  size_t entry = narrow ? sizeof *s->narrow : sizeof *s->table;
  char *room;
  CM_TRY(CM_NEW(s->run->memory, room, s->graph->vertex_count * s->stride * entry + LINE, error));
  s->room = room;
  room += (LINE - (uintptr_t)room % LINE) % LINE;
  if (narrow)
    s->narrow = (int16_t *)(void *)room;
  else
    s->table = (int32_t *)(void *)room;
  return CM_OK;
}

static cm_status build(cm_mesh_state *s, const uint64_t *most, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t n = s->graph->vertex_count, cells = s->grid->columns * s->grid->rows;
  s->rows_at = padded(s->grid->columns);
  s->stride = s->rows_at + padded(s->grid->rows);
  bool direct = (double)s->graph->entry_count <= degree_direct * n, narrow;
  if (take_weights(s, &narrow, error) != CM_OK || (!direct && new_table(s, narrow, error) != CM_OK) ||
      CM_NEW_ALL(memory, error, CM_ARRAY(s->change, s->stride), CM_ARRAY(s->narrow_change, s->stride), CM_ARRAY(s->load, cells),
                 CM_ARRAY(s->most, cells), CM_ARRAY(s->head, cells), CM_ARRAY(s->next, n), CM_ARRAY(s->previous, n)) != CM_OK)
    return error->status;
  memcpy(s->most, most, cells * sizeof *most);
  for (uint32_t c = 0; c < cells; c++)
    s->head[c] = NONE;
  for (uint32_t v = 0; v < n; v++) {
    if (!direct) {
      fill_change(s, NONE, s->cell[v]);
      add_edges(s, v, 0, s->stride);
    }
    enter(s, v, s->cell[v]);
  }
  return CM_OK;
}

cm_status cm_mesh_state_new(const cm_csr_graph *graph, const cm_mesh_grid *grid, uint32_t *cell, const uint64_t *most,
                            cm_run *run, cm_mesh_state **state, cm_error *error)
{
  cm_mesh_state *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  s->graph = graph;
  s->grid = grid;
  s->run = run;
  s->cell = cell;
  cm_status status = build(s, most, error);
  CM_END(status, *state = s, cm_mesh_state_free(s));
}

void cm_mesh_state_free(cm_mesh_state *s)
{
  if (s == NULL)
    return;
  CM_FREE(s->own_weight, s->room, s->change, s->narrow_change, s->load, s->most, s->head, s->next, s->previous, s);
}

uint64_t cm_mesh_total(const cm_csr_graph *graph, const cm_mesh_grid *grid, const uint32_t *cell)
{
  uint64_t sum = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      sum += cm_csr_graph_weight(graph, i) * (uint64_t)cm_mesh_distance(grid, cell[v], cell[graph->neighbour[i]]);
  return sum / 2;
}
