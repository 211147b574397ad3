/* A directed network on parts as a search for short time steps sees it: what every part receives and sends, and what it
 * uses of its core's limits, kept while single neurons come and go. */
#pragma once

#include "core/chip/costs.h"
#include "core/limits/limits.h"

enum { CM_STEP_NO_PART = UINT32_MAX };

typedef struct cm_step_state {
  const cm_demand *demand;
  const cm_costs *costs;
  cm_limits limits;
  cm_run *run;
  uint32_t parts;      /* that may be used */
  uint32_t *part;      /* [vertices] CM_STEP_NO_PART: in none yet */
  double *rate;        /* [nets] spikes a step */
  double *input;       /* [vertices] rate of all synapses into it */
  double *own;         /* [vertices] ns that it sends whatever its packets: the neuron itself and its spikes */
  double *handling;    /* [vertices] ns of its synapses */
  uint64_t *in_first;  /* [vertices + 1] nets into each vertex */
  uint32_t *in_net;
  uint32_t *out_first; /* [vertices + 1] nets of each source */
  /* The parts that a net reaches: net e has reached[e] of them, from at[e] on. */
  uint64_t *at;        /* [nets + 1] */
  uint32_t *reached;   /* [nets] */
  uint32_t *reach_part, *reach_pins;
  double *receive, *send; /* [parts] ns */
  double *inlet, *outlet; /* [parts] rate of packets received, and sent, its own to itself included */
  uint64_t *use;       /* [parts * CM_RESOURCES] those of target cores are not kept */
  double packets;      /* rate of all packets */
  /* Scenarios of the network, each value a row of `scenarios`; 0 of them: the rates above alone. A part takes as long as in
   * the scenario that is longest there, times its scale. */
  uint32_t scenarios;
  double *scale;       /* [scenarios] 1 at first */
  double *rate_in, *input_in, *own_in, *handling_in; /* [nets], the others [vertices] rows */
  double *receive_in, *send_in;        /* [parts] rows */
} cm_step_state;

/* All neurons are in no part at first. O(pins). */
cm_status cm_step_state_new(const cm_demand *demand, const cm_costs *costs, const cm_limits *limits, uint32_t parts,
                            cm_run *run, cm_step_state *state, cm_error *error);
void cm_step_state_free(cm_step_state *state); /* harmless on a zeroed one */

/* Puts all neurons back in no part. O(nets + parts + vertices). */
void cm_step_state_clear(cm_step_state *state);

/* The place of a part among those that a net reaches; the number of those when it does not. O(parts reached). */
static inline uint32_t cm_step_find(const cm_step_state *s, uint32_t net, uint32_t part)
{
  const uint32_t *list = s->reach_part + s->at[net];
  uint32_t count = s->reached[net], i = count; /* from the back: parts are filled one after another */
  while (i > 0 && list[i - 1] != part)
    i--;
  return i > 0 ? i - 1 : count;
}

/* The same of two parts in one pass, without jumps that depend on where they are: nobody could guess those. A part stands in a
 * list once, so its place is a sum, which compilers vectorise. */
static inline void cm_step_find_both(const cm_step_state *s, uint32_t net, const uint32_t part[2], uint32_t at[2])
{
  const uint32_t *list = s->reach_part + s->at[net];
  uint32_t count = s->reached[net], first = part[0], second = part[1], a = 0, b = 0; /* places from 1 on */
  for (uint32_t i = 0; i < count; i++) {
    a |= list[i] == first ? i + 1 : 0;
    b |= list[i] == second ? i + 1 : 0;
  }
  at[0] = a > 0 ? a - 1 : count;
  at[1] = b > 0 ? b - 1 : count;
}

/* Puts a neuron that is in no part into one, or takes it out of its own. O(inbound axons * parts that they reach). */
void cm_step_put(cm_step_state *state, uint32_t vertex, uint32_t part);
void cm_step_take(cm_step_state *state, uint32_t vertex);

/* Puts as cm_step_put does while parts are filled one after another: only the last that a net reaches can be this one.
 * O(inbound axons). */
void cm_step_put_last(cm_step_state *state, uint32_t vertex, uint32_t part);

/* The scenario in which a part takes longest; there must be one. */
uint32_t cm_step_worst_scenario(const cm_step_state *state, uint32_t part);

/* Time of a part in a scenario, scaled, in ns. */
static inline double cm_step_part_ns_in(const cm_step_state *s, uint32_t part, uint32_t scenario)
{
  size_t at = (size_t)part * s->scenarios + scenario;
  return s->scale[scenario] * cm_core_ns(s->costs, s->receive_in[at], s->send_in[at]);
}

/* Time of a part, in ns. */
static inline double cm_step_part_ns(const cm_step_state *s, uint32_t part)
{
  return s->scenarios > 0 ? cm_step_part_ns_in(s, part, cm_step_worst_scenario(s, part))
                          : cm_core_ns(s->costs, s->receive[part], s->send[part]);
}

/* The longest time of a part, in ns. O(parts). */
double cm_step_longest_ns(const cm_step_state *state);

/* Packets through the busiest inlet or outlet. O(parts). */
double cm_step_busiest_port(const cm_step_state *state);

/* Whether use of every kept resource is within the limits with so much more. */
bool cm_step_has_room(const cm_step_state *state, uint32_t part, uint64_t neurons, uint64_t synapses, uint64_t inbound,
                      uint64_t outbound);

/* Whether every part keeps the limits that are kept. O(parts). */
bool cm_step_is_legal(const cm_step_state *state);
