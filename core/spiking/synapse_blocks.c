/* Happy path: the longest delay gives the ring, the ring and the fan-out the size of blocks; synapses are counted by block and source, then
 * put there. What can fail: delays that are no multiple of a step; memory. */
#include "core/spiking/synapse_blocks.h"

#include <math.h>
#include <stdio.h>

#include "core/network/dynamics.h"
#include "core/spiking/coefficients.h"

enum { DELAY_MAX = 1 << 20, BLOCK_BITS_MIN = 8, BLOCK_BITS_MAX = 17, SEGMENT = 8, AHEAD = 8 };
static const uint64_t cached = 1 << 18; /* sums of a block */

/* ---- delays ---- */

typedef struct builder {
  const cm_topology *topology;
  const cm_evaluation_order *order;
  const cm_latency *latency;
  cm_run *run;
  cm_synapse_blocks *synapses;
  double steps_a_unit; /* of delays */
} builder;

static cm_status refuse_delay(const builder *b, uint32_t from, uint32_t to, uint32_t delay, cm_error *error)
{
  char called[96], target[96];
  const double ms = (double)delay * (double)b->topology->delay_unit_ns / 1e6, dt = b->latency->dt * 1e3, steps = delay * b->steps_a_unit;
  (void)cm_neuron_called(b->topology, from, called, sizeof called);
  (void)cm_neuron_called(b->topology, to, target, sizeof target);
  if (b->latency->dt <= 0)
    return cm_fail(error, CM_BAD_OPTION, "dt is missing: the synapse from %s to %s has a delay of %g ms, so how long a step is has to be said, in seconds",
                   called, target, ms);
  if (steps > DELAY_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the synapse from %s to %s has a delay of %g steps; the longest is %d", called, target, steps, DELAY_MAX);
  return cm_fail(error, CM_BAD_OPTION, "the synapse from %s to %s has a delay of %g ms, no multiple of dt, %g ms: it is %g ms off", called,
                 target, ms, dt, fabs(steps - round(steps)) * dt);
}

/* The steps that a synapse takes. */
static cm_status steps_of(const builder *b, uint32_t from, uint32_t to, uint32_t delay, uint32_t *steps, cm_error *error)
{
  const double near = 1e-6, exact = delay * b->steps_a_unit, whole = round(exact);
  if (delay > 0 && (b->latency->dt <= 0 || whole > DELAY_MAX || fabs(exact - whole) > near))
    return refuse_delay(b, from, to, delay, error);
  *steps = (uint32_t)whole + (b->topology->dynamics->model[from] != CM_NEURON_INPUT ? b->latency->output : 0);
  *steps += *steps == 0 && cm_in_loop(b->order, from, to);
  return CM_OK;
}

/* ---- what a pin holds: its first synapse, and those beside it ---- */

static float weight_of(const cm_topology *t, uint32_t net, uint64_t pin)
{
  return t->dynamics->weight != NULL ? t->dynamics->weight[pin] : (float)cm_topology_pin_value(t, net, pin);
}

/* ---- building ---- */

typedef cm_status take_synapse(builder *b, uint32_t from, uint32_t to, uint32_t steps, float weight);

static cm_status for_pin(builder *b, uint32_t net, uint64_t pin, uint64_t *parallel, take_synapse *take, cm_error *error)
{
  const cm_topology *t = b->topology;
  const cm_dynamics *d = t->dynamics;
  const uint32_t from = cm_topology_source(t, net), to = t->pin[pin];
  uint32_t steps;
  if (steps_of(b, from, to, t->pin_delay != NULL ? t->pin_delay[pin] : 0, &steps, error) != CM_OK)
    return error->status;
  (void)take(b, from, to, steps, weight_of(t, net, pin));
  for (; *parallel < d->parallel_count && d->parallel[*parallel].pin == pin; ++*parallel) {
    if (steps_of(b, from, to, d->parallel[*parallel].delay, &steps, error) != CM_OK)
      return error->status;
    (void)take(b, from, to, steps, d->parallel[*parallel].weight);
  }
  return CM_OK;
}

static cm_status for_each(builder *b, take_synapse *take, cm_error *error)
{
  const cm_topology *t = b->topology;
  uint64_t parallel = 0, done = 0;
  cm_status status = CM_OK;
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++) {
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1] && status == CM_OK; i++)
      status = for_pin(b, e, i, &parallel, take, error);
    if (status == CM_OK && cm_run_due(&done, t->net_first[e + 1] - t->net_first[e]))
      status = cm_run_check(b->run, error);
  }
  return status;
}

static cm_status measure(builder *b, uint32_t from, uint32_t to, uint32_t steps, float weight)
{
  (void)from, (void)to, (void)weight;
  b->synapses->slots = steps >= b->synapses->slots ? steps + 1 : b->synapses->slots;
  b->synapses->count++;
  return CM_OK;
}

static cm_status count(builder *b, uint32_t from, uint32_t to, uint32_t steps, float weight)
{
  (void)steps, (void)weight;
  b->synapses->block[to >> b->synapses->block_bits].first[from + 1]++;
  return CM_OK;
}

/* While synapses are put, first[v + 1] is where the next one of v goes. */
static cm_status put(builder *b, uint32_t from, uint32_t to, uint32_t steps, float weight)
{
  cm_synapse_blocks *s = b->synapses;
  cm_synapse_block *block = &s->block[to >> s->block_bits];
  const uint32_t local = to & ((UINT32_C(1) << s->block_bits) - 1);
  s->synapse[block->begin + block->first[from + 1]++] = (cm_blocked_synapse){(steps << s->block_bits) + local, weight};
  return CM_OK;
}

