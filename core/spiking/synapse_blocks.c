/* Happy path: the longest delay gives the ring, the ring and the fan-out the size of blocks; synapses are counted by block and source, then
 * put there. What can fail: delays that are no multiple of a step; memory. */
#include "core/spiking/synapse_blocks.h"

#include "core/spiking/coefficients.h"

enum { BLOCK_BITS_MIN = 8, BLOCK_BITS_MAX = 17, SEGMENT = 8, AHEAD = 8 };
static const uint64_t cached = 1 << 18; /* sums of a block */

static void measure(void *context, CM_UNUSED uint32_t from, CM_UNUSED uint32_t to, uint32_t steps, CM_UNUSED float weight)
{
  cm_synapse_blocks *s = context;
  s->slots = steps >= s->slots ? steps + 1 : s->slots;
  s->count++;
}

static void count(void *context, uint32_t from, uint32_t to, CM_UNUSED uint32_t steps, CM_UNUSED float weight)
{
  const cm_synapse_blocks *s = context;
  s->block[to >> s->block_bits].first[from + 1]++;
}

/* While synapses are put, first[v + 1] is where the next one of v goes. */
static void put(void *context, uint32_t from, uint32_t to, uint32_t steps, float weight)
{
  const cm_synapse_blocks *s = context;
  cm_synapse_block *block = &s->block[to >> s->block_bits];
  const uint32_t local = to & ((UINT32_C(1) << s->block_bits) - 1);
  const uint32_t slot = (steps << s->second) + (weight < 0 && cm_has_second_current(s->dynamics, to));
  s->synapse[block->begin + block->first[from + 1]++] = (cm_blocked_synapse){(slot << s->block_bits) + local, weight};
}

/* Blocks whose sums stay in the cache, if a row then still has some synapses in each; of a large network never fewer than eight, for threads. */
static void choose_blocks(cm_synapse_blocks *s)
{
  uint32_t bits = BLOCK_BITS_MAX, slots = 1;
  while (slots < s->slots)
    slots *= 2;
  s->slots = slots << s->second;
  while (bits > BLOCK_BITS_MIN && (UINT64_C(8) << bits > s->neurons || (uint64_t)s->slots << bits > cached) &&
         (s->neurons >> (bits - 1)) * (uint64_t)SEGMENT * s->neurons <= s->count)
    bits--;
  while (bits < 32 && ((uint64_t)s->slots << bits) > (UINT64_C(1) << 32))
    bits--;
  s->block_bits = bits;
  s->blocks = (uint32_t)(((uint64_t)s->neurons + (UINT64_C(1) << bits) - 1) >> bits);
}

static cm_status make_blocks(cm_synapse_blocks *s, cm_memory *memory, cm_error *error)
{
  cm_status status = CM_NEW(memory, s->block, s->blocks, error);
  for (uint32_t k = 0; k < s->blocks && status == CM_OK; k++) {
    status = CM_NEW(memory, s->block[k].first, (size_t)s->neurons + 1, error);
    CM_THEN(status, CM_NEW(memory, s->block[k].sum, (size_t)s->slots << s->block_bits, error));
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

cm_status cm_synapse_blocks_make(const cm_timed_network *network, cm_run *run, cm_synapse_blocks *synapses, cm_error *error)
{
  const cm_timed_network again = {network->topology, network->order, network->latency, false}; /* all but the last time */
  cm_synapse_blocks s = {.neurons = network->topology->vertex_count, .slots = 1, .dynamics = network->topology->dynamics};
  s.second = s.dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] != NULL;
  cm_status status = cm_synapses_tell(&again, run, measure, &s, error);
  if (status == CM_OK) {
    choose_blocks(&s);
    status = make_blocks(&s, run->memory, error);
  }
  CM_THEN(status, cm_synapses_tell(&again, run, count, &s, error));
  CM_THEN(status, begin_rows(&s, error));
  CM_THEN(status, cm_synapses_tell(network, run, put, &s, error));
  CM_END(status, *synapses = s, cm_synapse_blocks_free(&s));
}

void cm_synapse_blocks_free(cm_synapse_blocks *synapses)
{
  for (uint32_t k = 0; synapses->block != NULL && k < synapses->blocks; k++) {
    CM_FREE(synapses->block[k].first, synapses->block[k].sum);
  }
  CM_FREE(synapses->block, synapses->synapse);
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
  const uint32_t at = (uint32_t)(now << (synapses->block_bits + synapses->second)) & mask;
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
