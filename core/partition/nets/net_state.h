/* A partition of a hypergraph of small nets with its gain cache: for every net the parts that have its pins, for every
 * vertex what ties it to each part that it touches. Kept right through moves; one place for all refiners by nets. */
#pragma once

#include <stdbool.h>

#include "core/partition/nets/net_graph.h"

/* A net in a part. */
typedef struct cm_net_hold {
  uint32_t part, count; /* pins there */
  uint32_t sole;        /* their numbers, exclusive-or: the pin itself where there is one */
} cm_net_hold;

/* A vertex and a part that its nets have pins in, itself included: a row for the parts touched, and no more. */
typedef struct cm_net_tie {
  int64_t weight; /* of its nets that have a pin there */
  uint32_t part;
} cm_net_tie;

/* How gains change by a move: some of a vertex's may be higher, or some lower. */
enum { CM_NET_RISEN = 1, CM_NET_FALLEN = 2 };

typedef struct cm_net_state {
  const cm_net_graph *graph;
  uint32_t *part; /* [vertices] borrowed */
  uint32_t parts;
  uint64_t *load;        /* [parts] sizes of their vertices */
  uint32_t *place;       /* [parts] in the row of the vertex that is filled in */
  uint64_t *hold_first;  /* [nets + 1] where a net's row of `hold` begins: room for all parts that it can touch */
  uint32_t *lambda;      /* [nets] parts that it touches */
  cm_net_hold *hold;
  uint64_t *tie_first;   /* [vertices + 1] */
  uint32_t *tie_count;   /* [vertices] */
  cm_net_tie *tie;
  int64_t *alone;        /* [vertices] weight of its nets that have no other pin in its part */
  int64_t *degree;       /* [vertices] weight of its nets */
  uint32_t *touched;     /* [vertices] those whose gains changed since cm_net_forget_touched, each once */
  uint32_t touched_count;
  uint8_t *is_touched;   /* [vertices] CM_NET_RISEN, CM_NET_FALLEN or both; 0: not */
} cm_net_state;

/* The state of part [vertices], numbers below `parts`. O(pins * parts a net touches); memory as the rows, at most 28
 * bytes a pin and 16 a vertex and pair of its nets' pins, or part if that is less. */
cm_status cm_net_state_new(const cm_net_graph *graph, uint32_t *part, uint32_t parts, cm_run *run, cm_net_state **state,
                           cm_error *error);
void cm_net_state_free(cm_net_state *state); /* NULL is allowed */

/* Moves v to another part. O(sum over its nets of parts touched), and of pins where a part is new or left. */
void cm_net_move(cm_net_state *state, uint32_t v, uint32_t to);

void cm_net_forget_touched(cm_net_state *state);

/* What connectivity loses when v moves to `to`. O(parts that v touches). */
int64_t cm_net_gain(const cm_net_state *state, uint32_t v, uint32_t to);

/* Sum over nets of weight * (parts touched - 1). O(nets). */
int64_t cm_net_connectivity(const cm_net_state *state);

/* Whether v touches another part. O(1). */
static inline bool cm_net_on_border(const cm_net_state *state, uint32_t v)
{
  return state->tie_count[v] > 1;
}
