/* How strongly every vertex of a directed network is tied to every part: a table that follows the vertices as they
 * move, from the synapses themselves, wherever they stand (core/partition/synapses.h). */
#pragma once

#include "core/partition/synapses.h"

/* A vertex that has gone from one part to another. */
typedef struct cm_part_change {
  uint32_t vertex, from, to;
} cm_part_change;

typedef struct cm_part_stretch cm_part_stretch;

typedef struct cm_part_ties {
  cm_run *run;
  cm_synapses synapses;
  const uint32_t *part; /* [n] borrowed */
  uint32_t n, parts;    /* columns of the table now */
  uint32_t *tie;        /* [n * parts_max] rows of `parts`, in units of synapses.in */
  /* Synapses of moved vertices that are corrected for at once. */
  cm_part_stretch *stretch;
  uint32_t stretches, gathered, room;
  uint32_t *neighbour, *weight; /* [room] */
} cm_part_ties;

/* Makes an empty table for up to parts_max parts; 4 bytes a synapse and 4 per vertex and part. The caller frees it, on
 * failure too. */
cm_status cm_part_ties_new(const cm_demand *demand, const uint32_t *part, uint32_t parts_max, cm_run *run,
                           cm_part_ties *ties, cm_error *error);
void cm_part_ties_free(cm_part_ties *ties);

static inline uint32_t *cm_part_ties_row(const cm_part_ties *ties, uint32_t v)
{
  return ties->tie + (size_t)v * ties->parts;
}

/* Counts all ties to parts 0 .. parts - 1. Parallel. O(pins). */
cm_status cm_part_ties_count(cm_part_ties *ties, uint32_t parts, cm_error *error);

/* What changes that have been made do to the ties of all others. Parallel. O(synapses of the changed vertices). */
cm_status cm_part_ties_correct(cm_part_ties *ties, const cm_part_change *change, uint32_t changes, cm_error *error);
