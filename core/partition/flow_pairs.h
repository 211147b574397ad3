/* Refinement of a partition by maximum flows: pairs of neighbouring parts are cut anew along the least cut near the border between
 * them (Sanders and Schulz 2011), those that gained something again (active block scheduling). What joins vertices is the
 * method's: edges (edge/edge_flow.c) or nets (nets/net_flow.c). */
#pragma once

#include <stdbool.h>

#include "base/random.h"
#include "base/run.h"
#include "core/partition/flow_region.h"

typedef struct cm_flow_options {
  const uint64_t *most; /* [parts] size that a part may have */
  uint32_t rounds;      /* at most; a pair has its turn where one of its parts has changed since the round before */
  double reach;         /* how much of a part may lie in the region around the border: as if parts were allowed so many times the
                           room that they have beyond the mean */
  uint32_t distance;    /* of a region's vertices from the border, in steps */
  /* A round ends that has looked at more than `entries` and gained less than this share of `cost` for each time it has looked at so
   * many; 0: it does not. */
  double worth;
  uint64_t entries;
  int64_t cost;
  double share;         /* of the run's stretch that it tells as progress; 0: none */
  uint64_t seed, stream;
} cm_flow_options;

/* A partition, seen through what holds it, and what a region is made of. */
typedef struct cm_flow_view {
  void *context;            /* of the functions */
  uint32_t vertices, parts;
  uint64_t size_total;
  const uint32_t *part;     /* [vertices] of each, as it is now */
  const uint64_t *load;     /* [parts] likewise */
  cm_flow_region *region;
  cm_random random;         /* of the order of seeds */
  const uint32_t *border, *border_count; /* vertices that touch other parts, as they are now; NULL: all are asked */
  /* Places for the parts that v touches. The part at one of them, and how much ties v to it: 0 where v does not touch it. */
  uint32_t (*ties)(const void *context, uint32_t v);
  int64_t (*tie_at)(const void *context, uint32_t v, uint32_t i, uint32_t *part);
  int64_t (*tie)(const void *context, uint32_t v, uint32_t part);
  void (*begin)(void *context); /* a region; NULL: nothing to do */
  /* Takes in the neighbours that v of a side has in that side's part and outside of the region; `farther`: else it is only told
   * that v is in the region. */
  void (*spread)(void *context, unsigned side, uint32_t v, uint32_t depth, bool farther);
  cm_status (*network)(void *context, cm_error *error); /* fills in region->flow and region->cut */
  int64_t (*move)(void *context, uint32_t v, uint32_t to); /* returns what it gains */
} cm_flow_view;

/* A cut between two parts costs what is between their own vertices alone, so the least cut of that region is the best that vertices
 * of the region can do, in one go, where moves one by one lose on the way. No part that is within its limit leaves it; cost
 * never grows. Adds to *gain what it loses. O(rounds * pairs * cut * arcs of a region) at worst. */
cm_status cm_flow_refine(cm_flow_view *view, const cm_flow_options *options, cm_run *run, int64_t *gain, cm_error *error);
