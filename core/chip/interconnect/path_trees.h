/* Trees of ways on an interconnect, and the virtual channels that keep packets on them from waiting for each other in a ring.
 *
 * Routers are in a total order: on grids by their numbers, else by how far from a root they are (breadth first; of trees the
 * top switch, of others a router of most links), then by number. A link is up when it leads to an earlier router. A packet
 * begins on virtual channel 0 and takes the next one wherever it turns from a link that is down to one that is up (up*, down*:
 * Schroeder et al., Autonet, IEEE JSAC 1991; a channel for each turn: Dally and Seitz, IEEE Transactions on Computers 1987).
 * So ways may be the shortest. Often fewer channels do, packets staying on the last one: whether nothing waits in a ring is looked
 * up in the channel dependency graph of the routes as they are (cm_channels_ring). */
#pragma once

#include "base/run.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

/* A router of a tree. */
typedef struct cm_way_node {
  uint32_t router;
  uint32_t parent;  /* number of the node before it */
  uint32_t link;    /* by which packets come; CM_NO_WAY at the source */
  uint16_t channel; /* virtual channel on that link, were there as many as turns */
  bool target;      /* the packet is also for this router */
} cm_way_node;

typedef struct cm_way_tree {
  const cm_way_node *node; /* [count] every one after its parent, the source first; valid until the next call */
  uint32_t count;
} cm_way_tree;

typedef struct cm_way_tracer cm_way_tracer;

/* Scratch for one thread; the interconnect is prepared. 12 bytes a router. */
cm_status cm_way_tracer_new(const cm_interconnect *net, cm_memory *memory, cm_way_tracer **tracer, cm_error *error);
void cm_way_tracer_free(cm_way_tracer *tracer); /* NULL is allowed */

/* The union of the ways from a router to others. O(its links + targets), times the links
 * of a router where ways are formulas. CM_NO_ROUTE where dead links leave no way; *lost is then that router. */
cm_status cm_way_trace(cm_way_tracer *tracer, const cm_ends *ends, cm_way_tree *tree, uint32_t *lost, cm_error *error);

/* A router of a tree that hangs on another of its routers than the ways say. */
typedef struct cm_rehung {
  uint32_t router, link; /* by which packets come */
} cm_rehung;

/* Hangs routers of the tree of the last call anew; what comes of it must be a tree. O(routers of it). Errors: memory. */
cm_status cm_way_rehang(cm_way_tracer *tracer, const cm_rehung *hung, size_t count, cm_way_tree *tree, cm_error *error);

/* The root of the order; CM_NO_WAY: routers are in the order of their numbers. O(routers). */
uint32_t cm_interconnect_root(const cm_interconnect *net);

/* The link by which a packet goes straight on after `link`, CM_NO_LINK where it cannot or the kind knows no straight. O(log links). */
int64_t cm_interconnect_straight(const cm_interconnect *net, uint32_t link);

/* The direction of a link of a grid or a hexagonal interconnect: east, north-east, north, west, south-west, south. O(1). */
unsigned cm_interconnect_direction(const cm_interconnect *net, uint32_t link);

/* The channel dependency graph: links times virtual channels, and which one a packet takes after which. */
typedef struct cm_channels {
  const cm_interconnect *net;
  const cm_way_tracer *tracer;
  uint32_t channels;     /* virtual channels of a link: who would take a higher one stays on the last */
  uint64_t *offset;      /* [links + 1] sum of the links that leave the ends of those before */
  uint8_t *used;         /* [channels * links] */
  uint64_t *next;        /* bit channel * offset[links] + offset[link] + i: goes on by link i of the router that the link leads to */
} cm_channels;

/* A bit for every pair of links that meet, times channels. The tracer is that of the trees to come, and stays the caller's. */
cm_status cm_channels_new(const cm_way_tracer *tracer, uint32_t channels, cm_memory *memory, cm_channels *graph, cm_error *error);
void cm_channels_free(cm_channels *graph);
void cm_channels_add(cm_channels *graph, cm_way_tree tree);

/* Channels in use, and pairs of which one waits for the other. O(bits). */
void cm_channels_count(const cm_channels *graph, uint64_t *channels, uint64_t *arcs);

/* Whether some channels wait for each other in a ring. O(bits). */
cm_status cm_channels_ring(const cm_channels *graph, cm_memory *memory, bool *ring, cm_error *error);
