/* Coarser and coarser hypergraphs of small nets. */
#ifndef CM_PARTITION_NET_LEVELS_H
#define CM_PARTITION_NET_LEVELS_H

#include "core/partition/nets/net_graph.h"

enum { CM_NET_LEVELS_MAX = 64 };

typedef struct cm_net_levels {
  uint32_t count;                        /* at least 1 */
  cm_net_graph *graph[CM_NET_LEVELS_MAX]; /* graph[0] is the finest, borrowed */
  uint32_t *map[CM_NET_LEVELS_MAX];      /* map[l]: vertices of level l -> of level l + 1 */
} cm_net_levels;

typedef struct cm_net_levels_options {
  uint32_t vertices_min; /* stop at about so many */
  uint64_t size_max;     /* of a vertex that others have joined */
  const uint32_t *label; /* [vertices of the finest] never merged across; NULL: none */
  uint64_t seed, stream;
} cm_net_levels_options;

/* Each vertex that is alone joins the neighbouring cluster with the highest sum over shared nets of weight / (pins - 1)
 * (heavy edges), in random order; a level ends where it has 2.5 times fewer vertices. Stops early where a level hardly shrinks.
 * O(sum of pins squared of nets up to a thousand pins; larger ones are not asked). */
cm_status cm_net_levels_build(cm_net_graph *finest, const cm_net_levels_options *options, cm_run *run,
                              cm_net_levels *levels, cm_error *error);

/* Frees all but graph[0]; harmless on a zeroed one. */
void cm_net_levels_free(cm_net_levels *levels);

#endif
