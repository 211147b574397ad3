/* The synapses of a network in the form in which it runs: by blocks of targets whose sums stay in the cache, in each by source. What arrives in
 * later steps waits in a ring of sums, one for each step up to the longest delay. */
#pragma once

#include "base/run.h"
#include "core/network/dynamics.h"
#include "core/network/topology.h"
#include "core/spiking/timed_synapses.h"

/* 8 bytes: slot * block_size + target in the block, and the weight. */
typedef struct cm_blocked_synapse {
  uint32_t to;
  float weight;
} cm_blocked_synapse;

typedef struct cm_synapse_block {
  uint64_t begin;   /* of its synapses */
  uint32_t *first;  /* [neurons + 1] of each source, from begin */
  float *sum;       /* [slots * block_size] */
} cm_synapse_block;

typedef struct cm_synapse_blocks {
  uint32_t neurons, blocks;
  uint32_t block_bits;   /* targets of a block: 1 << block_bits */
  uint32_t slots;        /* of the ring; a power of two above the longest delay, twice that with second currents */
  unsigned second;       /* 1: each step has two slots, the latter for negative weights of neurons with a second current; 0: one */
  const cm_dynamics *dynamics;
  cm_synapse_block *block;
  cm_blocked_synapse *synapse;
  uint64_t count;
} cm_synapse_blocks;

/* Builds them from a directed network with dynamics. O(pins + neurons * blocks). Errors: those of cm_synapses_tell; CM_TOO_LARGE; memory. */
cm_status cm_synapse_blocks_make(const cm_timed_network *network, cm_run *run, cm_synapse_blocks *synapses, cm_error *error);
void cm_synapse_blocks_free(cm_synapse_blocks *synapses); /* harmless on a zeroed one */

/* Adds what the spikes of `source` [count] send in step `now` to the sums of one block; `value` [count]: each times so much, NULL: 1. Blocks are apart:
 * several threads may each work on one. O(synapses). */
void cm_synapse_blocks_send(const cm_synapse_blocks *synapses, uint32_t block, const uint32_t *source, const float *value, uint32_t count, uint64_t now);

/* Synapses of a neuron. O(blocks). */
uint64_t cm_synapse_blocks_of(const cm_synapse_blocks *synapses, uint32_t source);

/* Where the sums of step `now` begin in a block: [1 << block_bits], then those of second currents, zeroed by whoever takes them. */
static inline float *cm_synapse_blocks_sums(const cm_synapse_blocks *s, uint32_t block, uint64_t now)
{
  return s->block[block].sum + ((size_t)((now << s->second) & (s->slots - 1)) << s->block_bits);
}
