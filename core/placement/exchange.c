#include "core/placement/exchange.h"

#include <math.h>
#include <stdlib.h>

#include "base/annealing.h"
#include "base/order.h"
#include "base/wide.h"

enum { CHANCES = 4096, CHECK_EVERY = 1024 };

/* Where a vertex stands: prices from the first column and row on where both axes are straight, else the numbers of
 * column and row. */
typedef struct spot {
  int32_t x, y;
} spot;

typedef struct field {
  const cm_csr_graph *graph;
  const cm_cells *cells;
  uint32_t movable;   /* cells before the pinned ones */
  bool straight;      /* distances are differences */
  const uint32_t *weight; /* [entries] */
  spot *spot;         /* [vertices] */
  uint32_t *cell;     /* [vertices] */
  uint32_t *occupant; /* [cells] */
  double *chance;     /* [CHANCES] -log of evenly spaced chances */
  int64_t gain; /* in units of these weights */
} field;

static spot spot_of(const field *f, uint32_t cell)
{
  const cm_axes *a = f->cells->axes;
  uint32_t column = f->cells->column[cell], row = f->cells->row[cell];
  return f->straight ? (spot){(int32_t)a->dx[column], (int32_t)a->dy[row]} : (spot){(int32_t)column, (int32_t)row};
}

/* Whether the distances along an axis are those between points of a line that starts at its first place. */
static bool is_straight(const uint32_t *distance, uint32_t length)
{
  for (uint32_t i = 0; i < length; i++)
    for (uint32_t j = 0; j < i; j++)
      if (distance[(size_t)i * length + j] != distance[i] - distance[j])
        return false;
  return true;
}

/* What vertex u pays more at `there` than at `here`; *between is its weight to `other`. */
CM_WIDE_LOOP static int64_t straight_price(const field *f, uint32_t u, spot here, spot there, uint32_t other, uint64_t *between)
{
  const cm_csr_graph *g = f->graph;
  int64_t sum = 0;
  uint64_t met = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t v = g->neighbour[i], w = f->weight[i];
    spot s = f->spot[v];
    int64_t along_x = abs(s.x - there.x) - abs(s.x - here.x), along_y = abs(s.y - there.y) - abs(s.y - here.y);
    sum += w * (along_x + along_y);
    met += v == other ? w : 0;
  }
  *between = met;
  return sum;
}

static int64_t table_price(const field *f, uint32_t u, spot here, spot there, uint32_t other, uint64_t *between)
{
  const cm_csr_graph *g = f->graph;
  const cm_axes *a = f->cells->axes;
  const uint32_t *dx_here = a->dx + (size_t)here.x * a->columns, *dx_there = a->dx + (size_t)there.x * a->columns;
  const uint32_t *dy_here = a->dy + (size_t)here.y * a->rows, *dy_there = a->dy + (size_t)there.y * a->rows;
  int64_t sum = 0;
  uint64_t met = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t v = g->neighbour[i], w = f->weight[i];
    spot s = f->spot[v];
    sum += w * ((int64_t)dx_there[s.x] - dx_here[s.x] + dy_there[s.y] - dy_here[s.y]);
    met += v == other ? w : 0;
  }
  *between = met;
  return sum;
}

static int64_t price(const field *f, uint32_t u, spot here, spot there, uint32_t other, uint64_t *between)
{
  return f->straight ? straight_price(f, u, here, there, other, between)
                     : table_price(f, u, here, there, other, between);
}

static int64_t apart(const field *f, uint32_t a, uint32_t b)
{
  const cm_axes *x = f->cells->axes;
  const cm_cells *c = f->cells;
  return (int64_t)x->dx[(size_t)c->column[a] * x->columns + c->column[b]] +
         x->dy[(size_t)c->row[a] * x->rows + c->row[b]];
}

static uint32_t cell_at(const field *f, int64_t column, int64_t row)
{
  const cm_axes *a = f->cells->axes;
  if (column < 0 || row < 0 || column >= a->columns || row >= a->rows)
    return CM_NO_CELL;
  return f->cells->at[(size_t)row * a->columns + (size_t)column];
}

/* A cell to look at for u: beside its own, or near where three of its neighbours are in the middle. */
static uint32_t propose(const field *f, uint32_t u, cm_random *random)
{
  const cm_cells *c = f->cells;
  const cm_csr_graph *g = f->graph;
  uint64_t bits = cm_random_next(random), degree = cm_csr_graph_degree(g, u);
  int64_t column = c->column[f->cell[u]], row = c->row[f->cell[u]];
  uint32_t reach = bits & 1 || degree == 0 ? 1 + (bits >> 1 & 1) : 1;
  if (!(bits & 1) && degree > 0) {
    uint32_t near[3];
    uint64_t draw = cm_random_next(random);
    for (int k = 0; k < 3; k++) {
      uint64_t i = (draw >> 21 * k & 0x1fffff) * degree >> 21;
      near[k] = f->cell[g->neighbour[g->first[u] + i]];
    }
    int64_t to_x = cm_middle(c->column[near[0]], c->column[near[1]], c->column[near[2]]);
    int64_t to_y = cm_middle(c->row[near[0]], c->row[near[1]], c->row[near[2]]);
    column = bits & 4 ? (column + to_x) / 2 : to_x;
    row = bits & 4 ? (row + to_y) / 2 : to_y;
  }
  uint32_t side = 2 * reach + 1;
  int64_t x = (int64_t)((bits >> 8 & 0xffffff) * side >> 24) - reach;
  int64_t y = (int64_t)((bits >> 32 & 0xffffff) * side >> 24) - reach;
  return cell_at(f, column + x * c->spacing, row + y * c->spacing);
}

