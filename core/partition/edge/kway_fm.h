/* Refinement of an edge partition by moves of single vertices: localised searches after Fiduccia and Mattheyses over all parts,
 * on the gain cache of kway.h. */
#pragma once

#include "core/partition/edge/kway.h"

typedef struct cm_kway_fm_options {
  uint64_t most;         /* size that a part may have */
  uint32_t rounds;       /* at most; each begins at all vertices on borders */
  uint32_t loose_rounds; /* of them the first: parts may be passed by `loose` of their limit, and are brought back after */
  double loose;
  double share;          /* of the run's stretch that it tells as progress; 0: none */
  uint64_t seed, stream;
} cm_kway_fm_options;

/* Searches start at a few vertices on a border, follow the gains to their neighbours, and go back to their best state; a round
 * ends when all borders have been searched, or have been looked at too often, and is undone where bringing parts back costs more
 * than it gained. Parts that are over `most` and find no room elsewhere stay so. *gain: what the cut has lost; negative only where
 * parts were over `most`. O(rounds * entries * parts a vertex touches), in practice a fraction of that. */
cm_status cm_kway_fm(cm_kway *state, const cm_kway_fm_options *options, int64_t *gain, cm_error *error);

/* Moves vertices out of parts that are over `most`, those that lose least for their size first, to parts with room. What finds no
 * room stays. *gain is added to. O(vertices of those parts * parts that they touch). */
cm_status cm_kway_relieve(cm_kway *state, uint64_t most, int64_t *gain, cm_error *error);

/* By how much parts are over `most`, together. O(parts). */
uint64_t cm_kway_excess(const cm_kway *state, uint64_t most);
