/* Copies of sources that reach more parts than one neuron may (core/limits/copies.h), in the book-keeping of a partition: who moves
 * changes how many parts its sources reach, and so what parts far away hold. */
#pragma once

#include "core/partition/axon/axon_fill.h"

/* What parts would get for copies by a move. */
typedef struct cm_copies_owed {
  int64_t *more;  /* [part_capacity] zero outside `part` */
  uint32_t *part; /* [part_capacity] those that are met, and their number */
  uint8_t *met;   /* [part_capacity] */
  uint32_t count;
} cm_copies_owed;

/* Nothing is allocated where nobody has copies. */
cm_status cm_copies_owed_init(cm_copies_owed *owed, const cm_axon_state *state, cm_error *error);
void cm_copies_owed_free(cm_copies_owed *owed);

/* What the copies that v's move to another part makes and spares change of the penalties of its sources' parts. O(sum of lambda over
 * v's inbound nets), as is the next. */
double cm_copies_price(const cm_axon_state *state, cm_copies_owed *owed, uint32_t v, uint32_t to);

/* Whether every part that would get more copies keeps its limits; the other part would get `added` inbound axons. */
bool cm_copies_fit(const cm_axon_state *state, cm_copies_owed *owed, uint32_t v, uint32_t to, uint32_t added);

/* What the copies of a net's source take where it reaches so many parts. */
static inline uint32_t cm_copies_size(const cm_axon_state *state, const cm_net_state *net, uint32_t reached)
{
  return reached > state->graph->reach_max ? (reached - 1) / state->graph->reach_max * net->copy_size : 0;
}

/* A net that reached `before` parts has come to another number of them. */
static inline void cm_copies_follow(cm_axon_state *state, const cm_net_state *net, uint32_t before)
{
  if (state->copies == NULL)
    return;
  uint32_t more = cm_copies_size(state, net, net->lambda) - cm_copies_size(state, net, before); /* modulo 2^32 */
  uint32_t source = state->graph->net_source[net - state->net];
  cm_count_add(state, &state->copies[source], more);
  cm_sum_add(state, &state->size[state->part[source]], (uint64_t)(int64_t)(int32_t)more);
}
