/* Between net_flow.c and net_flow_region.c: the region around the cut between two parts, as a flow network. */
#ifndef CM_PARTITION_NET_FLOW_REGION_H
#define CM_PARTITION_NET_FLOW_REGION_H

#include "core/partition/max_flow.h"
#include "core/partition/nets/net_state.h"

typedef struct cm_net_region {
  const cm_net_state *state;
  uint32_t part[2];
  uint32_t *vertex;      /* [count[0] + count[1]] those of part[0] first, nearest to the cut first */
  uint32_t count[2];
  uint64_t load[2];      /* sizes of them */
  uint32_t *node;        /* [vertices] place in `vertex`, or UINT32_MAX */
  uint32_t *inside[2];   /* [nets] pins that each side has in the region */
  uint32_t *net;         /* [nets] those that have any */
  uint32_t net_count;
  uint32_t *depth;       /* [vertices] of those in `vertex`, by place */
  cm_flow flow;
  int64_t cut;           /* weight of the network's nets that are cut now, in its unit */
} cm_net_region;

/* Weights of the network are so many times those of nets. */
enum { CM_NET_FLOW_UNIT = 2 };

/* To be freed with cm_net_region_free also after a failure. */
cm_status cm_net_region_new(const cm_net_state *state, cm_run *run, cm_net_region *region, cm_error *error);
void cm_net_region_free(cm_net_region *region);

/* Begins a region between two parts. */
void cm_net_region_begin(cm_net_region *region, uint32_t a, uint32_t b);

/* Grows a side, 0 before 1, each once, from the seeds: vertices of its part on the cut, up to so much size and so many nets away. */
void cm_net_region_grow(cm_net_region *region, unsigned side, const uint32_t *seed, uint32_t seeds, uint64_t size,
                        uint32_t distance);

/* Makes the network: nodes are the places in `vertex`, the source, the sink, and nodes of nets. Nets that both have outside of the region
 * are cut whatever happens, and left out. */
cm_status cm_net_region_network(cm_net_region *region, cm_error *error);

#endif
