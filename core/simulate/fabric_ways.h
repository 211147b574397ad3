/* Which channels a packet needs at a router. */
#pragma once

#include "core/chip/turns.h"
#include "core/simulate/fabric.h"

/* Lists in f->way what the packet needs at a router, without repetition. O(ways * log(targets)), on an interconnect O(targets * hops).
 * Errors: memory. */
cm_status cm_fabric_ways(cm_fabric *f, const cm_fabric_packet *packet, uint32_t router, uint32_t *count, cm_error *error);

/* The channel that a packet of one target needs at a router of a mesh (f->direct). */
static inline uint32_t cm_fabric_next(const cm_fabric *f, const cm_fabric_packet *p, uint32_t router)
{
  uint32_t along_x = p->x > 0 ? CM_EAST : CM_WEST, along_y = p->y > 0 ? CM_SOUTH : CM_NORTH;
  bool by_x = p->x != 0 && (f->chip->routing == CM_ROUTING_XY || p->y == 0);
  if (p->x == 0 && p->y == 0)
    return f->links + p->core;
  return router * CM_DIRECTIONS + (by_x ? along_x : along_y);
}
