/* Book-keeping of a partition of a hypergraph under core limits: where every net's targets are, what every part
 * holds, and what a move would change. One place for all refiners. */
#ifndef CM_PARTITION_AXON_STATE_H
#define CM_PARTITION_AXON_STATE_H

#include "core/chip/chip.h"
#include "core/partition/hypergraph.h"

/* One part that a net has targets in. */
typedef struct cm_presence {
  uint32_t part, count;
} cm_presence;

/* What a move needs to know of a net, in one place of memory. */
typedef struct cm_net_state {
  uint64_t weight;
  uint64_t first;  /* its presences start here */
  uint32_t lambda; /* parts that it has targets in */
  uint32_t home;   /* part of its source */
  uint32_t room;   /* presences that fit where they are */
  bool own_target; /* its source is among its targets */
} cm_net_state;

/* What draws the vertex under way to a part. */
typedef struct cm_pull {
  uint64_t kept;   /* weight of its nets that a move there would not spread */
  uint32_t shared; /* inbound nets that the part has already */
  bool touched;
} cm_pull;

typedef struct cm_axon_state {
  const cm_hypergraph *graph;
  cm_run *run;
  uint32_t *part;        /* [vertices] borrowed */
  uint32_t part_room;    /* parts that the tables hold */
  uint32_t part_count;   /* parts 0 .. part_count - 1 may be used */
  uint32_t parts_max;    /* cores that are free, for the text of a refusal */
  cm_net_state *net;     /* [nets] */
  cm_presence *presence; /* of net e: places net[e].first .. + net[e].lambda - 1; close together, with some room each */
  uint64_t *wide;        /* [nets] where a net's presences go once that room is used up: there is room for any number */
  uint64_t *size, *axons, *synapses; /* [part_room] what a part holds */
  uint32_t *vertices;    /* [part_room] number of vertices */
  uint64_t limit_size, limit_axons, limit_synapses; /* 0: none */
  uint64_t connectivity; /* sum of weight * parts touched besides the source's */
  double penalty_size, penalty_axons; /* weight units per excess */
  cm_pull *pull;         /* [part_room] of the vertex under way; zero outside `touched` */
  float *last_cost;      /* [vertices] of the cheapest move when the vertex was last visited; -infinity: never */
  uint32_t *touched;     /* other parts that the vertex's nets reach or come from */
  uint32_t touched_count;
} cm_axon_state;

/* Builds the state for part [vertices], whose numbers are below part_room. O(pins * lambda). */
cm_status cm_axon_state_new(const cm_hypergraph *graph, const cm_limits *limits, uint32_t *part, uint32_t part_count,
                            uint32_t part_room, cm_run *run, cm_axon_state **state, cm_error *error);
void cm_axon_state_free(cm_axon_state *state); /* NULL is allowed */

/* What is known of a vertex before a move. */
typedef struct cm_leave {
  uint64_t in_weight;  /* of its inbound nets from other vertices */
  uint64_t freed;      /* weight that leaving its part takes off the connectivity, own nets aside */
  uint64_t own_weight; /* of its own nets that have other targets in its part */
  uint32_t released;   /* inbound axons that its part no longer needs */
  uint32_t degree;     /* inbound nets */
} cm_leave;

/* Looks at v's nets: fills pull and touched and returns what leaving means. O(sum of lambda over v's nets). */
cm_leave cm_axon_look(cm_axon_state *state, uint32_t v);

/* Change of the penalised objective when v, just looked at, moves to part `to`. Negative is better. O(1). */
double cm_axon_cost(const cm_axon_state *state, uint32_t v, const cm_leave *leave, uint32_t to);

/* Whether the move keeps `to` within every limit. */
bool cm_axon_fits(const cm_axon_state *state, uint32_t v, const cm_leave *leave, uint32_t to);

/* Makes the move. O(sum of lambda over v's nets). */
void cm_axon_move(cm_axon_state *state, uint32_t v, uint32_t to);

/* Whether a part breaks a limit. */
bool cm_axon_over(const cm_axon_state *state, uint32_t part);

/* Penalty of all parts. O(parts). */
double cm_axon_penalty(const cm_axon_state *state);

#endif
