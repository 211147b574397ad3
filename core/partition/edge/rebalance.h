/* Making every part fit: what is too much flows over chains of neighbouring parts to where there is room. */
#pragma once

#include "core/partition/edge/csr_graph.h"

/* Brings loads down to `most` everywhere. Plans on the graph of parts who passes how much to whom (shortest
 * chains first, of a few parts at most: beyond, vertices go straight to a part with room), then lets each part pass the
 * vertices that cost least. With vertices of size 1 it always succeeds when count * most holds them all; with others it
 * packs them anew by size when nothing else helps: *excess says what is left. O(rounds * entries). */
cm_status cm_rebalance_parts(const cm_csr_graph *graph, uint64_t most, cm_run *run, const cm_parts *parts, uint64_t *excess,
                             cm_error *error);

/* Gives every empty part a vertex from a part that has several: those that are tied least to their part go first.
 * Takes as many vertices as parts. O(entries + vertices log vertices). */
cm_status cm_fill_empty(const cm_csr_graph *graph, cm_run *run, uint32_t *part, uint32_t parts, cm_error *error);
