/* The region around the border between two parts, as a flow network: vertices of both that may change sides. What joins vertices,
 * edges or nets, is the method's: edge/edge_flow.c, nets/net_flow_region.c. */
#pragma once

#include "core/partition/max_flow.h"

typedef struct cm_flow_region {
  const uint32_t *size;  /* [vertices] borrowed */
  uint32_t part[2];
  uint32_t *vertex;      /* [count[0] + count[1]] those of part[0] first, nearest to the border first */
  uint32_t count[2];
  uint64_t load[2];      /* sizes of them */
  uint64_t most;         /* of the side that grows */
  uint32_t *node;        /* [vertices] place in `vertex`, or UINT32_MAX */
  uint32_t *depth;       /* [vertices] steps from the border of those in `vertex`, by place */
  cm_flow flow;          /* nodes: the places in `vertex`, the source, the sink, and what only carries flow */
  int64_t cut;           /* of the network, as the parts are now */
  uint64_t looks;        /* at what joins vertices, to make it */
} cm_flow_region;

/* Of a partition of vertices of these sizes. To be freed with cm_flow_region_free also after a failure. */
cm_status cm_flow_region_new(uint32_t vertices, const uint32_t *size, cm_run *run, cm_flow_region *region, cm_error *error);
void cm_flow_region_free(cm_flow_region *region);

/* Begins a region between two parts. O(vertices of the one before). */
void cm_flow_region_begin(cm_flow_region *region, uint32_t a, uint32_t b);

static inline uint32_t cm_flow_region_vertices(const cm_flow_region *region)
{
  return region->count[0] + region->count[1];
}

/* Takes in a vertex that is not in the region, unless that makes the side larger than it may be. */
static inline void cm_flow_region_take(cm_flow_region *region, unsigned side, uint32_t v, uint32_t depth)
{
  uint32_t place = cm_flow_region_vertices(region);
  if (region->load[side] + region->size[v] > region->most)
    return;
  region->vertex[place] = v;
  region->node[v] = place;
  region->depth[place] = depth;
  region->count[side]++;
  region->load[side] += region->size[v];
}
