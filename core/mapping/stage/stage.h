/* The partition stage: from job options to a partition that keeps every core limit. `coremap partition` runs it
 * alone, cm_map goes on to place what it made. */
#ifndef CM_MAPPING_STAGE_H
#define CM_MAPPING_STAGE_H

#include "core/mapping/map.h"
#include "core/mapping/options.h"
#include "core/partition/bound.h"
#include "core/partition/partition.h"
#include "core/partition/quality.h"

typedef struct cm_stage {
  cm_objective objective;  /* edge or axon: as chosen, or what suits the network */
  cm_limits limits;        /* the chip's, tightened by max_part_size; 0: none */
  cm_partition *partition; /* keeps all of them */
  uint64_t *use;           /* [part_count * CM_RESOURCES] what each part asks of its core */
  cm_quality quality;
  cm_bound bound; /* how few parts these limits allow */
  cm_attempt attempts[CM_ATTEMPTS_MAX];
  uint32_t attempt_count; /* the last one made the partition */
} cm_stage;

/* Checks the neurons, partitions with the method of preset and objective, and again with a smaller capacity where a
 * limit broke. input->chip NULL: no limits but max_part_size, and cores without number; else input->occupancy must
 * be given. The caller owns what *stage holds. Errors: CM_NEURON_TOO_LARGE, CM_NO_ROOM, CM_LIMIT_BROKEN,
 * CM_BAD_OPTION, memory, I/O and run errors. */
cm_status cm_stage_run(const cm_map_input *input, cm_run *run, cm_stage *stage, cm_error *error);
/* Whether a job's first method is the mesh mapper though nobody asked for it. O(1). */
bool cm_stage_takes_mesh(const cm_map_input *input);

void cm_stage_free(cm_stage *stage); /* harmless on a zeroed one */

#endif
