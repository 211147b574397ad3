/* Where nodes stand before a policy has said anything. */
#include <math.h>

#include "core/learning/agent/environment.h"
#include "core/partition/options.h"
#include "core/placement/curve.h"

enum { MODES = 4, DEGREE = 8, ROUNDS_MAX = 40, ANGLES = 6 };
/* Enough when an eigenvalue's distance from 1 changes by less than this, relative to itself. */
static const double settled = 0.02;
/* Multiplications that the modes, and the angles, may cost at most. */
static const double work_modes = 6e7, work_angles = 1e7;

/* ---- the slowest modes of the random walk: Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago, Chelikowsky
 * 2006) ---- */

typedef struct modes {
  const cm_laplacian *laplacian;
  uint32_t nodes;
  float *value, *last, *next; /* [nodes * MODES] */
  double *degree;             /* [nodes] weighted */
  double degree_total;
  double eigen[MODES];        /* of the walk, falling */
} modes;

/* Takes out of every column what it shares with the constant, which is the slowest mode of all. */
static void centre(const modes *m, float *x)
{
  double sum[MODES] = {0};
  for (uint32_t v = 0; v < m->nodes; v++)
    for (int k = 0; k < MODES; k++)
      sum[k] += m->degree[v] * (double)x[(size_t)v * MODES + (size_t)k];
  for (uint32_t v = 0; v < m->nodes; v++)
    for (int k = 0; k < MODES; k++)
      x[(size_t)v * MODES + (size_t)k] -= (float)(sum[k] / m->degree_total);
}

static double inner(const modes *m, const float *x, int i, const float *y, int k)
{
  double sum = 0;
  for (uint32_t v = 0; v < m->nodes; v++)
    sum += m->degree[v] * (double)x[(size_t)v * MODES + (size_t)i] * (double)y[(size_t)v * MODES + (size_t)k];
  return sum;
}

/* Columns at right angles and of length 1 (Gram and Schmidt, twice for the digits). */
static void orthogonalise(const modes *m, float *x)
{
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < MODES; k++) {
      for (int i = 0; i < k; i++) {
        double share = inner(m, x, i, x, k);
        for (uint32_t v = 0; v < m->nodes; v++)
          x[(size_t)v * MODES + (size_t)k] -= (float)share * x[(size_t)v * MODES + (size_t)i];
      }
      double length = sqrt(inner(m, x, k, x, k));
      for (uint32_t v = 0; v < m->nodes && length > 0; v++)
        x[(size_t)v * MODES + (size_t)k] = (float)((double)x[(size_t)v * MODES + (size_t)k] / length);
    }
}

/* Filters the modes: those with eigenvalues from -1 to `least` shrink against those above. */
static void filter(modes *m, double least)
{
  double middle = (least - 1) / 2, half = (least + 1) / 2;
  for (int d = 0; d < DEGREE; d++) {
    cm_laplacian_apply(m->laplacian, MODES, m->value, m->next); /* x less its walk */
    float twice = (float)((d == 0 ? 1 : 2) / half);
    for (size_t i = 0; i < (size_t)m->nodes * MODES; i++)
      m->next[i] = twice * (m->value[i] - m->next[i] - (float)middle * m->value[i]) - (d == 0 ? 0 : m->last[i]);
    centre(m, m->next);
    float *free = m->last;
    m->last = m->value;
    m->value = m->next;
    m->next = free;
  }
}

/* Eigenvectors of a small symmetric matrix in the columns of `turn`, by Jacobi's rotations. */
static void diagonalise(double a[MODES][MODES], double turn[MODES][MODES])
{
  for (int i = 0; i < MODES; i++)
    for (int k = 0; k < MODES; k++)
      turn[i][k] = i == k;
  for (int sweep = 0; sweep < 20; sweep++)
    for (int p = 0; p < MODES; p++)
      for (int q = p + 1; q < MODES; q++) {
        if (fabs(a[p][q]) < 1e-15)
          continue;
        double angle = atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2, c = cos(angle), s = sin(angle);
        for (int i = 0; i < MODES; i++) {
          double x = a[i][p], y = a[i][q];
          a[i][p] = c * x - s * y;
          a[i][q] = s * x + c * y;
        }
        for (int i = 0; i < MODES; i++) {
          double x = a[p][i], y = a[q][i];
          a[p][i] = c * x - s * y;
          a[q][i] = s * x + c * y;
          x = turn[i][p];
          y = turn[i][q];
          turn[i][p] = c * x - s * y;
          turn[i][q] = s * x + c * y;
        }
      }
}

