/* Refiners of the axon objective, on cm_axon_state. */
#ifndef CM_PARTITION_ANNEAL_H
#define CM_PARTITION_ANNEAL_H

#include "core/base/random.h"
#include "core/partition/axon_state.h"

typedef struct cm_anneal_options {
  uint32_t sweeps;       /* visits of all vertices */
  double hot, cold;      /* temperature at start and end, in mean costs of a vertex's move; 0: only improving moves */
  bool hard;             /* only moves that keep the receiving part within its limits */
  bool silent;           /* reports no progress: may then run on any thread */
  uint32_t level;        /* for progress */
} cm_anneal_options;

/* Sweeps over all vertices in random order; each considers its cheapest part and moves with the probability
 * exp(-cost / temperature). The temperature falls geometrically. Ends early when a cold sweep moves nothing.
 * O(sweeps * sum over vertices of their nets' lambda). */
cm_status cm_anneal(cm_axon_state *state, const cm_anneal_options *options, cm_random *random, cm_error *error);

/* Splits parts that exceed a limit by more than `tolerance` of it in two halves that each share inbound nets: at
 * most `most` of them, the fullest first, while part_room allows. *split counts them. O(parts^2 + pins of those
 * parts). */
cm_status cm_split_overfull(cm_axon_state *state, double tolerance, uint32_t most, uint32_t *split, cm_error *error);

/* Parts that break a limit. O(parts). */
uint32_t cm_count_overfull(const cm_axon_state *state);

/* Brings every part within the limits: members of overfull parts go where they fit at least cost; where nothing
 * fits, part of the overfull part moves to a new one. CM_NO_ROOM when that needs more than part_room parts. */
cm_status cm_repair(cm_axon_state *state, cm_error *error);

#endif
