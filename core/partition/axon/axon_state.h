/* Book-keeping of a partition of a hypergraph under core limits: where every net's targets are, what every part
 * holds, and what a move would change. One place for all refiners. */
#pragma once

#include "base/threads.h"
#include "core/limits/limits.h"
#include "core/partition/axon/hypergraph.h"
#include "core/partition/axon/prices.h"

/* What a move needs to know of a net, in one place of memory. Its presences are `lambda` places from `first` on of
 * `where` and `hold`. */
typedef struct cm_net_state {
  uint64_t first;
  uint32_t weight;
  uint32_t lambda; /* parts that it has targets in */
  uint32_t home;   /* part of its source */
  uint32_t room;   /* presences that fit where they are */
  bool own_target; /* its source is among its targets */
  uint32_t copy_size; /* what a copy of its source takes of its part's neurons */
} cm_net_state;

/* How a net is present in a part. */
typedef struct cm_hold {
  uint32_t count; /* its targets there */
  uint32_t sole;  /* their numbers, exclusive-or: the target itself where there is one */
} cm_hold;

/* What it means that a vertex leaves its part, wherever it goes. */
typedef struct cm_gain {
  uint64_t freed;    /* what the nets from other parts pay of which it is the only target there */
  uint64_t own;      /* weight of its own nets */
  uint64_t stay;     /* weight of those that have targets there, other than itself */
  uint32_t released; /* inbound axons that the part no longer needs */
} cm_gain;

typedef struct cm_axon_state {
  const cm_hypergraph *graph;
  const cm_prices *prices; /* borrowed; NULL: 1 between any two parts */
  cm_run *run;
  uint32_t *part;        /* [vertices] borrowed */
  uint32_t part_capacity; /* parts that the tables hold */
  uint32_t part_count;   /* parts 0 .. part_count - 1 may be used */
  uint32_t parts_max;    /* cores that are free, for the text of a refusal */
  cm_net_state *net;     /* [nets] */
  uint32_t *where;       /* parts that the nets are present in; close together, with some room each */
  cm_hold *hold;         /* beside `where` */
  uint64_t *wide;        /* [nets] where a net's presences go once that room is used up: there is room for any number */
  cm_gain *gain;         /* [vertices] */
  bool shared;           /* several threads add to gains and copies */
  uint32_t *copies;      /* [vertices] what copies of a vertex's neurons take of its part, beside themselves; NULL: nobody has any */
  uint64_t *size, *axons, *synapses;                /* [part_capacity] what a part holds, copies among its size */
  uint32_t *vertices;                               /* [part_capacity] number of vertices */
  cm_limits limits; /* for what these take together of a core's memory */
  uint64_t cap_size, cap_axons, cap_synapses, cap_memory; /* no move of a search fills a part beyond these, whatever it saves */
  double penalty_size, penalty_axons; /* per excess, in units of cost: weight times price */
} cm_axon_state;

/* What a state is made of. */
typedef struct cm_axon_state_options {
  const cm_limits *limits;
  const cm_prices *prices; /* of parts_max parts, or NULL */
  uint32_t *part;          /* [vertices] */
  uint32_t parts;
  uint32_t parts_max; /* so many there may become, where that is more */
  unsigned threads;   /* to fill it with; 0: those of the run */
} cm_axon_state_options;

/* Builds the state of a partition. O(pins * lambda). */
cm_status cm_axon_state_new(const cm_hypergraph *graph, const cm_axon_state_options *options, cm_run *run, cm_axon_state **state,
                            cm_error *error);
void cm_axon_state_free(cm_axon_state *state); /* NULL is allowed */

/* Makes the move. O(sum of lambda over v's nets). */
void cm_axon_move(cm_axon_state *state, uint32_t v, uint32_t to);

/* What a vertex takes of its part's neurons, with its copies. */
static inline uint64_t cm_axon_size(const cm_axon_state *state, uint32_t v)
{
  return state->graph->size[v] + (state->copies != NULL ? (uint64_t)state->copies[v] : 0);
}

typedef struct cm_move {
  uint32_t vertex, from, to;
} cm_move;

/* What happened to a net in a part. */
typedef struct cm_net_event {
  uint32_t net, part;
  int8_t present; /* 1: the part has got its first target there; -1: it has lost its last; 0: neither */
  int8_t weighed; /* 1: its targets would no longer pay for going there; -1: they would pay again; 0: as before */
} cm_net_event;

/* What one thread's moves of nets lead to. */
typedef struct cm_net_log {
  cm_net_event *event; /* with room for all; NULL: nobody asks */
  uint64_t count, room;
  uint64_t *
    axons; /* [part_capacity] inbound axons that parts get more, modulo 2^64, for the caller to book; NULL: they are booked at once */
  CM_THREADS_APART
} cm_net_log;

