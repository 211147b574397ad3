/* Edges in any order, which become rows. */
#pragma once

#include "core/network/formats/weighted.h"

/* Edges as they are read: 8 bytes each, 8 more with weights, 8 more with delays. Zero it and set the first three. */
typedef struct cm_entries {
  cm_memory *memory;
  cm_run *run;
  uint64_t limit; /* of edges */
  uint32_t *from, *to;
  uint64_t count, from_room, to_room;
  cm_weights weight;
} cm_entries;

/* Adds an edge. `delay_ms` below 0: not known. CM_TOO_LARGE past the limit. */
cm_status cm_entries_add(cm_entries *entries, uint32_t from, uint32_t to, double weight, double delay_ms, cm_error *error);

/* Makes the rows of `made`, whose `directed` and vertex_count are set (undirected: every edge has been added both ways):
 * groups the edges by source in place, then closes and scales the rows. Takes the edges. O(edges log(edges per source)). */
cm_status cm_entries_close(cm_entries *entries, cm_topology *made, cm_error *error);

/* Takes edges of a vertex to itself out: none of a graph. Returns how many there were. */
uint64_t cm_entries_drop_loops(cm_entries *entries);

void cm_entries_free(cm_entries *entries);
