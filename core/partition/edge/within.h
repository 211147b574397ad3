/* Moves for the least edge cut within all limits of a core, for partitions that single moves had to make legal. */
#ifndef CM_PARTITION_WITHIN_H
#define CM_PARTITION_WITHIN_H

#include "core/partition/limits.h"

/* Changes part [vertices], which keeps all limits and goes on to: vertices go, one after another, to the part that they
 * are tied to more than to their own, where that breaks no limit and empties no part; at most `rounds` times each. The
 * cut never grows. O(pins) a round; memory: the compact graph and the books (books.h). */
cm_status cm_lessen_cut_within(const cm_topology *topology, const cm_limits *limits, uint32_t rounds, cm_run *run,
                               uint32_t *part, uint32_t parts, cm_error *error);

#endif
