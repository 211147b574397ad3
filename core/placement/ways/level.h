/* Between ways.c and the annealing of one level (level.c): blocks of 4^l parts on cells of 4^l slots along the order of cores. */
#pragma once

#include "base/run.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/partition/multilevel.h"
#include "core/placement/task.h"
#include "core/placement/trades.h"

enum { CM_BLOCK_BITS = 2 };

typedef struct cm_ways {
  const cm_place_task *task;
  const cm_interconnect *net;
  cm_run *run;
  uint32_t parts, slots, routers;
  uint32_t *order;      /* [slots] numbers of cores in the region */
  uint32_t *part_order; /* [parts] */
  uint32_t *slot_router; /* [slots] local number of the router of a slot of the order */
  uint32_t *router;     /* [routers] of the local ones */
  uint32_t *local;      /* [grid] local number, CM_NOBODY: has no core of the region */
  uint32_t *first_slot; /* [routers + 1] slots by router, in router_slot */
  uint32_t *router_slot;
  uint32_t *far;        /* [routers * routers] both ways together; NULL: asked of the interconnect */
  cm_hierarchy hierarchy; /* of blocks of 4^l parts */
  uint32_t *at, *occupant; /* of the level under way: cell of each block, block on each cell */
  uint64_t moves;
} cm_ways;

/* Units both ways between two local routers. */
static inline uint64_t cm_ways_distance(const cm_ways *w, uint32_t a, uint32_t b)
{
  if (w->far != NULL)
    return w->far[(size_t)a * w->routers + b];
  return 2 * (uint64_t)cm_interconnect_units(w->net, w->router[a], w->router[b]);
}

/* Anneals the blocks of a level from where w->at has them, for about `entries` looks at entries of the graph, from temperature `start`
 * in mean changes of a proposal. */
cm_status cm_ways_place_level(cm_ways *w, uint32_t level, double start, double entries, cm_error *error);
