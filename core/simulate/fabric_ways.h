/* Which channels a packet needs at a router. */
#pragma once

#include "core/chip/turns.h"
#include "core/simulate/fabric.h"

/* Lists in f->way what the packet needs at a router, without repetition. O(ways * log(targets)), on an interconnect O(targets * hops).
 * Errors: memory. */
cm_status cm_fabric_ways(cm_fabric *f, const cm_fabric_packet *packet, uint32_t router, uint32_t *count, cm_error *error);

/* The channel at a router of a mesh towards a core so many routers east and south of it: dimension by dimension. */
static inline uint32_t cm_fabric_towards(const cm_fabric *f, uint32_t router, int32_t east, int32_t south, uint32_t core)
{
  const uint32_t along_x = east > 0 ? CM_EAST : CM_WEST, along_y = south > 0 ? CM_SOUTH : CM_NORTH;
  const bool by_x = east != 0 && (f->chip->routing == CM_ROUTING_XY || south == 0);
  if (east == 0 && south == 0)
    return f->links + core;
  return router * CM_DIRECTIONS + (by_x ? along_x : along_y);
}

/* The channel that a packet of one target needs at a router of a mesh (f->direct). */
static inline uint32_t cm_fabric_next(const cm_fabric *f, const cm_fabric_packet *p, uint32_t router)
{
  return cm_fabric_towards(f, router, p->x, p->y, p->core);
}
