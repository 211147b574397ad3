/* Parts of a network in which no two neurons share many more sources than chance has them share, filled one after
 * another on the network itself: there is nothing to coarsen by. */
#ifndef CM_PARTITION_FILL_H
#define CM_PARTITION_FILL_H

#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph.h"

typedef struct cm_fill_options {
  cm_limits limits;  /* of a part; those on neurons, synapses and inbound axons count */
  double weight;     /* 0: nets count alike in what a vertex shares; else the share of their weight counts so many times as
                        much as the share of their number */
  double work;       /* about so many looks at targets: fewer vertices wait at a time where all would need more */
  uint64_t seed;
} cm_fill_options;

/* Whether there are enough synapses for it, of level 0. O(1). */
bool cm_fill_possible(const cm_topology *topology);

/* Whether this way suits a network of which it is possible: synapses are a hundredth of the possible ones at least. Two
 * targets of a neuron have other sources in common hardly more often than chance has it (a cortical microcircuit: 1.3
 * times, a reservoir of 16384 neurons and fan-out 1024: 6 times). Of a level 0 whose targets are not packed; lists its
 * inbound nets. O(pins of a vertex) for each of 8192 pairs. */
cm_status cm_fill_suits(cm_hypergraph *graph, cm_run *run, bool *suits, cm_error *error);

/* Whether so much work allows all vertices to wait. O(1). */
bool cm_fill_has_all_wait(const cm_hypergraph *graph, double work);

/* Fills part [vertices of the graph], level 0 of `topology`: of the vertices that wait the one goes into the part under
 * way that has the largest share of its inbound nets there already, until none fits; the next part begins with the one
 * that has most. Where `work` does not allow all to wait, those of one kind (cm_order_by_sources) wait together. No
 * vertex may break a limit by itself. *parts counts the parts. Memory: 4 bytes a pin, 8 while the order is found.
 * O(work + vertices * those that wait). Errors: memory and run errors. */
cm_status cm_fill_parts(const cm_demand *demand, const cm_hypergraph *graph, const cm_fill_options *options,
                        cm_run *run, uint32_t *part, uint32_t *parts, cm_error *error);

#endif
