/* The inside of cm_axon_state: how it is built, and the sums that building and moving share. */
#pragma once

#include "core/partition/axon/axon_state.h"

/* Fills a state of which graph, part, limits, prices and the numbers of parts are set, on up to `threads` threads. What
 * it allocates before it fails is left in the state. O(pins). */
cm_status cm_axon_state_fill(cm_axon_state *state, unsigned threads, cm_error *error);

/* A net can be present in so many parts. */
static inline uint64_t cm_presences_max(const cm_axon_state *s, uint64_t e)
{
  uint64_t pins = s->graph->net_targets[e];
  return pins < s->part_capacity ? pins : s->part_capacity;
}

/* Sums that several threads add to, each for its own nets: in whatever order, they come out the same. */
static inline void cm_sum_add(const cm_axon_state *s, uint64_t *sum, uint64_t more)
{
  if (s->shared)
    __atomic_fetch_add(sum, more, __ATOMIC_RELAXED);
  else
    *sum += more;
}

static inline void cm_count_add(const cm_axon_state *s, uint32_t *count, uint32_t more)
{
  if (s->shared)
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
  else
    *count += more;
}

/* Whether a presence at home is such that weight stays behind when the source leaves: not for the only target. */
static inline bool cm_hold_stays(const cm_axon_state *s, const cm_net_state *net, const cm_hold *hold)
{
  if (hold->count == 1 && net->own_target)
    return hold->sole != s->graph->net_source[net - s->net];
  return hold->count > 0;
}

/* What a presence means for its only target, if it has just one: added, or taken off again before it changes. */
static inline void cm_gain_credit(cm_axon_state *s, const cm_net_state *net, uint32_t part, const cm_hold *hold)
{
  if (hold->count != 1)
    return;
  cm_gain *gain = &s->gain[hold->sole];
  cm_count_add(s, &gain->released, 1);
  if (part != net->home)
    cm_sum_add(s, &gain->freed, net->weight * cm_price(s->prices, net->home, part));
}

static inline void cm_gain_debit(cm_axon_state *s, const cm_net_state *net, uint32_t part, const cm_hold *hold)
{
  if (hold->count != 1)
    return;
  cm_gain *gain = &s->gain[hold->sole];
  cm_count_add(s, &gain->released, UINT32_MAX);
  if (part != net->home)
    cm_sum_add(s, &gain->freed, -(net->weight * cm_price(s->prices, net->home, part)));
}
