/* Growing parts one after another by shared inbound axons: the initial partition of the axon objective. */
#pragma once

#include "base/random.h"
#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph.h"

#define CM_GROW_ANYWHERE UINT32_MAX

typedef struct cm_grow_options {
  cm_limits limits; /* of a part */
  const uint32_t *size; /* [vertices] what each takes of a part's neurons; NULL: by the graph */
  bool apart;       /* a part that holds all that is connected with it ends there; such parts are joined in the end */
} cm_grow_options;

/* The parts that grew. */
typedef struct cm_growth {
  uint32_t *part; /* [vertices] */
  uint32_t parts;
  uint32_t from;  /* the vertex to begin with; CM_GROW_ANYWHERE: one by chance */
} cm_growth;

/* Fills all vertices into parts that each keep the limits: every part starts beside what is assigned already and
 * takes the vertex that shares the largest share of its inbound nets with it, until nothing more fits. A vertex
 * larger than a limit gets a part of its own. The first part begins with vertex `from`.
 * O(pins * parts that a net has), and looks at those with the largest shares for every vertex. */
cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_grow_options *options, cm_random *random, cm_run *run,
                        cm_growth *made, cm_error *error);
