/* A least cut of a flow network whose two sides keep within limits, by incremental flows and piercing (Hamann and Strasser 2018:
 * FlowCutter): a maximum flow shows the least cut around either side; while neither keeps the limits the smaller side takes in
 * one vertex more and the flow goes on. */
#pragma once

#include "core/partition/max_flow.h"

typedef struct cm_balanced_cut {
  uint32_t vertices;        /* nodes 0 .. vertices - 1 of the network; then the source, the sink, and what only carries flow */
  const uint32_t *size;     /* [vertices] */
  const uint32_t *order[2]; /* [vertices] in which a side takes in vertices */
  uint64_t fixed[2], most[2]; /* sizes that the source and the sink stand for, and that the sides may have */
  int64_t cut;              /* of one that is known, which the result is to be below, or at with a smaller larger side; the result's */
  uint64_t larger;          /* size of that side */
  uint64_t looks;           /* at arcs, before it is given up */
  uint8_t *side;            /* [vertices] of the result; not written where none is found */
  bool found;
} cm_balanced_cut;

/* The network is ready; what is found is in `cut`, `larger`, `side` and `found`. O(cut * arcs) at worst. */
cm_status cm_balanced_cut_find(cm_flow *flow, cm_balanced_cut *task, cm_run *run, cm_error *error);
