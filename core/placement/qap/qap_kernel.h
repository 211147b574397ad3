/* Annealing by swaps with tables of cost by column and by row: the change that a swap makes is a handful of look-ups,
 * and all arrays are kept in the order of the cores, so that a row of swaps is judged with vector instructions.
 * Included once for each integer type: the includer sets INTEGER and
 * KERNEL, the name of the result. */
#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/wide.h"
#include "core/placement/qap/qap.h"
#include "core/placement/qap/qap_internal.h"

/* Arrays by core: what is true of the core's occupant. */
typedef struct state {
  const cm_qap *qap;
  uint32_t *occupant;  /* [count] */
  INTEGER *weight;     /* [count * stride] between occupants */
  INTEGER *by_column;  /* [columns * stride] what the occupant would pay along x in each column */
  INTEGER *by_row;     /* [rows * stride] */
  INTEGER *pays;       /* [stride] what it pays where it is */
  INTEGER *elsewhere;  /* [stride] what the core under way's occupant would pay on every core */
  INTEGER *in_column, *in_row; /* [columns] and [rows] the same in parts */
  INTEGER *difference; /* [stride] */
  int64_t cost;
} state;

static void prepare(cm_qap *q)
{
  INTEGER *distance = q->distance, *weight = q->weight;
  uint64_t half = (UINT64_C(1) << q->shift) / 2;
  for (uint32_t a = 0; a < q->count; a++)
    for (uint32_t b = 0; b < q->count; b++)
      distance[(size_t)a * q->stride + b] = (INTEGER)cm_axes_distance(q->axes, a, b);
  for (uint32_t u = 0; u < q->parts; u++)
    for (uint64_t i = q->graph->first[u]; i < q->graph->first[u + 1]; i++)
      weight[(size_t)u * q->stride + q->graph->neighbour[i]] = (INTEGER)((q->graph->weight[i] + half) >> q->shift);
}

/* What the swaps of one core are judged by: arrays by the other core. */
typedef struct terms {
  const INTEGER *elsewhere, *column, *row, *pays, *weight, *distance;
  const float *threshold;
  float temperature;
  INTEGER own; /* what its occupant pays where it is */
} terms;

static inline INTEGER change_of(const terms *t, size_t b)
{
  return t->elsewhere[b] - t->own + t->column[b] + t->row[b] - t->pays[b] + 2 * t->weight[b] * t->distance[b];
}

/* The first core from `from` on whose swap with the one under way is accepted: its change is below its threshold. */
CM_WIDE static size_t scan(const terms *t, size_t from, size_t end)
{
  for (size_t block = from / CM_QAP_BLOCK * CM_QAP_BLOCK; block < end; block += CM_QAP_BLOCK) {
    uint32_t accepted[CM_QAP_BLOCK], any = 0;
    for (size_t k = 0; k < CM_QAP_BLOCK; k++) {
      size_t b = block + k;
      accepted[k] = (float)change_of(t, b) < t->temperature * t->threshold[b];
      any |= accepted[k];
    }
    if (any == 0)
      continue;
    for (size_t k = 0; k < CM_QAP_BLOCK; k++)
      if (accepted[k] && block + k >= from && block + k < end)
        return block + k;
  }
  return end;
}

CM_WIDE static void add_scaled(INTEGER *restrict to, const INTEGER *restrict from, INTEGER factor, size_t stride)
{
  for (size_t i = 0; i < stride; i += CM_QAP_BLOCK)
    for (size_t k = 0; k < CM_QAP_BLOCK; k++)
      to[i + k] += from[i + k] * factor;
}

CM_WIDE static void subtract(INTEGER *restrict to, const INTEGER *restrict a, const INTEGER *restrict b, size_t stride)
{
  for (size_t i = 0; i < stride; i += CM_QAP_BLOCK)
    for (size_t k = 0; k < CM_QAP_BLOCK; k++)
      to[i + k] = a[i + k] - b[i + k];
}

CM_WIDE static void add_moved(INTEGER *restrict to, const INTEGER *restrict difference, const INTEGER *restrict there,
                              const INTEGER *restrict here, size_t stride)
{
  for (size_t i = 0; i < stride; i += CM_QAP_BLOCK)
    for (size_t k = 0; k < CM_QAP_BLOCK; k++)
      to[i + k] += difference[i + k] * (there[i + k] - here[i + k]);
}

