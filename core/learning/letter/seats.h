/* From what a policy of the letter says to cores of one's own, again and again for one processor. */
#pragma once

#include "core/learning/assign.h"
#include "core/learning/letter/letter.h"

typedef struct cm_letter_seats {
  const cm_environment *environment;
  uint32_t nodes, rows;       /* Gaussians: nodes times axes */
  const uint32_t *node;       /* [nodes] of the environment */
  cm_letter_places places;
  cm_assigner *assigner;
  uint32_t *free_core;        /* [sites] */
  uint32_t *wanted, *core;    /* [nodes] scratch */
} cm_letter_seats;

/* For processor p; borrows the environment. */
cm_status cm_letter_seats_new(const cm_environment *environment, uint32_t p, uint32_t axes, cm_distance distance, cm_letter_seats *seats,
                              cm_error *error);
void cm_letter_seats_free(cm_letter_seats *seats); /* harmless on a zeroed one */

/* Every node to its place along each axis, place [nodes * axes], conflicts by the source's rule (cm_assign). Fills at[v] of these
 * nodes. As cm_assigner_assign. */
void cm_letter_seats_by_node(cm_letter_seats *seats, const uint32_t *place, uint32_t *at);

/* The other reading: core after core, in the order of their numbers, takes the node most probable for it that none has taken, under
 * Gaussians of mean (in -bound .. bound) and deviation [nodes * axes]. Fills at[v] of these nodes. O(sites * nodes). */
void cm_letter_seats_by_core(cm_letter_seats *seats, const float *mean, const float *deviation, double bound, uint32_t *at);
