/* Maximum flows between two sides of a network that grow: a side takes in all that its flow reaches, or further nodes, and the
 * flow goes on from where it was. Each maximum shows two minimum cuts: around what one side reaches, and around the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/run.h"

/* Of arcs that are never cut; all others together have less. */
#define CM_FLOW_INFINITE (INT64_MAX / 4)

/* Side 0 has the source, side 1 the sink. */
enum { CM_FLOW_NEITHER = 2 };

typedef struct cm_flow_arc {
  int64_t rest;     /* what it can carry beyond what it does */
  uint32_t to;
  uint32_t reverse; /* its number */
} cm_flow_arc;

/* An arc and its reverse as they were added. */
typedef struct cm_flow_pair {
  int64_t there, back;
  uint32_t from, to;
} cm_flow_pair;

typedef struct cm_flow {
  cm_memory *memory;
  uint32_t nodes, pairs;
  cm_flow_pair *pair;     /* [pairs] */
  uint32_t *first;        /* [nodes + 1] */
  cm_flow_arc *arc;       /* [2 * pairs] */
  int64_t value;          /* of the flow */
  uint8_t *owner;         /* [nodes] the side that has closed around it, or CM_FLOW_NEITHER */
  uint8_t *end;           /* [nodes] the side whose open node it is, or CM_FLOW_NEITHER */
  uint32_t *open[2];      /* [open_count] nodes that a side has taken in since it closed */
  uint32_t open_count[2];
  uint32_t *reach[2];     /* [reach_count] nodes outside that its open ones reach, they included */
  uint32_t reach_count[2];
  uint32_t *reached[2];   /* [nodes] `stamp` of the search that last came there */
  uint32_t stamp[2];
  uint32_t *depth, *alike, *next; /* [nodes] alike: by depth */
  uint32_t *path;         /* [nodes] arcs */
  uint64_t looks;         /* at arcs, since cm_flow_begin */
  uint64_t node_room, pair_capacity, arc_capacity;
} cm_flow;

void cm_flow_free(cm_flow *flow); /* a zeroed one is empty, with `memory` to be set */

/* A network of so many nodes, without arcs, in place of the one before. */
cm_status cm_flow_begin(cm_flow *flow, uint32_t nodes, cm_error *error);

/* An arc, and one back. All capacities that are not CM_FLOW_INFINITE stay below it together. */
cm_status cm_flow_add(cm_flow *flow, uint32_t from, uint32_t to, int64_t there, int64_t back, cm_error *error);

/* No arcs are added after this. O(nodes + arcs). */
cm_status cm_flow_ready(cm_flow *flow, cm_error *error);

/* A side takes in a node that is on neither side. */
void cm_flow_take(cm_flow *flow, unsigned side, uint32_t node);

/* A side closes around all that it reaches: to be called after cm_flow_maximise. */
void cm_flow_close(cm_flow *flow, unsigned side);

/* Makes the flow as large as it gets, or `enough`, looking from the open nodes of a side, and finds what both sides reach. No path leads
 * from a side to the other by infinite arcs alone. O(nodes^2 arcs) (shortest augmenting paths: Ahuja and Orlin 1991), in practice some looks at every arc. */
void cm_flow_maximise(cm_flow *flow, unsigned side, int64_t enough);

/* What a side reaches from its open nodes, found anew: where it has taken in some that the other does not reach no flow is
 * needed. O(arcs there). */
void cm_flow_search(cm_flow *flow, unsigned side);

/* Whether a side has closed around a node or reaches it. */
static inline bool cm_flow_has(const cm_flow *flow, unsigned side, uint32_t node)
{
  return flow->owner[node] == side || flow->reached[side][node] == flow->stamp[side];
}
