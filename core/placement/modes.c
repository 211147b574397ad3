/* Happy path: random modes on the coarsest level -> filtered and told apart, level by level. What can fail: memory, a stop. */
#include "core/placement/modes.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"

enum { MODES = CM_MODES_KEPT, ROUNDS = 2 };
/* Walks of each round on a level: together as many as this many times the work of one on the finest graph pays for,
 * within bounds. Slow modes take many, most of them where they are cheap. */
static const double work_share = 40, degree_min = 20, degree_max = 300;
/* The fastest mode that a filter of degree d lets grow is at least growth / d^2 away from 1: nearer ones it could not
 * tell from the slowest. */
static const double growth = 4.5, growth_max = 200; /* beyond it numbers get too large */

void cm_modes_free(cm_modes *m)
{
  CM_FREE(m->value, m->last, m->next, m->degree);
}

/* next = a * walk(value) + b * value + c * last. */
typedef struct recurrence {
  double a, b, c;
} recurrence;

CM_WIDE static void walk(const cm_modes *m, const double *restrict value, const double *restrict last, double *restrict next,
                         recurrence by)
{
  const double a = by.a, b = by.b, c = by.c;
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
static double product(const cm_modes *m, const double *a, const double *b, size_t i, size_t j)
{
  double sum = 0;
  for (size_t v = 0; v < m->graph->vertex_count; v++)
    sum += m->degree[v] * a[v * MODES + i] * b[v * MODES + j];
  return sum;
}

/* Takes the constant and the modes before it out of each mode, and scales it to length 1. */
static void purify(cm_modes *m)
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
static void separate(cm_modes *m)
{
  double h[MODES][MODES], u[MODES][MODES];
  size_t order[MODES] = {0};
  purify(m);
  walk(m, m->value, m->value, m->next, (recurrence){1, 0, 0});
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
static void filter(cm_modes *m, uint32_t degree)
{
  double squared = (double)degree * degree;
  double least = fmin(fmax(m->slowest, 1 - growth_max / squared), 1 - growth / squared);
  double centre = (least - 1) / 2, half = (least + 1) / 2;
  walk(m, m->value, m->value, m->next, (recurrence){1 / half, -centre / half, 0});
  for (uint32_t k = 1; k < degree; k++) {
    double *kept = m->last;
    m->last = m->value;
    m->value = m->next;
    m->next = kept;
    walk(m, m->value, m->last, m->next, (recurrence){2 / half, -2 * centre / half, -1});
  }
  double *kept = m->value;
  m->value = m->next;
  m->next = kept;
}

/* Room for the modes of a level; carries over those of the level above it where there is one. */
static cm_status enter_level(cm_modes *m, const cm_hierarchy *h, uint32_t level, cm_random *random, cm_run *run, cm_error *error)
{
  const cm_csr_graph *g = h->level[level];
  size_t cells = (size_t)g->vertex_count * MODES;
  cm_modes fresh = {.graph = g, .slowest = m->slowest};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(fresh.value, cells), CM_ARRAY(fresh.last, cells),
                       CM_ARRAY(fresh.next, cells), CM_ARRAY(fresh.degree, g->vertex_count)), cm_modes_free(&fresh));
  for (size_t v = 0; v < g->vertex_count; v++)
    for (size_t k = 0; k < MODES; k++)
      fresh.value[v * MODES + k] =
        m->graph != NULL ? m->value[(size_t)h->map[level][v] * MODES + k] : cm_random_unit(random) - 0.5;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      fresh.degree[v] += (double)cm_csr_graph_weight(g, i);
  cm_modes_free(m);
  *m = fresh;
  return CM_OK;
}

static cm_status iterate(cm_modes *m, uint32_t degree, cm_run *run, cm_error *error)
{
  separate(m);
  for (uint32_t k = 0; k < ROUNDS; k++) {
    filter(m, degree);
    separate(m);
    CM_TRY(cm_run_check(run, error));
  }
  return CM_OK;
}

static uint32_t degree_on(const cm_csr_graph *g, const cm_csr_graph *finest, double effort)
{
  double paid = effort * work_share / ROUNDS * (double)finest->entry_count / (double)(g->entry_count + 1);
  return (uint32_t)fmin(fmax(paid, effort * degree_min), degree_max);
}

cm_status cm_modes_find(const cm_hierarchy *hierarchy, uint32_t level, double effort, cm_random *random, cm_run *run,
                        cm_modes *found, cm_error *error)
{
  cm_modes m = {0};
  cm_status status = CM_OK;
  for (uint32_t l = hierarchy->levels; status == CM_OK && l-- > level;) {
    status = enter_level(&m, hierarchy, l, random, run, error);
    CM_THEN(status, iterate(&m, degree_on(m.graph, hierarchy->level[0], effort), run, error));
  }
  CM_END(status, *found = m, cm_modes_free(&m));
}
