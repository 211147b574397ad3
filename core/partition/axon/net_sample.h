/* Some nets of a hypergraph that stand for all of them on coarser levels: where a vertex has many inbound nets, half of them tell
 * nearly as well as all where it belongs, and every visit of it costs half. A net that is one of m to be drawn stands for m: for
 * their weight and for their inbound axons, so that sums over nets are right in the mean (Horvitz and Thompson 1952). */
#pragma once

#include "core/partition/axon/hypergraph.h"

typedef struct cm_net_sample {
  uint32_t count;   /* nets that are kept */
  uint32_t *net;    /* [count] their numbers, by falling weight about */
  uint32_t *weight; /* [count] of what they stand for */
  uint8_t *axons;   /* [count] nets that each stands for, itself included */
} cm_net_sample;

/* Whether a sample of so many nets tells enough of the graph. O(1). */
bool cm_net_sample_suits(const cm_hypergraph *graph);

/* Keeps one of `one_of` nets, about: of CM_NET_AXONS_MAX / 2 at most. The lighter a net, the less likely it is kept, down to half as likely as on average; heavy
 * ones stay, each for itself. The caller frees what is in the sample, also after a failure. O(nets). */
cm_status cm_net_sample_draw(const cm_hypergraph *graph, uint32_t one_of, uint64_t seed, cm_run *run, cm_net_sample *sample,
                             cm_error *error);
void cm_net_sample_clear(cm_net_sample *sample);
