/* From one placement towards another, as far as it pays. */
#pragma once

#include "core/learning/agent/environment.h"

/* Scratch, for one thread. */
typedef struct cm_swap_refinement {
  const cm_environment *environment;  /* borrowed */
  uint32_t *occupant;     /* [sites] node there, UINT32_MAX: none */
  uint32_t *left;         /* [nodes] site that each had before its chain moved */
  uint8_t *done;          /* [nodes] */
  uint8_t *entered;       /* [sites] somebody goes there */
} cm_swap_refinement;

cm_status cm_swap_refinement_new(const cm_environment *environment, cm_memory *memory, cm_swap_refinement *exchange, cm_error *error);
void cm_swap_refinement_free(cm_swap_refinement *exchange); /* harmless on a zeroed one */

/* What it takes to get from at [nodes] to another placement `to` [nodes] falls apart into rings and chains of nodes, each
 * of which takes the site of the next. Carries out those that lower the sum of weight * distance, one after the other,
 * and returns by how much; what the others would move stays where it is. O(entries of those who would move). */
uint64_t cm_swap_refinement_carry_out(cm_swap_refinement *exchange, const uint32_t *to, uint32_t *at);

/* Before nodes that stand at [nodes] trade places one by one. O(nodes + sites). */
void cm_swap_refinement_begin(cm_swap_refinement *exchange, const uint32_t *at);

/* Node v goes to a site, in exchange with whoever is there, where that costs less than `most` (0: where it saves
 * something). Returns what it saves. O(entries of both). */
int64_t cm_swap_refinement_trade(cm_swap_refinement *exchange, uint32_t v, uint32_t site, double most, uint32_t *at);
