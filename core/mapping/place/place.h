/* Places for parts, the second half of the pipeline: on which region of the chip, and which part on which core. */
#ifndef CM_MAPPING_PLACE_H
#define CM_MAPPING_PLACE_H

#include "core/mapping/map.h"
#include "core/mapping/options.h"
#include "core/partition/flows.h"
#include "core/partition/graph.h"

typedef struct cm_placing {
  const cm_map_input *input; /* topology, chip, options; the occupancy is given */
  cm_run *run;
  const uint32_t *part;      /* [vertices] */
  uint32_t part_count;
  const cm_graph *parts;     /* the parts as a graph */
  cm_flows *flows;           /* what the parts send to each other, where loads are looked at; else NULL */
  uint8_t *kind;             /* [part_count] kind of core that each part needs (core/chip/classes.h); NULL: any */
  uint32_t *core;            /* [part_count] of each part; NULL at first, unless parts have their cores already */
  cm_region *region;         /* of those cores */
  uint32_t region_count, region_chosen; /* candidates, and the one that stays */
  json_t *report;            /* what the method has to tell */
  double energy;             /* cm_placement_energy */
  double busiest;            /* load of the busiest router, in units of the flows; 0: not looked at */
} cm_placing;

/* Gives every part a core of its own, all free: on the candidate region where that costs least energy, the earlier of
 * equals; where loads are looked at, where it scores best (core/placement/relief/relief.h). Parts that have their cores keep them, but for what multicast moves. Fills core, region, report and energy.
 * Errors: CM_NO_ROOM, CM_BAD_OPTION, memory and run errors. */
cm_status cm_place_parts(cm_placing *placing, cm_error *error);

void cm_placing_free(cm_placing *placing); /* what it came to; harmless on a zeroed one */

#endif
