/* In which order the populations of a network are evaluated within a step: a synapse without a delay acts in the step in which its
 * spike is sent, unless it is part of a loop. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* Groups are populations, or, of a network without them, the neurons that are inputs and those that are not. */
typedef struct cm_evaluation_order {
  uint32_t groups, levels;
  uint32_t *group_of; /* [vertex_count] */
  uint32_t *loop;     /* [groups] groups of one number reach each other by synapses without delays */
  uint32_t *level;    /* [groups] levels are evaluated one after another from 0; groups of a loop have the same */
} cm_evaluation_order;

/* The order of a directed network with dynamics. O(pins + groups). Errors: memory, stops. */
cm_status cm_evaluation_order_make(const cm_topology *topology, cm_run *run, cm_evaluation_order *order, cm_error *error);
void cm_evaluation_order_free(cm_evaluation_order *order); /* harmless on a zeroed one */

/* Loops as a chip has to lengthen them, [vertex_count] numbers up to groups + vertex_count, the caller's: those of the groups; but where groups send to each other and
 * no neuron reaches itself, each neuron has its own. `delayed`: loops by way of synapses with delays count as well. O(pins + groups). Errors: memory, stops. */
cm_status cm_neuron_loops_make(const cm_topology *topology, bool delayed, cm_run *run, uint32_t **loop_of, cm_error *error);

/* Whether a synapse without a delay from one neuron to another is part of a loop. O(1). */
static inline bool cm_in_loop(const cm_evaluation_order *order, uint32_t from, uint32_t to)
{
  return order->loop[order->group_of[from]] == order->loop[order->group_of[to]];
}
