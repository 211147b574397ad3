/* Two-way FM between two parts of a partition: the refiner that lives with parts that are exactly full. */
#pragma once

#include "core/partition/edge/csr_graph.h"

/* What the refinement of one pair needs beside the graph; one serves pairs of disjoint parts at the same time. */
typedef struct cm_pair_table {
  uint32_t *place; /* [vertices] in its queue */
  uint8_t *state;  /* [vertices] guessed, known or moved */
} cm_pair_table;

cm_status cm_pair_table_new(uint32_t vertices, cm_run *run, cm_pair_table *table, cm_error *error);
void cm_pair_table_free(cm_pair_table *table); /* harmless on a zeroed table */

/* A vertex that may move to the other part, and what the cut would gain: a guess, it is looked up when its turn
 * comes. */
typedef struct cm_pair_seed {
  uint32_t vertex;
  int64_t gain;
} cm_pair_seed;

/* One pair of parts. */
typedef struct cm_pair {
  uint32_t part[2];
  uint64_t load[2];   /* in and out */
  /* a part may hold so much at the end: if it holds more at the start, less of the excess is better than any cut */
  uint64_t most[2];
  uint32_t patience;  /* moves without a new best before giving up */
  uint64_t work;      /* entries of rows that it may look at, about */
  const cm_pair_seed *seed; /* [seeds] those that lie in neither part are passed over */
  uint32_t seeds;
  int64_t gain;       /* out: weight taken off the cut */
  bool moved;         /* out */
} cm_pair;

/* Fiduccia and Mattheyses between two parts, from its seeds: moves the vertex of highest gain, each at most once, passing the limit by one vertex on the way,
 * and goes back to the best state: least excess, then least cut, then best balance. Reads and writes only vertices
 * of the two parts. */
cm_status cm_pair_refine(const cm_csr_graph *graph, uint32_t *part, cm_pair_table *table, cm_pair *pair, cm_run *run,
                         cm_error *error);
