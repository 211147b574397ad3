/* The spectral start: the two slowest non-constant modes of the random walk on the graph are coordinates in which a
 * graph that was drawn on a plane lies nearly as it was drawn. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/wide.h"
#include "core/partition/options.h"
#include "core/placement/mesh/mesh_coarsen.h"

/* The layout uses two modes; more are kept beside them, so that those that are nearly as slow are told apart. */
enum { ANGLES = 12, MODES = 4, ROUNDS = 2 };
/* Walks of each round on a level: together as many as this many times the work of one on the finest graph pays for,
 * within bounds. Slow modes take many, most of them where they are cheap. */
static const double work_share = 40, degree_least = 20, degree_most = 300;
/* The fastest mode that a filter of degree d lets grow is at least growth / d^2 away from 1: nearer ones it could not
 * tell from the slowest. */
static const double growth = 4.5, growth_most = 200; /* beyond it numbers get too large */
/* A quarter turn: grids look the same after it, but for their sides. */
static const double full_turn = 1.57079632679489661923, angle_least = 0.002;

typedef struct modes {
  const cm_csr_graph *graph;
  double *value, *last, *next; /* [vertices * MODES] */
  double *degree;              /* [vertices] weighted */
  double slowest;              /* of the modes that are not wanted: their eigenvalue at least */
} modes;

static void modes_free(modes *m)
{
  cm_free(m->value);
  cm_free(m->last);
  cm_free(m->next);
  cm_free(m->degree);
}

/* next = a * walk(value) + b * value + c * last. */
CM_WIDE static void walk(const modes *m, const double *restrict value, const double *restrict last,
                         double *restrict next, double a, double b, double c)
{
  const cm_csr_graph *g = m->graph;
  bool unit = g->weight == NULL && g->wide == NULL;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    double sum[MODES] = {0}, scale = m->degree[v] > 0 ? a / m->degree[v] : 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      const double *at = value + (size_t)g->neighbour[i] * MODES;
      double w = unit ? 1 : g->weight != NULL ? (double)g->weight[i] : (double)g->wide[i];
      for (size_t k = 0; k < MODES; k++)
        sum[k] += w * at[k];
    }
    const double *own = value + (size_t)v * MODES, *before = last + (size_t)v * MODES;
    double *out = next + (size_t)v * MODES;
    for (size_t k = 0; k < MODES; k++)
      out[k] = scale * sum[k] + b * own[k] + c * before[k];
  }
}

/* Inner product of two modes, in degrees. */
static double product(const modes *m, const double *a, const double *b, size_t i, size_t j)
{
  double sum = 0;
  for (size_t v = 0; v < m->graph->vertex_count; v++)
    sum += m->degree[v] * a[v * MODES + i] * b[v * MODES + j];
  return sum;
}

/* Takes the constant and the modes before it out of each mode, and scales it to length 1. */
static void purify(modes *m)
{
  size_t n = m->graph->vertex_count;
  double *x = m->value, total = 0;
  for (size_t v = 0; v < n; v++)
    total += m->degree[v];
  for (size_t k = 0; k < MODES; k++) {
    double sum = 0;
    for (size_t v = 0; v < n; v++)
      sum += m->degree[v] * x[v * MODES + k];
    for (size_t v = 0; v < n; v++)
      x[v * MODES + k] -= total > 0 ? sum / total : 0;
    for (size_t j = 0; j < k; j++) {
      double shared = product(m, x, x, k, j);
      for (size_t v = 0; v < n; v++)
        x[v * MODES + k] -= shared * x[v * MODES + j];
    }
    double length = sqrt(product(m, x, x, k, k));
    for (size_t v = 0; v < n && length > 0; v++)
      x[v * MODES + k] /= length;
  }
}

/* Jacobi's method: turns the symmetric matrix h until it is diagonal; the columns of u are its eigenvectors. */
static void diagonalize(double h[MODES][MODES], double u[MODES][MODES])
{
  for (size_t i = 0; i < MODES; i++)
    for (size_t j = 0; j < MODES; j++)
      u[i][j] = i == j;
  for (int pass = 0; pass < 12; pass++)
    for (size_t p = 0; p < MODES; p++)
      for (size_t q = p + 1; q < MODES; q++) {
        double angle = 0.5 * atan2(2 * h[p][q], h[p][p] - h[q][q]), c = cos(angle), s = sin(angle);
        for (size_t k = 0; k < MODES; k++) {
          double x = h[k][p], y = h[k][q];
          h[k][p] = c * x + s * y;
          h[k][q] = c * y - s * x;
          x = u[k][p];
          y = u[k][q];
          u[k][p] = c * x + s * y;
          u[k][q] = c * y - s * x;
        }
        for (size_t k = 0; k < MODES; k++) {
          double x = h[p][k], y = h[q][k];
          h[p][k] = c * x + s * y;
          h[q][k] = c * y - s * x;
        }
      }
}

/* Makes of the space that the modes span the vectors that are most nearly eigenvectors, slowest first (Rayleigh and
 * Ritz). */