static void exchange(field *f, uint32_t u, uint32_t v, spot to_u, spot to_v)
{
  uint32_t cell = f->cell[u];
  f->cell[u] = f->cell[v];
  f->cell[v] = cell;
  f->occupant[f->cell[u]] = u;
  f->occupant[cell] = v;
  f->spot[u] = to_u;
  f->spot[v] = to_v;
}

static void look(field *f, uint32_t u, double temperature, cm_random *random)
{
  uint32_t here = f->cell[u], there = propose(f, u, random);
  if (there >= f->movable || there == here || here >= f->movable)
    return;
  uint32_t v = f->occupant[there];
  spot a = f->spot[u], b = f->spot[v];
  uint64_t between, unused;
  int64_t change = price(f, u, a, b, v, &between) + price(f, v, b, a, u, &unused);
  change += 2 * (int64_t)between * apart(f, here, there); /* they stay as far apart as they were */
  if (change > 0 && (double)change > temperature * f->chance[cm_random_next(random) >> 52])
    return;
  exchange(f, u, v, b, a);
  f->gain -= change;
}

/* What moving a vertex by a cell costs or saves, about. */
static double typical(const field *f)
{
  const cm_csr_graph *g = f->graph;
  const cm_axes *a = f->cells->axes;
  double sum = 0, span = 0;
  uint64_t steps = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    double squares = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      squares += (double)f->weight[i] * f->weight[i];
    sum += sqrt(squares);
  }
  for (uint32_t i = 0; i + 1 < a->columns; i++, steps++)
    span += a->dx[(size_t)i * a->columns + i + 1];
  for (uint32_t i = 0; i + 1 < a->rows; i++, steps++)
    span += a->dy[(size_t)i * a->rows + i + 1];
  return g->vertex_count > 0 && steps > 0 ? sum / g->vertex_count * span / (double)steps * f->cells->spacing : 0;
}

static cm_status anneal(field *f, const cm_exchange_schedule *s, cm_run *run, cm_error *error)
{
  uint32_t n = f->graph->vertex_count;
  double unit = typical(f);
  for (uint32_t k = 0; k < s->sweeps; k++) {
    double temperature = cm_cooled(unit * s->hot, s->cold / s->hot, s->sweeps > 1 ? (double)k / (s->sweeps - 1) : 1);
    for (uint32_t u = 0; u < n; u++) {
      look(f, u, temperature, s->random);
      CM_TRY_IF(u % CHECK_EVERY == 0, cm_run_progress(run, (k + (double)u / n) / s->sweeps, -1, n, NAN, error));
    }
  }
  return CM_OK;
}

/* How far weights must be shifted right to fit 32 bits, and so that no row's prices add up to more than 60. */
static unsigned shift_of(const field *f)
{
  const cm_csr_graph *g = f->graph;
  const cm_axes *a = f->cells->axes;
  double most = 0, span = 1;
  uint64_t heaviest = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    double row = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint64_t w = cm_csr_graph_weight(g, i);
      row += (double)w;
      heaviest = w > heaviest ? w : heaviest;
    }
    most = row > most ? row : most;
  }
  for (size_t i = 0; i < (size_t)a->columns * a->columns; i++)
    span = fmax(span, 4.0 * a->dx[i]);
  for (size_t i = 0; i < (size_t)a->rows * a->rows; i++)
    span = fmax(span, 4.0 * a->dy[i]);
  unsigned shift = 0;
  while (heaviest >> shift > UINT32_MAX || ldexp(most * span, -(int)shift) > 0x1p60)
    shift++;
  return shift;
}

/* The graph's own weights where they fit, else *made. */
static cm_status take_weights(field *f, cm_run *run, uint32_t **made, unsigned *shift, cm_error *error)
{
  const cm_csr_graph *g = f->graph;
  *shift = shift_of(f);
  f->weight = g->weight;
  if (g->weight != NULL && *shift == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, *made, g->entry_count, error));
  for (uint64_t i = 0; i < g->entry_count; i++)
    (*made)[i] = (uint32_t)(cm_csr_graph_weight(g, i) >> *shift);
  f->weight = *made;
  return CM_OK;
}

cm_status cm_anneal_by_exchange(const cm_csr_graph *graph, const cm_cells *cells, const cm_exchange_schedule *schedule, cm_run *run,
                                uint32_t *cell, cm_error *error)
{
  const cm_axes *a = cells->axes;
  uint32_t *weight = NULL;
  unsigned shift = 0;
  field f = {.graph = graph, .cells = cells, .movable = cells->count - cells->pinned, .cell = cell};
  f.straight = is_straight(a->dx, a->columns) && is_straight(a->dy, a->rows);
  cm_status status = take_weights(&f, run, &weight, &shift, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(f.spot, graph->vertex_count), CM_ARRAY(f.occupant, cells->count),
                             CM_ARRAY(f.chance, CHANCES)));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < CHANCES; i++)
      f.chance[i] = -log((i + 0.5) / CHANCES);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
      f.spot[v] = spot_of(&f, cell[v]);
      f.occupant[cell[v]] = v;
    }
    status = anneal(&f, schedule, run, error);
  }
  CM_FREE(weight, f.spot, f.occupant, f.chance);
  if (status == CM_OK && schedule->gain != NULL)
    *schedule->gain = f.gain * (INT64_C(1) << shift);
  return status;
}
