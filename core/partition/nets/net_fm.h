/* Refinement of a partition of small nets by moves of single vertices: localised searches after Fiduccia and Mattheyses
 * over all parts, on the gain cache of net_state.h. */
#pragma once

#include "core/partition/nets/net_state.h"

typedef struct cm_net_fm_options {
  const uint64_t *most; /* [parts] size that a part may have */
  uint32_t rounds;      /* at most; the first visits all vertices on borders, later ones those near what has moved since */
  uint32_t loose_rounds; /* of them the first: parts may be passed by `loose` of their limit, and are brought back after */
  double loose;
  bool thorough;        /* later ones visit all again */
  uint64_t seed, stream;
} cm_net_fm_options;

/* Searches start at a few vertices on a border, follow the gains to their neighbours, and go back to their best state;
 * a round ends when all borders have been searched, and is undone where bringing parts back costs more than it gained.
 * Parts that are over their limit at the start are brought back as well, at whatever cost. *gain: what connectivity has lost; it is
 * negative only then. O(rounds * pins * parts a net touches), in practice a fraction of that. */
cm_status cm_net_fm(cm_net_state *state, const cm_net_fm_options *options, cm_run *run, int64_t *gain, cm_error *error);

/* Moves vertices out of parts that are over their limit, those that lose least for their size first, to parts with room.
 * What finds no room stays. *gain is added to. O(vertices of those parts * parts). */
cm_status cm_net_rebalance(cm_net_state *state, const uint64_t *most, cm_run *run, int64_t *gain, cm_error *error);

/* By how much parts are over their limits, together. O(parts). */
uint64_t cm_net_excess(const cm_net_state *state, const uint64_t *most);
