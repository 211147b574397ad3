/* Growing parts one after another by shared inbound axons: the initial partition of the axon objective. */
#ifndef CM_PARTITION_GROW_H
#define CM_PARTITION_GROW_H

#include "base/random.h"
#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph.h"

#define CM_GROW_ANYWHERE UINT32_MAX

/* Fills part [vertices] with parts that each keep the limits: every part starts beside what is assigned already and
 * takes the vertex that shares the largest share of its inbound nets with it, until nothing more fits. A vertex
 * larger than a limit gets a part of its own. The first part begins with vertex *from (CM_GROW_ANYWHERE: one by chance), which
 * becomes the last one that was put in, one at the edge (as the ends of Gibbs, Poole and Stockmeyer, SIAM J. Numer. Anal. 13,
 * 1976, are found). *parts counts the parts. O(pins * parts that a net has + vertices * vertices that a part touches). */
cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_limits *limits, cm_random *random, cm_run *run,
                        uint32_t *from, uint32_t *part, uint32_t *parts, cm_error *error);

#endif
