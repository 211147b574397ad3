/* First partitions of a hypergraph of small nets by recursive bisection. */
#pragma once

#include "core/partition/nets/net_graph.h"

typedef struct cm_net_initial_options {
  uint32_t parts;
  uint64_t most;  /* size of a part */
  uint32_t attempts; /* at every bisection, through levels of their own; the best stays */
  uint32_t tries;    /* starts of an attempt, of each kind */
  uint64_t seed, stream;
  double share;      /* of the run's stretch: told as it goes (cm_run_add) */
} cm_net_initial_options;

/* Halves, quarters, ...: every bisection is the best of attempts through levels of their own, which end at 60, 120 and 240
 * vertices in turn, each from the best of a portfolio of starts (sides grown by gain, by ties and by distance, all refined alike). The room that `most` leaves is shared out over the
 * bisections to come. Fills part [vertices] with 0 .. parts - 1; single parts may be over `most` where vertices are large.
 * O(attempts * tries * pins * log parts). */
cm_status cm_net_initial(const cm_net_graph *graph, const cm_net_initial_options *options, cm_run *run, uint32_t *part,
                         cm_error *error);
