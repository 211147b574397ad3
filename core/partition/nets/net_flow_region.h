/* Between net_flow.c and net_flow_region.c: the region around the cut between two parts, as a flow network. */
#pragma once

#include "core/partition/flow_region.h"
#include "core/partition/nets/net_state.h"

typedef struct cm_net_region {
  const cm_net_state *state;
  cm_flow_region base;
  uint32_t *inside[2];   /* [nets] pins that each side has in the region */
  uint32_t *net;         /* [nets] those that have any */
  uint32_t net_count;
} cm_net_region;

/* Weights of the network are so many times those of nets. */
enum { CM_NET_FLOW_UNIT = 2 };

/* To be freed with cm_net_region_free also after a failure. */
cm_status cm_net_region_new(const cm_net_state *state, cm_run *run, cm_net_region *region, cm_error *error);
void cm_net_region_free(cm_net_region *region);

/* Of cm_flow_view: a region begins, spreads over the nets of a vertex, and becomes a network. Nets that both have outside of the
 * region are cut whatever happens, and left out. */
void cm_net_region_begin(cm_net_region *region);
void cm_net_region_spread(cm_net_region *region, unsigned side, uint32_t v, uint32_t depth, bool farther);
cm_status cm_net_region_network(cm_net_region *region, cm_error *error);