/* Many moves of different vertices: first the vertices, then their nets. `log` gets what happened to the nets, with room for twice
 * the nets of the vertices; NULL: nobody asks, and axons are booked. */
void cm_axon_move_vertices(cm_axon_state *state, const cm_move *move, uint32_t count);
void cm_axon_move_nets(cm_axon_state *state, const cm_move *move, uint32_t count, cm_net_log *log);

/* A net that a move is about, by its number among the moves. */
typedef struct cm_net_visit {
  uint32_t net;
  uint32_t move; /* twice its number; one more: the net is the vertex's own */
} cm_net_visit;

/* A list of them that grows. */
typedef struct cm_net_visits {
  cm_net_visit *visit;
  uint64_t count, room;
  CM_THREADS_APART
} cm_net_visits;

/* The same by several threads, to the same state for any number of them: the nets of moves begin .. end - 1 are dealt to visits
 * [slices], a slice of the nets each, which any thread makes, those of earlier moves first. O(nets of the vertices). The lists
 * are the caller's. */
cm_status cm_axon_deal_nets(const cm_axon_state *state, const cm_move *move, uint32_t begin, uint32_t end, uint32_t slices,
                            cm_net_visits *visits, cm_error *error);
void cm_axon_visit_nets(cm_axon_state *state, const cm_move *move, const cm_net_visits *visits, cm_net_log *log);

/* Books the axons of a log, which are zero then. O(parts). */
void cm_axon_book(cm_axon_state *state, cm_net_log *log);

/* The inbound nets of a vertex that are still to come, those in the distance being fetched: a visit of all of them waits for
 * memory at nearly every one. */
enum { CM_NETS_FAR = 16 };
typedef struct cm_nets_ahead {
  cm_nets beyond;            /* those that are not in `net` yet */
  uint32_t net[CM_NETS_FAR]; /* a ring: the next one at `at` */
  uint32_t at, left;
} cm_nets_ahead;

/* Fetches where the presences of a net begin, with what it holds there if asked. */
static inline void cm_net_fetch(const cm_axon_state *state, const cm_net_state *net, bool holds)
{
  __builtin_prefetch(&state->where[net->first]);
  if (holds)
    __builtin_prefetch(&state->hold[net->first]);
}

static inline void cm_nets_look_ahead(cm_nets_ahead *ahead, const cm_axon_state *state, uint32_t v)
{
  ahead->beyond = cm_nets_into(state->graph, v);
  ahead->left = ahead->beyond.left;
  ahead->at = 0;
  for (uint32_t i = 0; i < CM_NETS_FAR && ahead->beyond.left > 0; i++) {
    ahead->net[i] = cm_nets_next(&ahead->beyond);
    __builtin_prefetch(&state->net[ahead->net[i]]);
  }
}

/* The next net. While any is left. */
static inline uint32_t cm_nets_ahead_next(cm_nets_ahead *ahead, const cm_axon_state *state, bool holds)
{
  uint32_t e = ahead->net[ahead->at];
  if (ahead->beyond.left > 0) {
    uint32_t far = cm_nets_next(&ahead->beyond);
    ahead->net[ahead->at] = far;
    __builtin_prefetch(&state->net[far]);
  }
  if (ahead->left > CM_NETS_FAR / 2)
    cm_net_fetch(state, &state->net[ahead->net[(ahead->at + CM_NETS_FAR / 2) % CM_NETS_FAR]], holds);
  ahead->at = (ahead->at + 1) % CM_NETS_FAR;
  ahead->left--;
  return e;
}

/* Whether a part breaks a limit. */
bool cm_axon_over(const cm_axon_state *state, uint32_t part);

/* What a part's use costs beyond the limits. O(1). */
double cm_part_penalty(const cm_axon_state *state, uint64_t size, uint64_t axons, uint64_t synapses);

/* Whether a part of that use may come about by a move. O(1). */
static inline bool cm_part_capped(const cm_axon_state *state, uint64_t size, uint64_t axons, uint64_t synapses)
{
  return size > state->cap_size || axons > state->cap_axons || synapses > state->cap_synapses ||
         (state->limits.memory_bits != 0 && cm_memory_bits(&state->limits, size, synapses, axons) > state->cap_memory);
}

/* Sum over nets of weight * (parts touched besides the source's). O(nets * lambda). */
uint64_t cm_axon_connectivity(const cm_axon_state *state);

/* The same, each part at its price. O(nets * lambda). */
double cm_axon_cost(const cm_axon_state *state);

/* The mean price of what is paid now; 1 without prices. O(nets * lambda). */
double cm_axon_mean_price(const cm_axon_state *state);

/* Penalty of all parts. O(parts). */
double cm_axon_penalty(const cm_axon_state *state);
