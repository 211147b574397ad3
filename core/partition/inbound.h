/* The synapses of a directed network by target: four bytes each where weights are small. */
#ifndef CM_PARTITION_INBOUND_H
#define CM_PARTITION_INBOUND_H

#include "core/base/run.h"
#include "core/network/topology.h"

typedef struct cm_inbound {
  uint64_t *first;    /* [vertices + 1] */
  /* [synapses but self loops] source in the low bits, weight less 1 above them where `weight` is NULL; by ascending
   * source */
  uint32_t *entry;
  uint32_t *weight;   /* [same] units; NULL: in `entry` */
  uint32_t bits;      /* of a source */
  uint64_t unit;      /* scaled weight of a weight of 1: weights are divided by it and rounded, at least 1 */
} cm_inbound;

static inline uint32_t cm_inbound_source(const cm_inbound *in, uint64_t i)
{
  return in->weight != NULL ? in->entry[i] : in->entry[i] & (uint32_t)((UINT64_C(1) << in->bits) - 1);
}

static inline uint32_t cm_inbound_weight(const cm_inbound *in, uint64_t i)
{
  return in->weight != NULL ? in->weight[i] : (uint32_t)((uint64_t)in->entry[i] >> in->bits) + 1;
}

/* The weight of a synapse in units. */
static inline uint32_t cm_inbound_units(const cm_inbound *in, uint64_t weight)
{
  return weight < 2 * in->unit ? 1 : (uint32_t)(weight / in->unit);
}

/* Builds the table; the weights of all synapses of a vertex stay below 2^31 units. Parallel. O(pins). */
cm_status cm_inbound_new(const cm_topology *topology, cm_run *run, cm_inbound *inbound, cm_error *error);
void cm_inbound_free(cm_inbound *inbound); /* harmless on a zeroed one */

#endif
