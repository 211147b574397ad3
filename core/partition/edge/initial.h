/* The first partition of a coarsest graph: recursive bisection by greedy growing and two-way FM. */
#ifndef CM_PARTITION_INITIAL_H
#define CM_PARTITION_INITIAL_H

#include "core/partition/edge/csr_graph.h"

typedef struct cm_initial_options {
  uint32_t parts;
  uint64_t most;   /* a part is to hold at most so much; approached, not promised */
  uint32_t tries;  /* growings per bisection, the best stays */
  uint32_t passes; /* of FM, at most */
  uint64_t seed, stream;
} cm_initial_options;

/* Fills part [vertex_count] with numbers below options->parts: halves the parts and the vertices in proportion,
 * again and again. Each half is grown from a random vertex by the best gain, then refined; the limit's slack is
 * shared out over the bisections to come. Runs on any thread. O(tries * entries * log(parts) * log(vertices)). */
cm_status cm_initial_partition(const cm_csr_graph *graph, const cm_initial_options *options, cm_run *run, uint32_t *part,
                               cm_error *error);

#endif
