/* A network as a line of neurons, those with inputs in common side by side, so that any stretch of it does for a part. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"
#include "core/partition/axon/lists.h"

/* Stretches of the line, all of it where the network is small: every neuron with the axons that reach it. */
typedef struct cm_strand {
  uint32_t count;    /* neurons */
  uint64_t *first;   /* [count + 1] number of axons into all before it */
  unsigned char *code; /* of each, one after another, the list of axons into it */
  uint32_t *neuron;  /* [count] which it is */
  double share;      /* of the network's synapses that are here; 1: all of it */
} cm_strand;

/* How the line is laid. */
typedef enum cm_strand_order {
  CM_STRAND_AS_NUMBERED, /* as its maker numbered the neurons: layers and sheets, row by row */
  CM_STRAND_BY_INPUTS,   /* by the axons of the least hashes into each (Broder 1997): those that share many have the same ones */
  CM_STRANDS
} cm_strand_order;

/* Makes the line of a directed network. Where it has more than `pins_max` synapses, stretches of it, evenly spread, that have about as
 * many. By the run's seed. O(pins + vertices log(vertices)); 2 bytes a synapse of the stretches, 32 a neuron. */
cm_status cm_strand_new(const cm_demand *demand, cm_strand_order order, uint64_t pins_max, cm_run *run, cm_strand *strand,
                        cm_error *error);
void cm_strand_free(cm_strand *strand); /* harmless on a zeroed one */
