/* Growing parts one after another by shared inbound axons: the initial partition of the axon objective. */
#ifndef CM_PARTITION_GROW_H
#define CM_PARTITION_GROW_H

#include "base/random.h"
#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph.h"

#define CM_GROW_ANYWHERE UINT32_MAX

typedef struct cm_grow_options {
  cm_limits limits; /* of a part */
  const uint32_t *size; /* [vertices] what each takes of a part's neurons; NULL: by the graph */
  double known;     /* what other parts of all vertices cost: a growth that ends far above it is given up early. 0: none are known */
  bool apart;       /* a part that holds all that is connected with it ends there; such parts are joined in the end */
} cm_grow_options;

/* Fills part [vertices] with parts that each keep the limits: every part starts beside what is assigned already and
 * takes the vertex that shares the largest share of its inbound nets with it, until nothing more fits. A vertex
 * larger than a limit gets a part of its own. The first part begins with vertex *from (CM_GROW_ANYWHERE: one by chance), which
 * becomes the last one that was put in, one at the edge (as the ends of Gibbs, Poole and Stockmeyer, SIAM J. Numer. Anal. 13,
 * 1976, are found). *parts counts the parts; *cost gets their connectivity, at most: what joining and vertices without inbound nets save
 * is not taken off. A growth that is given up has no parts, and costs UINT64_MAX. O(pins * parts that a net has), and looks at those
 * with the largest shares for every vertex. */
cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_grow_options *options, cm_random *random, cm_run *run,
                        uint32_t *from, uint32_t *part, uint32_t *parts, uint64_t *cost, cm_error *error);

#endif
