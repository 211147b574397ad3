/* Weights and delays as they are read, and as whole numbers: what edge lists and matrices have in common. */
#include <math.h>
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"

void cm_weights_as_asked(cm_weights *weights, const cm_source *source)
{
  const char *zeros = cm_source_option(source, CM_READ_ZEROS);
  weights->drop_zeros = zeros != NULL && strcmp(zeros, "drop") == 0;
  weights->runs = cm_source_option(source, CM_READ_PARAMETERS) != NULL;
}

cm_status cm_weights_keep(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double weight, cm_error *error)
{
  if (weights->value == NULL && weight == 1)
    return CM_OK;
  bool first = weights->value == NULL;
  CM_TRY(CM_ROOM(memory, weights->value, &weights->room, room, error));
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
  CM_TRY(CM_ROOM(memory, weights->delay_ms, &weights->delay_room, room, error));
  for (uint64_t i = 0; first && i < count; i++)
    weights->delay_ms[i] = 0;
  weights->delay_ms[count] = delay_ms;
  return CM_OK;
}

cm_status cm_weights_keep_exact(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, float weight, cm_error *error)
{
  CM_TRY(CM_ROOM(memory, weights->exact, &weights->exact_room, room, error));
  weights->exact[count] = weight;
  return CM_OK;
}

cm_status cm_weights_keep_beside(cm_weights *weights, cm_memory *memory, cm_beside beside, cm_error *error)
{
  CM_TRY(CM_ROOM(memory, weights->beside, &weights->beside_room, weights->besides + 1, error));
  weights->beside[weights->besides++] = beside;
  return CM_OK;
}

void cm_weights_free(cm_weights *weights)
{
  CM_FREE(weights->value, weights->delay_ms, weights->exact, weights->beside);
  *weights = (cm_weights){0};
}

/* The largest magnitude below which weights get a power of two of their own, so that the scale loses no digits. */
#define SMALL_WEIGHT (1.0 / 256)

/* Whether a loop over pins is to look at its run at pin i. */
static bool is_long(uint64_t i)
{
  enum { LOOK_EVERY = 1 << 22 };
  return i % LOOK_EVERY == LOOK_EVERY - 1;
}

static uint32_t scaled_delay(double delay_ms, uint64_t unit)
{
  return (uint32_t)(delay_ms * 1e6 / (double)unit + 0.5);
}

static cm_status scale_delays(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  const double *delay_ms = weights->delay_ms;
  double longest = 0;
  uint64_t unit = 1;
  for (uint64_t i = 0; i < made->pin_count; i++)
    longest = fmax(longest, delay_ms[i]);
  for (uint64_t i = 0; i < weights->besides; i++)
    longest = fmax(longest, weights->beside[i].delay_ms);
  while (unit < 1000000 && longest * 1e6 / (double)unit > UINT32_MAX - 1)
    unit *= 1000;
  if (longest * 1e6 / (double)unit > UINT32_MAX - 1)
    return cm_fail(error, CM_TOO_LARGE, "the longest delay is %g ms; at most %g ms can be kept", longest,
                   (double)(UINT32_MAX - 1));
  CM_TRY(CM_NEW(run->memory, made->pin_delay, made->pin_count, error));
  for (uint64_t i = 0; i < made->pin_count; i++) {
    CM_TRY_IF(is_long(i), cm_run_check(run, error));
    made->pin_delay[i] = scaled_delay(delay_ms[i], unit);
  }
  made->delay_unit_ns = unit;
  return CM_OK;
}

static cm_status keep_signs(cm_topology *made, const double *value, cm_run *run, cm_error *error)
{
  for (uint64_t i = 0; i < made->pin_count; i++) {
    CM_TRY_IF(is_long(i), cm_run_check(run, error));
    if (value[i] < 0) {
      CM_TRY_IF(made->pin_negative == NULL, CM_NEW(run->memory, made->pin_negative, (made->pin_count + 63) / 64, error));
      made->pin_negative[i / 64] |= UINT64_C(1) << i % 64;
    }
  }
  return CM_OK;
}

/* What is beside the pins, delays as whole numbers: those that fall on one are one. */
static cm_status keep_parallel(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  cm_dynamics *d = made->dynamics;
  CM_TRY(CM_NEW(run->memory, d->parallel, weights->besides, error));
  for (uint64_t i = 0; i < weights->besides; i++) {
    const cm_beside *b = &weights->beside[i];
    const cm_parallel_synapse synapse = {.pin = b->at, .weight = (float)b->weight, .delay = scaled_delay(b->delay_ms, made->delay_unit_ns)};
    cm_parallel_synapse *last = d->parallel_count > 0 ? &d->parallel[d->parallel_count - 1] : NULL;
    if (synapse.delay == made->pin_delay[b->at])
      d->weight[b->at] += synapse.weight;
    else if (last != NULL && last->pin == synapse.pin && last->delay == synapse.delay)
      last->weight += synapse.weight;
    else
      d->parallel[d->parallel_count++] = synapse;
  }
  return CM_OK;
}

static float exact_weight(const cm_weights *w, uint64_t i)
{
  return w->exact != NULL ? w->exact[i] : w->value != NULL ? (float)w->value[i] : 1;
}

/* What the network weighs when it runs, where that is something else than what mapping reads. */
static cm_status keep_dynamics(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  bool same = weights->besides == 0;
  if ((weights->exact == NULL && !weights->runs) || !made->directed)
    return CM_OK;
  for (uint32_t e = 0; same && e < made->net_count; e++)
    for (uint64_t i = made->net_first[e]; i < made->net_first[e + 1] && same; i++)
      same = (float)cm_topology_pin_value(made, e, i) == exact_weight(weights, i);
  if (same)
    return CM_OK;
  CM_TRY_IF(made->dynamics == NULL, CM_NEW(run->memory, made->dynamics, 1, error));
  CM_TRY(CM_NEW(run->memory, made->dynamics->weight, made->pin_count, error));
  for (uint64_t i = 0; i < made->pin_count; i++)
    made->dynamics->weight[i] = exact_weight(weights, i);
  return weights->besides > 0 ? keep_parallel(made, weights, run, error) : CM_OK;
}

cm_status cm_weighted_rows_scale(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  const double *value = weights->value;
  double sum = 0, maximum = 1, largest = 0, ones = (double)made->pin_count;
  bool all_one = true;
  for (uint64_t i = 0; value != NULL && i < made->pin_count; i++) {
    CM_TRY_IF(is_long(i), cm_run_check(run, error));
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
  if (cm_weight_scale(sum > ones ? sum : ones, maximum, UINT32_MAX, !weights->fractions, &made->weight_scale, error) != CM_OK ||
      (weights->delay_ms != NULL && scale_delays(made, weights, run, error) != CM_OK) ||
      (value != NULL && keep_signs(made, value, run, error) != CM_OK))
    return error->status;
  if (made->directed) {
    CM_TRY(CM_NEW(run->memory, made->net_weight, made->net_count, error));
    for (uint32_t e = 0; e < made->net_count; e++)
      made->net_weight[e] = made->weight_scale;
  }
  if (all_one)
    return keep_dynamics(made, weights, run, error);
  CM_TRY(CM_NEW(run->memory, made->pin_weight, made->pin_count, error));
  for (uint64_t i = 0; i < made->pin_count; i++) {
    CM_TRY_IF(is_long(i), cm_run_check(run, error));
    made->pin_weight[i] = (uint32_t)cm_weight_scaled(ldexp(fabs(value[i]), -made->weight_exponent), made->weight_scale);
  }
  return keep_dynamics(made, weights, run, error);
}
