/* One subgraph on its own, while its orders are gone through or drawn: what the files of the order search share. */
#pragma once

#include "base/random.h"
#include "core/schedule/orders.h"

/* Its nodes are numbered 0 .. count-1 in the order of node[]. */
typedef struct cm_piece {
  uint32_t count;
  const uint32_t *node;        /* borrowed: what they are in the graph */
  uint64_t *first;             /* count + 1 */
  uint32_t *out;               /* arcs inside the piece */
  uint32_t *before;            /* how many of the piece each waits for */
  uint32_t *order, placed;     /* the order under way */
  uint32_t *ready, ready_count; /* what may come next */
  uint32_t *waiting;           /* how many not yet placed each waits for */
  uint32_t *choice, *ready_at; /* what was done at each place: to go back */
} cm_piece;

/* local[v] is the number in the piece of node v of the graph; what it says of nodes outside does not matter. */
cm_status cm_piece_new(const cm_dag *dag, const uint32_t *node, uint32_t count, const uint32_t *local,
                       cm_memory *memory, cm_piece *piece, cm_error *error);
void cm_piece_free(cm_piece *piece);

/* An empty order; then places ready[choice]. */
void cm_piece_begin(cm_piece *piece);
void cm_piece_place(cm_piece *piece, uint32_t choice);

/* Goes to the first or the next of all orders; false behind the last. Constant time an order in the mean where orders
 * share beginnings. */
bool cm_piece_next(cm_piece *piece, bool from_the_start);

/* The search over one piece, however it goes about it. */
typedef struct cm_hunt {
  cm_piece *piece;
  const uint64_t *height; /* of the piece's nodes */
  cm_random *random;
  cm_memory *memory;
  uint64_t left; /* orders that may still be scored */
  uint64_t best_score;
  uint32_t *best; /* piece->count nodes */
  /* Scores piece->order, keeps the best, counts down; *stop when no more may be scored. */
  cm_status (*score)(struct cm_hunt *hunt, uint64_t *score, bool *stop, cm_error *error);
  void *user;
} cm_hunt;

/* Places what is left of the order at random: each time the highest of `draws` that are drawn from what is ready. */
void cm_hunt_roll_out(cm_hunt *hunt, uint32_t draws);

/* Monte-Carlo tree search (UCT: Kocsis, Szepesvari, ECML 2006) for `tries` orders. */
cm_status cm_hunt_tree(cm_hunt *hunt, uint64_t tries, bool *stop, cm_error *error);

/* From the best order on moves one node at a time and keeps what is not worse, until the budget is spent. The piece
 * must have two orders. */
cm_status cm_hunt_descend(cm_hunt *hunt, bool *stop, cm_error *error);