/* Blocks whose sums stay in the cache, if a row then still has some synapses in each; of a large network never fewer than eight, for threads. */
static void choose_blocks(cm_synapse_blocks *s)
{
  uint32_t bits = BLOCK_BITS_MAX, slots = 1;
  while (slots < s->slots)
    slots *= 2;
  s->slots = slots;
  while (bits > BLOCK_BITS_MIN && (UINT64_C(8) << bits > s->neurons || (uint64_t)slots << bits > cached) &&
         (s->neurons >> (bits - 1)) * (uint64_t)SEGMENT * s->neurons <= s->count)
    bits--;
  while (bits < 32 && ((uint64_t)slots << bits) > (UINT64_C(1) << 32))
    bits--;
  s->block_bits = bits;
  s->blocks = (uint32_t)(((uint64_t)s->neurons + (UINT64_C(1) << bits) - 1) >> bits);
}

static cm_status make_blocks(cm_synapse_blocks *s, cm_memory *memory, cm_error *error)
{
  cm_status status = CM_NEW(memory, s->block, s->blocks, error);
  for (uint32_t k = 0; k < s->blocks && status == CM_OK; k++) {
    status = CM_NEW(memory, s->block[k].first, (size_t)s->neurons + 1, error);
    if (status == CM_OK)
      status = CM_NEW(memory, s->block[k].sum, (size_t)s->slots << s->block_bits, error);
  }
  return status == CM_OK ? CM_NEW(memory, s->synapse, s->count, error) : status;
}

/* Counts, shifted by one so that they can be filled, to where rows begin. */
static cm_status begin_rows(cm_synapse_blocks *s, cm_error *error)
{
  uint64_t begin = 0;
  for (uint32_t k = 0; k < s->blocks; k++) {
    uint64_t sum = 0;
    uint32_t *first = s->block[k].first;
    for (uint32_t v = 0; v < s->neurons; v++) {
      const uint32_t here = first[v + 1];
      first[v + 1] = (uint32_t)sum;
      sum += here;
    }
    if (sum > UINT32_MAX)
      return cm_fail(error, CM_TOO_LARGE, "%llu synapses go to %u neurons: at most %u fit", (unsigned long long)sum, 1u << s->block_bits, UINT32_MAX);
    s->block[k].begin = begin;
    begin += sum;
  }
  return CM_OK;
}

cm_status cm_synapse_blocks_make(const cm_topology *topology, const cm_evaluation_order *order, const cm_latency *latency, cm_run *run,
                           cm_synapse_blocks *synapses, cm_error *error)
{
  cm_synapse_blocks s = {.neurons = topology->vertex_count, .slots = 1};
  builder b = {.topology = topology, .order = order, .latency = latency, .run = run, .synapses = &s};
  b.steps_a_unit = latency->dt > 0 ? (double)topology->delay_unit_ns * 1e-9 / latency->dt : 0;
  cm_status status = for_each(&b, measure, error);
  if (status == CM_OK) {
    choose_blocks(&s);
    status = make_blocks(&s, run->memory, error);
  }
  if (status == CM_OK)
    status = for_each(&b, count, error);
  if (status == CM_OK)
    status = begin_rows(&s, error);
  if (status == CM_OK)
    status = for_each(&b, put, error);
  if (status == CM_OK)
    *synapses = s;
  else
    cm_synapse_blocks_free(&s);
  return status;
}

void cm_synapse_blocks_free(cm_synapse_blocks *synapses)
{
  for (uint32_t k = 0; synapses->block != NULL && k < synapses->blocks; k++) {
    cm_free(synapses->block[k].first);
    cm_free(synapses->block[k].sum);
  }
  cm_free(synapses->block);
  cm_free(synapses->synapse);
  *synapses = (cm_synapse_blocks){.neurons = 0};
}

/* ---- running ---- */

void cm_synapse_blocks_send(const cm_synapse_blocks *synapses, uint32_t block, const uint32_t *source, const float *value, uint32_t count, uint64_t now)
{
  const cm_synapse_block *b = &synapses->block[block];
  const cm_blocked_synapse *synapse = synapses->synapse + b->begin;
  const uint32_t *first = b->first;
  float *sum = b->sum;
  const uint32_t mask = (uint32_t)(((uint64_t)synapses->slots << synapses->block_bits) - 1);
  const uint32_t at = (uint32_t)(now << synapses->block_bits) & mask;
  for (uint32_t k = 0; k < count; k++) {
    if (k + AHEAD < count)
      __builtin_prefetch(synapse + first[source[k + AHEAD]]);
    if (k + 2 * AHEAD < count)
      __builtin_prefetch(first + source[k + 2 * AHEAD]);
    const uint32_t end = first[source[k] + 1];
    if (value == NULL)
      for (uint32_t i = first[source[k]]; i < end; i++)
        sum[(synapse[i].to + at) & mask] += synapse[i].weight;
    else
      for (uint32_t i = first[source[k]]; i < end; i++)
        sum[(synapse[i].to + at) & mask] += synapse[i].weight * value[k];
  }
}

uint64_t cm_synapse_blocks_of(const cm_synapse_blocks *synapses, uint32_t source)
{
  uint64_t all = 0;
  for (uint32_t k = 0; k < synapses->blocks; k++)
    all += synapses->block[k].first[source + 1] - synapses->block[k].first[source];
  return all;
}
