/* Two sides of a hypergraph of small nets, with what each vertex gains by changing sides, and their refinement after Fiduccia
 * and Mattheyses. First partitions are made of bisections alone: where there are two sides, counts of pins say it all, and a
 * move costs a fraction of what net_state.h needs for parts of any number. */
#pragma once

#include <stdbool.h>

#include "base/random.h"
#include "core/partition/indexed_heap.h"
#include "core/partition/nets/net_graph.h"

/* The pins of a net on each side. */
typedef struct cm_net_sides {
  uint32_t count[2];
  uint32_t sole[2]; /* their numbers, exclusive-or: the pin itself where there is one */
} cm_net_sides;

typedef struct cm_net_bisection {
  const cm_net_graph *graph;
  uint32_t *side;        /* [vertices] 0 or 1; borrowed */
  cm_net_sides *net;     /* [nets] */
  int64_t *gain;         /* [vertices] what the cut loses when the vertex changes sides */
  int64_t *degree;       /* [vertices] weight of its nets */
  int64_t cut;           /* weight of nets with pins on both sides */
  uint64_t load[2];      /* sizes of their vertices */
  uint32_t *touched;     /* [vertices] those whose gains the last move changed, each once, the moved one not */
  uint32_t touched_count;
  bool *is_touched;      /* [vertices] */
  cm_indexed_heap heap[2]; /* vertices by the side that they are on; they have room for all */
  uint32_t *place;       /* [vertices] in either */
  uint32_t *order, *moved; /* [vertices] */
  bool *done;            /* [vertices] moved in this pass */
} cm_net_bisection;

/* side [vertices] need not be written yet: cm_net_bisection_fill follows before anything else. O(vertices + nets). */
cm_status cm_net_bisection_new(const cm_net_graph *graph, uint32_t *side, cm_run *run, cm_net_bisection **bisection,
                               cm_error *error);
void cm_net_bisection_free(cm_net_bisection *bisection); /* NULL is allowed */

/* Counts anew what is in `side`. O(pins). */
void cm_net_bisection_fill(cm_net_bisection *bisection);

/* v changes sides. O(its nets, and the pins of those that are new to a side or have left one). */
void cm_net_bisection_move(cm_net_bisection *bisection, uint32_t v);

/* By how much the sides are over their limits, together. */
uint64_t cm_net_bisection_excess(const cm_net_bisection *bisection, const uint64_t most[2]);

/* So many passes at most, while they gain: each moves vertices one by one, the one that gains most first, each once, and goes
 * back to the best state that it met: least excess over most[], then least cut. O(passes * pins * log vertices). */
cm_status cm_net_bisection_refine(cm_net_bisection *bisection, const uint64_t most[2], uint32_t passes, cm_random *random,
                                  cm_run *run, cm_error *error);