static void separate(modes *m)
{
  double h[MODES][MODES], u[MODES][MODES];
  size_t order[MODES] = {0};
  purify(m);
  walk(m, m->value, m->value, m->next, 1, 0, 0);
  for (size_t i = 0; i < MODES; i++)
    for (size_t j = 0; j <= i; j++)
      h[i][j] = h[j][i] = product(m, m->value, m->next, i, j);
  diagonalize(h, u);
  for (size_t i = 0; i < MODES; i++) {
    size_t k = i;
    for (; k > 0 && h[order[k - 1]][order[k - 1]] < h[i][i]; k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  for (size_t v = 0; v < m->graph->vertex_count; v++) {
    double *x = m->value + v * MODES, turned[MODES] = {0};
    for (size_t k = 0; k < MODES; k++)
      for (size_t j = 0; j < MODES; j++)
        turned[k] += u[j][order[k]] * x[j];
    memcpy(x, turned, sizeof turned);
  }
  m->slowest = fmin(fmax(h[order[MODES - 1]][order[MODES - 1]], 0), 1);
}

/* Chebyshev's polynomial of the walk: modes from -1 to the slowest unwanted one stay small, those above grow. */
static void filter(modes *m, uint32_t degree)
{
  double squared = (double)degree * degree;
  double least = fmin(fmax(m->slowest, 1 - growth_most / squared), 1 - growth / squared);
  double centre = (least - 1) / 2, half = (least + 1) / 2;
  walk(m, m->value, m->value, m->next, 1 / half, -centre / half, 0);
  for (uint32_t k = 1; k < degree; k++) {
    double *kept = m->last;
    m->last = m->value;
    m->value = m->next;
    m->next = kept;
    walk(m, m->value, m->last, m->next, 2 / half, -2 * centre / half, -1);
  }
  double *kept = m->value;
  m->value = m->next;
  m->next = kept;
}

/* Room for the modes of a level; carries over those of the level above it where there is one. */
static cm_status enter_level(modes *m, const cm_hierarchy *h, uint32_t level, cm_random *random, cm_run *run,
                             cm_error *error)
{
  const cm_csr_graph *g = h->level[level];
  size_t cells = (size_t)g->vertex_count * MODES;
  modes fresh = {.graph = g, .slowest = m->slowest};
  if (CM_NEW(run->memory, fresh.value, cells, error) != CM_OK ||
      CM_NEW(run->memory, fresh.last, cells, error) != CM_OK ||
      CM_NEW(run->memory, fresh.next, cells, error) != CM_OK ||
      CM_NEW(run->memory, fresh.degree, g->vertex_count, error) != CM_OK) {
    modes_free(&fresh);
    return error->status;
  }
  for (size_t v = 0; v < g->vertex_count; v++)
    for (size_t k = 0; k < MODES; k++)
      fresh.value[v * MODES + k] =
        m->graph != NULL ? m->value[(size_t)h->map[level][v] * MODES + k] : cm_random_unit(random) - 0.5;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      fresh.degree[v] += (double)cm_csr_graph_weight(g, i);
  modes_free(m);
  *m = fresh;
  return CM_OK;
}

static cm_status iterate(modes *m, uint32_t degree, cm_run *run, cm_error *error)
{
  separate(m);
  for (uint32_t k = 0; k < ROUNDS; k++) {
    filter(m, degree);
    separate(m);
    if (cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

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
  const modes *modes;
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

static cm_status turn(const modes *m, const cm_mesh_grid *grid, cm_run *run, uint32_t *cell, cm_error *error)
{
  layout l = {.modes = m, .grid = grid};
  size_t axes = (size_t)grid->columns + grid->rows;
  cm_status status = CM_NEW(run->memory, l.order, m->graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.scratch, m->graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.column, m->graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.begin, grid->columns, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, l.counter, (size_t)UINT16_MAX + 2, error);
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
    for (width /= 2; width > angle_least; width /= 2)
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
  cm_free(l.scratch);
  cm_free(l.column);
  cm_free(l.begin);
  cm_free(l.counter);
  cm_free(l.share);
  cm_free(l.end);
  return status;
}

static uint32_t degree_on(const cm_csr_graph *g, const cm_csr_graph *finest, double effort)
{
  double paid = effort * work_share / ROUNDS * (double)finest->entry_count / (double)(g->entry_count + 1);
  return (uint32_t)fmin(fmax(paid, effort * degree_least), degree_most);
}

cm_status cm_mesh_layout(const cm_hierarchy *hierarchy, uint32_t level, const cm_mesh_grid *grid, double effort,
                         uint64_t seed, cm_run *run, uint32_t *cell, cm_error *error)
{
  modes m = {0};
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_MESH, UINT64_C(2) << 32);
  cm_status status = CM_OK;
  for (uint32_t l = hierarchy->levels; status == CM_OK && l-- > level;) {
    status = enter_level(&m, hierarchy, l, &random, run, error);
    if (status == CM_OK)
      status = iterate(&m, degree_on(m.graph, hierarchy->level[0], effort), run, error);
  }
  if (status == CM_OK)
    status = turn(&m, grid, run, cell, error);
  modes_free(&m);
  return status;
}
