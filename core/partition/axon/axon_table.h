/* What draws every vertex to every part, kept up to date while vertices move: a look costs a row of the table instead of
 * the vertex's nets. Worth it on coarse levels, where vertices have many nets and nets have few targets. */
#pragma once

#include "base/threads.h"
#include "core/partition/axon/axon_probe.h"

/* What draws a vertex to a part. */
typedef struct cm_tie {
  uint32_t kept;   /* of what its nets would pay, what a move there saves, in units of 2^shift */
  uint32_t shared; /* inbound axons that the part has already */
} cm_tie;

typedef struct cm_axon_table {
  const cm_axon_state *state;
  uint32_t parts;   /* columns */
  unsigned shift;   /* of weights: sums have 32 bits */
  cm_tie *tie;      /* [vertices * parts] */
  cm_tie *all;      /* [vertices] weight and number of the inbound nets, own ones that reach their source counted, not weighed */
} cm_axon_table;

/* Whether a table would take no more memory than the graph with its lists, about. There are none where parts have places. O(1). */
bool cm_axon_table_suits(const cm_axon_state *state);

/* The table of all parts below part_count. O(sum of lambda over all pins) on the pool's threads. */
cm_status cm_axon_table_new(const cm_axon_state *state, cm_thread_pool *pool, cm_axon_table **table, cm_error *error);
void cm_axon_table_free(cm_axon_table *table); /* NULL is allowed */

/* As cm_probe_best without `hard`, but for the rounding of weights. O(parts). */
cm_offer cm_axon_table_best(const cm_axon_table *table, uint32_t v, double bound);

/* Takes in what happened to nets in the parts of slice `slice` of `slices`, which may run side by side. O(events + targets of
 * the nets of those of the slice). */
void cm_axon_table_follow(cm_axon_table *table, const cm_net_event *event, uint64_t count, uint32_t slice,
                          uint32_t slices);