/* Rayleigh and Ritz: turns the columns to the modes that they span, slowest first. */
static void separate(modes *m)
{
  double a[MODES][MODES], turn[MODES][MODES];
  int order[MODES] = {0, 1, 2, 3};
  orthogonalise(m, m->value);
  cm_laplacian_apply(m->laplacian, MODES, m->value, m->next);
  for (int i = 0; i < MODES; i++)
    for (int k = i; k < MODES; k++)
      a[i][k] = a[k][i] = (i == k) - (inner(m, m->value, i, m->next, k) + inner(m, m->value, k, m->next, i)) / 2;
  diagonalise(a, turn);
  for (int i = 1; i < MODES; i++)
    for (int k = i; k > 0 && a[order[k]][order[k]] > a[order[k - 1]][order[k - 1]]; k--) {
      int kept = order[k];
      order[k] = order[k - 1];
      order[k - 1] = kept;
    }
  for (uint32_t v = 0; v < m->nodes; v++)
    for (int k = 0; k < MODES; k++) {
      double sum = 0;
      for (int i = 0; i < MODES; i++)
        sum += turn[i][order[k]] * (double)m->value[(size_t)v * MODES + (size_t)i];
      m->next[(size_t)v * MODES + (size_t)k] = (float)sum;
    }
  for (int k = 0; k < MODES; k++)
    m->eigen[k] = a[order[k]][order[k]];
  float *kept = m->value;
  m->value = m->next;
  m->next = kept;
}

static cm_status find_modes(modes *m, cm_run *run, cm_error *error)
{
  const cm_graph *g = m->laplacian->graph;
  size_t count = (size_t)m->nodes * MODES;
  cm_random random;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(m->value, count), CM_ARRAY(m->last, count), CM_ARRAY(m->next, count),
                    CM_ARRAY(m->degree, m->nodes)));
  for (uint32_t v = 0; v < m->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      m->degree[v] += (double)m->laplacian->weight[i];
    m->degree[v] += 1e-9; /* nobody is without a say */
    m->degree_total += m->degree[v];
  }
  cm_random_init(&random, 1, CM_STREAM_POLICY, 1);
  for (size_t i = 0; i < count; i++)
    m->value[i] = (float)cm_random_unit(&random) - 0.5f;
  centre(m, m->value);
  separate(m);
  double rounds = work_modes / (DEGREE * MODES * ((double)g->entry_count + m->nodes));
  for (int r = 0; r < ROUNDS_MAX && (r < 2 || r < rounds); r++) {
    double before = 1 - m->eigen[1], least = m->eigen[MODES - 1];
    filter(m, least < 0 ? 0 : least > 0.9999 ? 0.9999 : least);
    separate(m);
    if (fabs(1 - m->eigen[1] - before) <= settled * before)
      break;
  }
  return CM_OK;
}

/* ---- from modes to sites ---- */

