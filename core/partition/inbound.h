/* The synapses of a directed network by target: four bytes each where weights are small. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

typedef struct cm_inbound {
  uint64_t *first;    /* [vertices + 1] */
  /* [synapses but self loops] source in the low bits, weight less 1 above them where `weight` is NULL; by ascending
   * source */
  uint32_t *entry;
  uint32_t *weight;   /* [same] units; NULL: in `entry` */
  uint32_t bits;      /* of a source */
  uint64_t unit;      /* scaled weight of a weight of 1: weights are divided by it and rounded, at least 1 */
} cm_inbound;

/* The bits of an entry that are its source. */
static inline uint32_t cm_inbound_mask(const cm_inbound *in)
{
  return in->weight != NULL ? UINT32_MAX : (uint32_t)((UINT64_C(1) << in->bits) - 1);
}

/* What an entry says: its source, and where weights are not apart, its weight. */
static inline uint32_t cm_inbound_packed_source(const cm_inbound *in, uint32_t entry)
{
  return entry & cm_inbound_mask(in);
}

static inline uint32_t cm_inbound_packed_weight(const cm_inbound *in, uint32_t entry)
{
  return (uint32_t)((uint64_t)entry >> in->bits) + 1;
}

static inline uint32_t cm_inbound_source(const cm_inbound *in, uint64_t i)
{
  return cm_inbound_packed_source(in, in->entry[i]);
}

static inline uint32_t cm_inbound_weight(const cm_inbound *in, uint64_t i)
{
  return in->weight != NULL ? in->weight[i] : cm_inbound_packed_weight(in, in->entry[i]);
}

/* The weight of a synapse in units. */
static inline uint32_t cm_inbound_units(const cm_inbound *in, uint64_t weight)
{
  return weight < 2 * in->unit ? 1 : (uint32_t)(weight / in->unit);
}

/* Builds the table; the weights of all synapses of a vertex stay below 2^31 units. Parallel. O(pins). */
cm_status cm_inbound_new(const cm_demand *demand, cm_run *run, cm_inbound *inbound, cm_error *error);
void cm_inbound_free(cm_inbound *inbound); /* harmless on a zeroed one */
