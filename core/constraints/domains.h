/* The domains of a search as they shrink and come back, and what follows from them (propagation): arc consistency of relations, room that is
 * left in tiles, flows that show that needs fit (Regin, AAAI 1994, for needs of any size), and where chains can still hang together. */
#pragma once

#include "core/constraints/model.h"

/* What a packing has booked, and a flow of its needs into buckets. */
typedef struct cm_booking {
  uint64_t *used;    /* [buckets] by variables that lie in one bucket */
  bool *booked;      /* [count] */
  uint64_t *flow;    /* [count * buckets]; NULL: too large, not looked at */
  uint64_t *filled;  /* [buckets] sum of flow */
  uint64_t *carries; /* [count * words of buckets] where there is any, as bits */
  uint64_t *project; /* [words of buckets] */
  uint32_t *queue, *from_bucket, *from_variable;
  uint64_t *seen;
} cm_booking;

typedef struct cm_state {
  const cm_place_model *model;
  cm_memory *memory;
  uint64_t *domain;   /* [variables * words] */
  uint64_t *failures; /* [variables] how often a variable was where it failed (Boussemart et al., ECAI 2004) */
  uint64_t work;      /* words looked at */
  cm_booking *booking; /* [packings] */
  uint32_t *first_in, *packing_in, *slot_in; /* packings of variable v, and its place there: first_in[v] .. */
  uint32_t *first_chain, *chain_in;          /* chains of variable v */
  bool *queued, *packing_due, *chain_due;
  uint32_t *queue, queue_begin, queue_count;  /* [variables] a ring */
  struct cm_trail {
    uint32_t at, what; /* what: 0 a word of the domains, else a booking of packing what - 1 */
    uint64_t old;
  } *trail;
  uint64_t trail_count, trail_capacity;
  cm_router_box *box;      /* [variables] by cm_state_find_boxes */
  uint64_t *boxed;         /* [variables * words] the domains that were */
  uint32_t *circuit_load;  /* NULL: circuits are not limited */
  uint64_t *scratch;  /* [4 * words] */
  uint32_t *flood;    /* [tiles] */
} cm_state;

/* The caller's: cm_state_free. Memory: as the model, and flows of up to 2^20 pairs a packing. */
cm_status cm_state_new(const cm_place_model *model, cm_memory *memory, cm_state **state, cm_error *error);
void cm_state_free(cm_state *state); /* NULL is allowed */

/* Begins anew with these domains (NULL: the model's), everything queued. */
void cm_state_reset(cm_state *state, const uint64_t *domain);

static inline uint64_t *cm_state_domain(const cm_state *state, uint32_t variable)
{
  return &state->domain[(size_t)variable * state->model->words];
}

/* Narrows a domain to its tiles inside (or outside) a set; *possible becomes false when none is left. CM_NO_MEMORY: the trail. */
cm_status cm_state_narrow(cm_state *state, uint32_t variable, const uint64_t *tiles, bool inside, bool *possible, cm_error *error);

/* An entry of the trail, and nothing left to follow: for propagation. */
cm_status cm_state_remember(cm_state *state, uint32_t at, uint32_t what, uint64_t old, cm_error *error);
void cm_state_clear_queue(cm_state *state);

/* The boxes of all domains. O(variables * words + tiles of those that changed). */
void cm_state_find_boxes(cm_state *state);

/* propagate.c: draws all consequences; *possible: false when some domain is empty or some limit cannot be kept. */
cm_status cm_state_propagate(cm_state *state, bool *possible, cm_error *error);

/* Goes back to where the trail had so many entries. */
void cm_state_undo(cm_state *state, uint64_t trail_count);

/* packing_flow.c: whether the needs of a packing can still flow into its buckets. */
bool cm_packing_flows(cm_state *state, uint32_t packing);

/* chains.c: narrows the domains of a chain to where it can hang together. */
cm_status cm_chain_narrow(cm_state *state, uint32_t chain, bool *possible, cm_error *error);
