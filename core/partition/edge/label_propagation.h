/* Label propagation between parts of limited size: every vertex goes where it is tied most. */
#pragma once

#include "core/partition/edge/csr_graph.h"

typedef struct cm_label_propagation_options {
  uint32_t rounds;  /* visits of the vertices whose neighbourhood changed; ends early when nothing moves */
  double share;     /* of the run's stretch that it tells as progress; 0: none */
  uint64_t most;    /* no move fills a part beyond this */
  const uint64_t *most_of; /* [parts] nor beyond this, in place of `most`; NULL: all alike */
  uint64_t seed, stream;
} cm_label_propagation_options;

/* Visits vertices in random order; each moves to the part with room that lowers the cut most, or leaves the cut and
 * evens out loads, or out of a part that holds too much at least loss. Large graphs run in
 * parallel, in fixed batches: proposals from a snapshot, committed in order, the same for any number of threads.
 * O(entries) a round. */
cm_status cm_label_propagation(const cm_csr_graph *graph, const cm_label_propagation_options *options, cm_run *run,
                               const cm_parts *parts, cm_error *error);