/* Elongated graphs have slow modes that tell nothing new of their shape: several pairs are tried, each turned. */
static cm_status turn_and_slice(const cm_environment *s, const float *value, cm_run *run, uint32_t *at, cm_error *error)
{
  static const uint8_t pair[][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}};
  enum { PAIRS = sizeof pair / sizeof *pair };
  float *coordinate = NULL;
  uint32_t *tried = NULL, angles = ANGLES;
  uint64_t least = UINT64_MAX;
  while (angles > 2 && (double)(PAIRS * angles) * (double)s->graph->entry_count > work_angles)
    angles /= 2;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(coordinate, 2 * (size_t)s->nodes), CM_ARRAY(tried, s->nodes));
  for (uint32_t k = 0; k < PAIRS * angles && status == CM_OK; k++) {
    double turn = M_PI * (k % angles) / angles, c = cos(turn), n = sin(turn);
    const uint8_t *of = pair[k / angles];
    for (uint32_t v = 0; v < s->nodes; v++) {
      double x = (double)value[(size_t)v * MODES + of[0]], y = (double)value[(size_t)v * MODES + of[1]];
      coordinate[2 * (size_t)v] = (float)(c * x - n * y);
      coordinate[2 * (size_t)v + 1] = (float)(n * x + c * y);
    }
    status = cm_environment_assign(s, CM_RULE_SLICES, coordinate, 1, tried, error);
    uint64_t hops = status == CM_OK ? cm_environment_hops(s, tried) : UINT64_MAX;
    if (hops < least) {
      least = hops;
      memcpy(at, tried, s->nodes * sizeof *at);
    }
    CM_THEN(status, cm_run_check(run, error));
  }
  CM_FREE(coordinate, tried);
  return status;
}

static cm_status spectral(const cm_environment *s, cm_run *run, uint32_t *at, cm_error *error)
{
  modes m = {.laplacian = s->laplacian, .nodes = s->nodes};
  cm_status status = find_modes(&m, run, error);
  CM_THEN(status, turn_and_slice(s, m.value, run, at, error));
  CM_FREE(m.value, m.last, m.next, m.degree);
  return status;
}

/* ---- along a curve ---- */

typedef struct placed {
  uint32_t key, which;
} placed;

CM_ORDER(by_key, placed, CM_RISING(key) CM_RISING(which))

/* Hands out the nodes in one order to the sites in another, processor by processor. */
static cm_status deal(const cm_environment *s, const uint32_t *node_rank, const uint32_t *site_rank, cm_run *run,
                      uint32_t *at, cm_error *error)
{
  placed *node, *site = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(node, s->nodes), CM_ARRAY(site, s->sites));
  for (uint32_t p = 0; p < s->processors && status == CM_OK; p++) {
    uint32_t nodes = s->node_first[p + 1] - s->node_first[p], sites = s->site_first[p + 1] - s->site_first[p];
    for (uint32_t i = 0; i < nodes; i++)
      node[i] = (placed){node_rank[s->node[s->node_first[p] + i]], s->node[s->node_first[p] + i]};
    for (uint32_t i = 0; i < sites; i++)
      site[i] = (placed){site_rank[s->site_of[s->site_first[p] + i]], s->site_of[s->site_first[p] + i]};
    qsort(node, nodes, sizeof *node, by_key);
    qsort(site, sites, sizeof *site, by_key);
    for (uint32_t i = 0; i < nodes; i++)
      at[node[i].which] = site[i].which;
  }
  CM_FREE(node, site);
  return status;
}

static cm_status along_curve(const cm_environment *s, cm_run *run, uint32_t *at, cm_error *error)
{
  cm_region region = cm_environment_region(s);
  uint32_t *order, *rank = NULL, *site_rank = NULL, most = s->nodes > s->sites ? s->nodes : s->sites;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(order, most), CM_ARRAY(rank, s->nodes),
                                CM_ARRAY(site_rank, s->sites));
  CM_THEN(status, cm_order_parts(s->graph, run, order, error));
  for (uint32_t i = 0; i < s->nodes && status == CM_OK; i++)
    rank[order[i]] = i;
  CM_THEN(status, cm_order_cores(s->chip, &region, run, order, error));
  for (uint32_t i = 0; i < s->sites && status == CM_OK; i++)
    site_rank[order[i]] = i;
  CM_THEN(status, deal(s, rank, site_rank, run, at, error));
  CM_FREE(order, rank, site_rank);
  return status;
}

cm_status cm_environment_layout(const cm_environment *environment, cm_layout layout, cm_run *run, uint32_t *at, cm_error *error)
{
  if (environment->nodes == 0)
    return CM_OK;
  return layout == CM_LAYOUT_CURVE ? along_curve(environment, run, at, error) : spectral(environment, run, at, error);
}
