/* Pieces of neurons: first all are integrated, then those above their thresholds, which are few, are reset one by one. */
#include "core/spiking/update.h"

#include <string.h>

#include "core/network/dynamics.h"

enum { PIECE = 64 };

/* v of models without a current. */
static inline void integrate(const cm_update *u, uint32_t begin, uint32_t n)
{
  const cm_coefficients *c = u->coefficients;
  const float *decay = c->decay + begin, *gain = c->gain + begin, *offset = c->offset + begin, *bias = c->bias + begin;
  float *restrict v = u->v + begin, *restrict sum = u->sum + (begin - u->base);
  for (uint32_t i = 0; i < n; i++) {
    v[i] = decay[i] * v[i] + gain[i] * (sum[i] + bias[i]) + offset[i];
    sum[i] = 0;
  }
}

static inline void integrate_current(const cm_update *u, uint32_t begin, uint32_t n)
{
  const cm_coefficients *c = u->coefficients;
  const float *decay = c->decay + begin, *offset = c->offset + begin, *bias = c->bias + begin;
  const float *decay_current = c->decay_current + begin, *gain_current = c->gain_current + begin, *coupling = c->coupling + begin;
  float *restrict v = u->v + begin, *restrict sum = u->sum + (begin - u->base), *restrict current = u->current + begin;
  for (uint32_t i = 0; i < n; i++) {
    current[i] = decay_current[i] * current[i] + gain_current[i] * (sum[i] + bias[i]);
    v[i] = decay[i] * v[i] + coupling[i] * current[i] + offset[i];
    sum[i] = 0;
  }
}

/* The same where v takes the current as it runs over the step. */
static inline void integrate_over_step(const cm_update *u, uint32_t begin, uint32_t n)
{
  const cm_coefficients *c = u->coefficients;
  float *sum = u->sum + (begin - u->base);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t k = begin + i;
    const float in = sum[i] + c->bias[k];
    u->v[k] = c->decay[k] * u->v[k] + c->coupling[k] * u->current[k] + c->gain[k] * in + c->offset[k];
    u->current[k] = c->decay_current[k] * u->current[k] + c->gain_current[k] * in;
    sum[i] = 0;
  }
}

/* Adds what the second current does, after the first. */
static inline void integrate_second(const cm_update *u, uint32_t begin, uint32_t n)
{
  const cm_synaptic *c = &u->coefficients->second;
  float *sum = u->sum + u->apart + (begin - u->base);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t k = begin + i;
    const float before = u->second[k];
    u->second[k] = c->decay[k] * before + c->gain[k] * sum[i];
    u->v[k] += u->closed ? c->coupling[k] * before + c->over[k] * sum[i] : c->coupling[k] * u->second[k];
    sum[i] = 0;
  }
}

static inline void integrate_model(const cm_update *u, uint32_t begin, uint32_t n)
{
  if (!cm_has_current(u->model))
    integrate(u, begin, n);
  else if (u->closed)
    integrate_over_step(u, begin, n);
  else
    integrate_current(u, begin, n);
  if (u->second != NULL && cm_has_current(u->model))
    integrate_second(u, begin, n);
}

/* Those above their thresholds, in ascending order. */
static inline uint32_t compare(const cm_update *u, uint32_t begin, uint32_t n, uint32_t *above)
{
  const float *v = u->v + begin, *threshold = u->coefficients->threshold + begin;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (v[i] > threshold[i])
      above[count++] = begin + i;
  return count;
}

static void subtract(const cm_update *u, const uint32_t *neuron, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    u->v[neuron[i]] -= u->coefficients->threshold[neuron[i]];
}

/* Resets in the step itself those that spike, `fired`. */
static void reset(const cm_update *u, const uint32_t *fired, uint32_t count)
{
  if (u->reset == CM_RESET_SUBTRACT)
    subtract(u, fired, count);
  for (uint32_t i = 0; u->reset == CM_RESET_VALUE && i < count; i++)
    u->v[fired[i]] = u->coefficients->reset[fired[i]];
}

/* What was subtracted of those that were above their thresholds before the step, `had`, is undone where they no longer are; others
 * that now are get it. */
static void complete(const cm_update *u, const uint32_t *had, uint32_t count, const uint32_t *fired, uint32_t spikes)
{
  float *v = u->v;
  const float *threshold = u->coefficients->threshold;
  for (uint32_t i = 0, k = 0; i < spikes; i++) {
    while (k < count && had[k] < fired[i])
      k++;
    if (k == count || had[k] != fired[i])
      subtract(u, &fired[i], 1);
  }
  for (uint32_t i = 0, k = 0; i < count; i++) {
    while (k < spikes && fired[k] < had[i])
      k++;
    if (k == spikes || fired[k] != had[i])
      v[had[i]] += threshold[had[i]];
  }
}

/* Of `count` neurons above their thresholds those that rest do not spike; the others begin to. Returns how many do. */
static uint32_t rest(const cm_update *u, uint32_t begin, uint32_t n, uint32_t *fired, uint32_t count)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (u->resting[fired[i]] == 0)
      fired[kept++] = fired[i];
  for (uint32_t v = begin; v < begin + n; v++)
    u->resting[v] -= u->resting[v] > 0;
  for (uint32_t i = 0; i < kept; i++)
    u->resting[fired[i]] = u->coefficients->refractory[fired[i]];
  return kept;
}

/* Neurons that rest keep the v that they had. */
static void hold(const cm_update *u, uint32_t begin, uint32_t n, const float *held)
{
  for (uint32_t i = 0; i < n; i++)
    if (u->resting[begin + i] > 0)
      u->v[begin + i] = held[i];
}

static uint32_t update_piece(const cm_update *u, uint32_t begin, uint32_t n, uint32_t *fired)
{
  const bool resets = u->model != CM_NEURON_THRESHOLD, next = u->reset == CM_RESET_SUBTRACT_NEXT,
             last = u->reset == CM_RESET_SUBTRACT_LAST, first = next && cm_has_current(u->model);
  uint32_t had[PIECE];
  float held[PIECE];
  const uint32_t above = resets && (next || last) ? compare(u, begin, n, had) : 0;
  if (first)
    subtract(u, had, above);
  if (u->resting != NULL)
    memcpy(held, u->v + begin, n * sizeof *held);
  if (n == PIECE)
    integrate_model(u, begin, PIECE);
  else
    integrate_model(u, begin, n);
  if (u->resting != NULL)
    hold(u, begin, n, held);
  if (!first)
    subtract(u, had, above);
  uint32_t count = compare(u, begin, n, fired);
  if (u->resting != NULL)
    count = rest(u, begin, n, fired, count);
  if (resets)
    reset(u, fired, count);
  if (resets && last)
    complete(u, had, above, fired, count);
  return count;
}

uint32_t cm_update_neurons(const cm_update *update, uint32_t begin, uint32_t end, uint32_t *fired)
{
  uint32_t count = 0;
  for (uint32_t at = begin; at < end; at += PIECE)
    count += update_piece(update, at, end - at < PIECE ? end - at : PIECE, fired + count);
  return count;
}
