/* A mapping before it is measured: parts that keep all limits, on cores of their own. */
#ifndef CM_MAPPING_PROPOSAL_H
#define CM_MAPPING_PROPOSAL_H

#include "core/mapping/place/place.h"

typedef struct cm_proposal {
  const cm_map_input *input; /* the occupancy is given */
  cm_run *run;
  cm_mapping *mapping; /* without metrics, options and report */
  cm_graph *parts;     /* the parts as a graph; NULL where they came with their cores */
  cm_objective objective;
  cm_placing placing;  /* what placing has to tell; cores and region are the mapping's */
} cm_proposal;

/* Partition under the limits, or the caller's parts; then a region, and places. The caller owns what *proposal holds.
 * Errors as cm_map. */
cm_status cm_proposal_make(const cm_map_input *input, cm_run *run, cm_proposal *proposal, cm_error *error);
void cm_proposal_free(cm_proposal *proposal); /* harmless on a zeroed one */

#endif