static inline void exchange(INTEGER *array, uint32_t a, uint32_t b)
{
  INTEGER kept = array[a];
  array[a] = array[b];
  array[b] = kept;
}

/* One axis: what occupants would pay along it, its distances [length * length], and where cores are on it. */
typedef struct axis {
  INTEGER *table;
  const uint32_t *distance, *at;
  uint32_t length;
} axis;

/* Brings its table up to date after the occupants of two cores change places. */
static void move_on_axis(axis x, const state *s, uint32_t a, uint32_t b)
{
  uint32_t stride = s->qap->stride;
  for (uint32_t c = 0; c < x.length; c++) {
    INTEGER *line = x.table + (size_t)c * stride;
    INTEGER farther = (INTEGER)x.distance[(size_t)x.at[b] * x.length + c] - (INTEGER)x.distance[(size_t)x.at[a] * x.length + c];
    if (farther != 0)
      add_scaled(line, s->difference, farther, stride);
    exchange(line, a, b);
  }
}

static INTEGER pays_at(const state *s, uint32_t at)
{
  const cm_axes *x = s->qap->axes;
  size_t stride = s->qap->stride;
  return s->by_column[x->column[at] * stride + at] + s->by_row[x->row[at] * stride + at];
}

/* Swaps the occupants of cores a and b. O(count * (columns + rows)). */
static void swap(state *s, uint32_t a, uint32_t b)
{
  const cm_qap *q = s->qap;
  const cm_axes *x = q->axes;
  const INTEGER *distance = q->distance;
  INTEGER *of_a = s->weight + (size_t)a * q->stride, *of_b = s->weight + (size_t)b * q->stride;
  subtract(s->difference, of_a, of_b, q->stride);
  add_moved(s->pays, s->difference, distance + (size_t)b * q->stride, distance + (size_t)a * q->stride, q->stride);
  move_on_axis((axis){s->by_column, x->dx, x->column, x->columns}, s, a, b);
  move_on_axis((axis){s->by_row, x->dy, x->row, x->rows}, s, a, b);
  for (uint32_t i = 0; i < q->stride; i++) {
    INTEGER kept = of_a[i];
    of_a[i] = of_b[i];
    of_b[i] = kept;
  }
  for (uint32_t c = 0; c < q->count; c++)
    exchange(s->weight + (size_t)c * q->stride, a, b);
  uint32_t kept = s->occupant[a];
  s->occupant[a] = s->occupant[b];
  s->occupant[b] = kept;
  s->pays[a] = pays_at(s, a);
  s->pays[b] = pays_at(s, b);
}

CM_WIDE static void sum_axes(INTEGER *restrict elsewhere, const INTEGER *restrict in_column, const INTEGER *restrict in_row,
                             const cm_axes *axes, size_t from, size_t end)
{
  const uint32_t *restrict column = axes->column, *restrict row = axes->row;
  for (size_t b = from; b < end; b++)
    elsewhere[b] = in_column[column[b]] + in_row[row[b]];
}

static void look_elsewhere(state *s, uint32_t a, uint32_t from)
{
  const cm_qap *q = s->qap;
  const INTEGER *by_column = s->by_column + a, *by_row = s->by_row + a;
  for (size_t c = 0; c < q->axes->columns; c++)
    s->in_column[c] = by_column[c * q->stride];
  for (size_t r = 0; r < q->axes->rows; r++)
    s->in_row[r] = by_row[r * q->stride];
  sum_axes(s->elsewhere, s->in_column, s->in_row, q->axes, from, q->count);
}

/* Looks at the swaps of core a with all later ones. Returns the number of swaps made. */
static uint32_t visit(state *s, uint32_t a, float temperature, const float *threshold)
{
  const cm_qap *q = s->qap;
  terms t = {.elsewhere = s->elsewhere, .pays = s->pays, .threshold = threshold, .temperature = temperature,
             .column = s->by_column + (size_t)q->axes->column[a] * q->stride, .row = s->by_row + (size_t)q->axes->row[a] * q->stride,
             .weight = s->weight + (size_t)a * q->stride, .distance = (const INTEGER *)q->distance + (size_t)a * q->stride};
  uint32_t swaps = 0;
  look_elsewhere(s, a, a + 1);
  for (uint32_t from = a + 1; from < q->count; from++) {
    t.own = s->pays[a];
    uint32_t b = (uint32_t)scan(&t, from, q->count);
    if (b == q->count)
      break;
    from = b;
    if (s->occupant[a] >= q->parts && s->occupant[b] >= q->parts)
      continue;
    s->cost += change_of(&t, b);
    swap(s, a, b);
    look_elsewhere(s, a, b + 1);
    swaps++;
  }
  return swaps;
}

