/* What the parts of a partition say to each other, counted by axons. */
#pragma once

#include "core/partition/graph.h"

/* What each part sends to each other part, one direction at a time. */
typedef struct cm_flows {
  uint32_t parts;
  uint64_t *first;  /* [parts + 1] */
  uint32_t *target; /* [first[parts]] never the part itself, none twice */
  uint64_t *weight; /* [first[parts]] scaled, at least 1 */
} cm_flows;

/* Counts each axon once per part that it reaches. O(pins). */
cm_status cm_flows_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_flows **flows, cm_error *error);

/* Both directions of every edge, each with the edge's weight. O(entries). */
cm_status cm_flows_of_graph(const cm_graph *graph, cm_run *run, cm_flows **flows, cm_error *error);

/* Room for so many flows, all zeros: for those who fill it in themselves. */
cm_status cm_flows_new(uint32_t parts, uint64_t count, cm_run *run, cm_flows **flows, cm_error *error);
/* The same by target: the target of each is its sender, ascending. O(flows). */
cm_status cm_flows_turned(const cm_flows *flows, cm_run *run, cm_flows **turned, cm_error *error);
void cm_flows_free(cm_flows *flows); /* NULL is allowed */

/* The parts as a graph: the weight of an edge is what flows between its ends in both directions. Sizes are 1.
 * O(flows log(flows per part)). */
cm_status cm_graph_of_flows(const cm_flows *flows, cm_run *run, cm_graph **graph, cm_error *error);

/* cm_graph_of_flows of cm_flows_of_axons. */
cm_status cm_graph_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_graph **graph, cm_error *error);
