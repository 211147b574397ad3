/* Making graphs row by row: what goes to the same neighbour adds up. For the makers of cm_graph only. */
#pragma once

#include "core/partition/graph.h"

/* 64^6 numbers: more than vertices can have. */
enum { CM_GATHERER_LEVELS = 6 };

/* One row: weights add up per neighbour in a dense table. Who was touched stands in bits, above every 64 of which stands
 * one bit more, so that neighbours come out in order without being sorted. */
typedef struct cm_gatherer {
  uint64_t *weight;                    /* [vertices] all zero between rows */
  uint64_t *bits[CM_GATHERER_LEVELS];  /* all zero between rows; [0]: a bit a vertex, [l + 1]: a bit a word of [l] */
  unsigned levels;
  uint32_t count; /* neighbours in the row */
} cm_gatherer;

/* 9 bytes a vertex. Freed by cm_gatherer_free, harmless on a zeroed one. */
cm_status cm_gatherer_new(cm_run *run, uint32_t vertices, cm_gatherer *made, cm_error *error);
void cm_gatherer_free(cm_gatherer *gathered);

/* Marks a neighbour that the row does not have yet. */
static inline void cm_gatherer_mark(cm_gatherer *gathered, uint32_t neighbour)
{
  gathered->count++;
  for (unsigned l = 0; l < gathered->levels; l++, neighbour /= 64) {
    uint64_t before = gathered->bits[l][neighbour / 64];
    gathered->bits[l][neighbour / 64] = before | UINT64_C(1) << neighbour % 64;
    if (before != 0)
      break;
  }
}

/* Adds weight towards a neighbour. Weightless edges still connect, so that a zero weight must not look untouched: all
 * weights are kept plus one bit. O(1). */
static inline void cm_gather(cm_gatherer *gathered, uint32_t neighbour, uint64_t weight)
{
  if (gathered->weight[neighbour] == 0)
    cm_gatherer_mark(gathered, neighbour);
  gathered->weight[neighbour] = (gathered->weight[neighbour] | 1) + (weight << 1);
}

/* Appends the gathered row to the graph as that of vertex `row`, growing it beyond *room entries as needed, and clears the
 * table. O(neighbours). */
cm_status cm_gatherer_append(cm_gatherer *gathered, cm_graph *graph, uint32_t row, uint64_t *room, cm_run *run,
                             cm_error *error);

/* A graph with room for `entries` entries, all zero. */
cm_status cm_graph_new(cm_run *run, uint32_t vertices, uint64_t entries, cm_graph **graph, cm_error *error);

/* Gives back what was allocated too much and settles the totals; weight_total comes as the sum of all entries. */
cm_status cm_graph_finish(cm_graph *graph, cm_run *run, cm_error *error);