static void fill(state *s)
{
  const cm_qap *q = s->qap;
  const cm_axes *x = q->axes;
  const INTEGER *weight = q->weight;
  for (uint32_t a = 0; a < q->count; a++) {
    INTEGER *line = s->weight + (size_t)a * q->stride;
    const INTEGER *from = weight + (size_t)s->occupant[a] * q->stride;
    for (uint32_t b = 0; b < q->count; b++)
      line[b] = from[s->occupant[b]];
  }
  for (uint32_t b = 0; b < q->count; b++) {
    const INTEGER *line = s->weight + (size_t)b * q->stride;
    for (uint32_t c = 0; c < x->columns; c++)
      add_scaled(s->by_column + (size_t)c * q->stride, line, (INTEGER)x->dx[(size_t)x->column[b] * x->columns + c],
                 q->stride);
    for (uint32_t c = 0; c < x->rows; c++)
      add_scaled(s->by_row + (size_t)c * q->stride, line, (INTEGER)x->dy[(size_t)x->row[b] * x->rows + c], q->stride);
  }
  for (uint32_t a = 0; a < q->count; a++) {
    s->pays[a] = pays_at(s, a);
    s->cost += s->pays[a];
  }
  s->cost /= 2;
}

enum { COOL_EVERY = 16 }; /* visits */

/* Anneals, keeping the best in `best`. */
static cm_status cool(state *s, const cm_qap_schedule *schedule, cm_random *random, cm_run *run, uint32_t *best,
                      cm_error *error)
{
  const cm_qap *q = s->qap;
  int64_t least = s->cost;
  memcpy(best, s->occupant, q->count * sizeof *best);
  double look_work = (q->count - 1) / 2.0, swap_work = cm_qap_swap_work(q->axes);
  double work = schedule->sweeps * cm_qap_sweep_work(q->axes), spent = 0, done = 0, temperature = 0;
  bool cold = false, settled = false;
  while (!settled) {
    uint32_t swaps = 0;
    for (uint32_t a = 0; a < q->count; a++) {
      if (a % COOL_EVERY == 0) {
        done = spent < work ? spent / work : 1;
        cold = cold || (a == 0 && done >= 1);
        temperature = cold ? 0 : cm_cooled(schedule->hot, schedule->cold / schedule->hot, done);
      }
      const float *threshold = q->threshold + cm_random_below(random, CM_QAP_THRESHOLDS);
      uint32_t here = visit(s, a, (float)temperature, threshold);
      swaps += here;
      spent += look_work + here * swap_work;
      if (s->cost < least && done >= 0.5) {
        least = s->cost;
        memcpy(best, s->occupant, q->count * sizeof *best);
      }
    }
    settled = cold && swaps == 0;
    if (cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status anneal(const cm_qap *q, const cm_qap_schedule *schedule, cm_random *random, cm_run *run,
                        uint32_t *occupant, cm_error *error)
{
  state s = {.qap = q};
  uint32_t *best = NULL;
  size_t stride = q->stride;
  cm_status status = CM_NEW(run->memory, s.occupant, q->count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, best, q->count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.weight, q->count * stride, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.by_column, q->axes->columns * stride, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.by_row, q->axes->rows * stride, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.pays, stride, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.elsewhere, stride, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.in_column, q->axes->columns, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.in_row, q->axes->rows, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, s.difference, stride, error);
  if (status == CM_OK) {
    memcpy(s.occupant, occupant, q->count * sizeof *occupant);
    fill(&s);
    status = cool(&s, schedule, random, run, best, error);
  }
  if (status == CM_OK)
    memcpy(occupant, best, q->count * sizeof *occupant);
  cm_free(s.occupant);
  cm_free(best);
  cm_free(s.weight);
  cm_free(s.by_column);
  cm_free(s.by_row);
  cm_free(s.pays);
  cm_free(s.elsewhere);
  cm_free(s.in_column);
  cm_free(s.in_row);
  cm_free(s.difference);
  return status;
}

const cm_qap_kernel KERNEL = {sizeof(INTEGER), prepare, anneal};
