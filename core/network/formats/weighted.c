/* Rows whose entries have weights, read one entry at a time: what edge lists and matrices have in common. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/rows.h"
#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"

cm_status cm_weights_keep(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double weight,
                          cm_error *error)
{
  if (weights->value == NULL && weight == 1)
    return CM_OK;
  bool first = weights->value == NULL;
  if (CM_ROOM(memory, weights->value, &weights->room, room, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; first && i < count; i++)
    weights->value[i] = 1;
  weights->value[count] = weight;
  weights->fractions = weights->fractions || weight != trunc(weight);
  return CM_OK;
}

cm_status cm_weights_keep_delay(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double delay_ms,
                                cm_error *error)
{
  if (weights->delay_ms == NULL && delay_ms == 0)
    return CM_OK;
  bool first = weights->delay_ms == NULL;
  if (CM_ROOM(memory, weights->delay_ms, &weights->delay_room, room, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; first && i < count; i++)
    weights->delay_ms[i] = 0;
  weights->delay_ms[count] = delay_ms;
  return CM_OK;
}

void cm_weights_free(cm_weights *weights)
{
  cm_free(weights->value);
  cm_free(weights->delay_ms);
  *weights = (cm_weights){0};
}

/* Rows under way. */
typedef struct closer {
  cm_topology *made;
  cm_weights *weights;
  cm_memory *memory;
  cm_row_sorter sorter;
  double *scratch, *delay_scratch; /* weights and delays of the present row */
  uint64_t scratch_room, delay_room;
  uint64_t ends;   /* entries of all rows before merging */
  uint64_t used;   /* pins that stay so far */
} closer;

