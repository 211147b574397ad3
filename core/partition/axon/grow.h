/* Growing parts one after another by shared inbound axons: the initial partition of the axon objective. */
#ifndef CM_PARTITION_GROW_H
#define CM_PARTITION_GROW_H

#include "base/random.h"
#include "core/partition/limits.h"
#include "core/partition/axon/hypergraph.h"

/* Fills part [vertices] with parts that each keep the limits: every part starts beside what is assigned already and
 * takes the vertex that shares the largest share of its inbound nets with it, until nothing more fits. A vertex
 * larger than a limit gets a part of its own. *parts counts them. O(pins + vertices * vertices per part): for coarse
 * levels. */
cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_limits *limits, cm_random *random, cm_run *run,
                        uint32_t *part, uint32_t *parts, cm_error *error);

#endif
