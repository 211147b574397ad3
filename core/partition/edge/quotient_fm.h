/* Two-way FM between all neighbouring parts of a partition: along the edges of the quotient graph, in batches of disjoint
 * pairs. */
#pragma once

#include "core/partition/edge/csr_graph.h"

typedef struct cm_quotient_fm_options {
  uint32_t rounds;    /* over all pairs of neighbouring parts; ends early when nothing moves */
  uint32_t patience;
  double work;        /* entries of rows that a round may look at, in numbers of the graph's; small graphs get more */
  /* searches start from vertices tied at least this times as much to the other part as to their own */
  double least_tie;
  uint64_t most;      /* a part may hold so much */
  double share;       /* of the run's stretch that it tells as progress; 0: none */
  uint64_t seed, level;
} cm_quotient_fm_options;

/* Refines all pairs of neighbouring parts: in each round they are matched into batches of disjoint pairs, whose
 * pairs run in parallel. *gain is the weight that left the cut (negative where excess was
 * worked off). The same for any number of threads. O(entries) a round. */
cm_status cm_quotient_fm(const cm_csr_graph *graph, const cm_quotient_fm_options *options, cm_run *run, const cm_parts *parts,
                         int64_t *gain, cm_error *error);