/* Repeats make weights needed: two entries of 1 make one of 2. */
static cm_status need_weights(closer *c, cm_error *error)
{
  if (c->weights->value != NULL)
    return CM_OK;
  if (CM_NEW(c->memory, c->weights->value, c->ends, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < c->ends; i++)
    c->weights->value[i] = 1;
  return CM_OK;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* A sum that does not depend on the order of its terms, which it sorts: an edge that stands in two rows weighs the same in
 * both. */
static double sum_sorted(double *term, uint64_t count)
{
  double sum = 0;
  if (count > 2)
    qsort(term, count, sizeof *term, by_value);
  for (uint64_t i = 0; i < count; i++)
    sum += term[i];
  return sum;
}

/* Sorts the row [begin, end), merges repeats, and moves it to where the rows before it end. */
static cm_status close_row(closer *c, uint32_t vertex, uint64_t begin, uint64_t end, cm_error *error)
{
  cm_topology *made = c->made;
  const uint64_t *key;
  uint64_t count = end - begin;
  if (cm_row_order(&c->sorter, made->pin + begin, count, &key, error) != CM_OK)
    return error->status;
  for (uint64_t i = 1; i < count; i++)
    if (key[i] >> 32 == key[i - 1] >> 32 && need_weights(c, error) != CM_OK)
      return error->status;
  double *weight = c->weights->value, *delay = c->weights->delay_ms;
  if (weight != NULL) {
    if (CM_ROOM(c->memory, c->scratch, &c->scratch_room, count, error) != CM_OK)
      return error->status;
    memcpy(c->scratch, weight + begin, count * sizeof *c->scratch);
  }
  if (delay != NULL) {
    if (CM_ROOM(c->memory, c->delay_scratch, &c->delay_room, count, error) != CM_OK)
      return error->status;
    memcpy(c->delay_scratch, delay + begin, count * sizeof *c->delay_scratch);
  }
  for (uint64_t i = 0; i < count;) {
    uint32_t target = (uint32_t)(key[i] >> 32);
    double shortest = INFINITY;
    uint64_t terms = 0;
    for (; i < count && (uint32_t)(key[i] >> 32) == target; i++, terms++, made->duplicate_count++) {
      if (weight != NULL)
        weight[c->used + terms] = c->scratch[(uint32_t)key[i]]; /* what stood there is in the scratch */
      if (delay != NULL)
        shortest = fmin(shortest, c->delay_scratch[(uint32_t)key[i]]);
    }
    double sum = weight != NULL ? sum_sorted(weight + c->used, terms) : (double)terms;
    made->duplicate_count--; /* all but one */
    made->zero_count += sum == 0;
    if (sum == 0 && c->weights->drop_zeros)
      continue;
    made->self_loop_count += target == vertex;
    if (weight != NULL)
      weight[c->used] = sum;
    if (delay != NULL)
      delay[c->used] = shortest;
    made->pin[c->used++] = target;
  }
  return CM_OK;
}

cm_status cm_weighted_rows_close(cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error)
{
  closer c = {.made = made, .weights = weights, .memory = run->memory, .sorter = {.memory = run->memory},
              .ends = made->net_first[made->vertex_count]};
  uint64_t begin = 0, steps = CM_RUN_STEPS;
  uint32_t nets = 0;
  cm_status status = CM_OK;
  if (made->directed)
    status = CM_NEW(run->memory, made->net_source, made->vertex_count, error);
  for (uint32_t v = 0; v < made->vertex_count && status == CM_OK; v++) {
    uint64_t end = made->net_first[v + 1];
    if (cm_run_due(&steps, end - begin + 1) &&
        (status = cm_run_progress(run, (double)begin / (double)c.ends, -1, made->vertex_count, NAN, error)) != CM_OK)
      break;
    uint64_t start = c.used;
    status = begin < end ? close_row(&c, v, begin, end, error) : CM_OK;
    if (!made->directed || start < c.used) {
      if (made->directed)
        made->net_source[nets] = v;
      made->net_first[++nets] = c.used;
    }
    begin = end;
  }
  cm_row_sorter_free(&c.sorter);
  cm_free(c.scratch);
  cm_free(c.delay_scratch);
  made->net_count = nets;
  made->pin_count = c.used;
  if (!made->directed)
    made->duplicate_count /= 2, made->zero_count /= 2; /* each stood in two rows */
  return status;
}

/* The largest magnitude below which weights get a power of two of their own, so that the scale loses no digits. */
#define SMALL_WEIGHT (1.0 / 256)

/* Whether a loop over pins is to look at its run at pin i. */
static bool is_long(uint64_t i)
{
  enum { LOOK_EVERY = 1 << 22 };
  return i % LOOK_EVERY == LOOK_EVERY - 1;
}

static cm_status scale_delays(cm_topology *made, const double *delay_ms, cm_run *run, cm_error *error)
{
  double longest = 0;
  uint64_t unit = 1;
  for (uint64_t i = 0; i < made->pin_count; i++)
    longest = fmax(longest, delay_ms[i]);
  while (unit < 1000000 && longest * 1e6 / (double)unit > UINT32_MAX - 1)
    unit *= 1000;
  if (longest * 1e6 / (double)unit > UINT32_MAX - 1)
    return cm_fail(error, CM_TOO_LARGE, "the longest delay is %g ms; at most %g ms can be kept", longest,
                   (double)(UINT32_MAX - 1));
  if (CM_NEW(run->memory, made->pin_delay, made->pin_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < made->pin_count; i++) {
    if (is_long(i) && cm_run_check(run, error) != CM_OK)
      return error->status;
    made->pin_delay[i] = (uint32_t)(delay_ms[i] * 1e6 / (double)unit + 0.5);
  }
  made->delay_unit_ns = unit;
  return CM_OK;
}

static cm_status keep_signs(cm_topology *made, const double *value, cm_run *run, cm_error *error)
{
  for (uint64_t i = 0; i < made->pin_count; i++) {
    if (is_long(i) && cm_run_check(run, error) != CM_OK)
      return error->status;
    if (value[i] < 0) {
      if (made->pin_negative == NULL &&
          CM_NEW(run->memory, made->pin_negative, (made->pin_count + 63) / 64, error) != CM_OK)
        return error->status;
      made->pin_negative[i / 64] |= UINT64_C(1) << i % 64;
    }
  }
  return CM_OK;
}

cm_status cm_weighted_rows_scale(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  const double *value = weights->value;
  double sum = 0, maximum = 1, largest = 0, ones = (double)made->pin_count;
  bool all_one = true;
  for (uint64_t i = 0; value != NULL && i < made->pin_count; i++) {
    if (is_long(i) && cm_run_check(run, error) != CM_OK)
      return error->status;
    double magnitude = fabs(value[i]);
    sum += magnitude;
    largest = magnitude > largest ? magnitude : largest;
    all_one = all_one && magnitude == 1;
  }
  if (largest > 0 && largest < SMALL_WEIGHT) {
    made->weight_exponent = ilogb(largest);
    sum = ldexp(sum, -made->weight_exponent);
    largest = ldexp(largest, -made->weight_exponent);
  }
  maximum = largest > maximum ? largest : maximum;
  if (!made->directed) { /* each edge stands in two rows and counts once */
    sum /= 2;
    ones /= 2;
  }
  /* Every axon has rate 1 on the same scale, so the rates must fit too. */
  if (cm_weight_scale(sum > ones ? sum : ones, maximum, UINT32_MAX, !weights->fractions, &made->weight_scale, error) !=
          CM_OK ||
      (weights->delay_ms != NULL && scale_delays(made, weights->delay_ms, run, error) != CM_OK) ||
      (value != NULL && keep_signs(made, value, run, error) != CM_OK))
    return error->status;
  if (made->directed) {
    if (CM_NEW(run->memory, made->net_weight, made->net_count, error) != CM_OK)
      return error->status;
    for (uint32_t e = 0; e < made->net_count; e++)
      made->net_weight[e] = made->weight_scale;
  }
  if (all_one)
    return CM_OK;
  if (CM_NEW(run->memory, made->pin_weight, made->pin_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < made->pin_count; i++) {
    if (is_long(i) && cm_run_check(run, error) != CM_OK)
      return error->status;
    made->pin_weight[i] =
        (uint32_t)cm_weight_scaled(ldexp(fabs(value[i]), -made->weight_exponent), made->weight_scale);
  }
  return CM_OK;
}
