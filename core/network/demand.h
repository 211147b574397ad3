/* What is mapped of a network, which itself never changes: how much room its neurons take, and at which rates they spike. An
 * option lets inputs stand outside the chip, a chip asks for relays and copies, a scenario has rates of its own. */
#pragma once

#include "core/network/topology.h"

typedef struct cm_demand {
  const cm_topology *network;  /* the caller's */
  const uint32_t *size;        /* [vertices] neurons that each stands for, with its relays; 0: it stands outside; NULL: 1 each */
  uint64_t size_total;         /* sum of sizes */
  const uint64_t *net_weight;  /* [nets] scaled rates; undirected: NULL */
  uint32_t scenario_count;     /* whose mean the rates are; 0: they do not vary */
  uint32_t outside_count;      /* inputs that stand outside the chip; 0: none */
  bool neurons_limited;        /* by a chip (cm_demand_limit_neurons): */
  uint64_t relay_count;        /* neurons that pass inputs on to others, counted in the sizes of these */
  uint32_t target_cores_max;   /* cores that a neuron reaches, its own included, before it needs a copy beside it; 0: any number */
  bool bias_sources;           /* biases come from neurons that spike in every step */
  uint32_t window;             /* the scenario whose rates these are, plus 1; 0: their mean */
  uint32_t *own_size;          /* `size`, where it is not the network's */
} cm_demand;

/* The network as it is. O(1). */
cm_demand cm_demand_of(const cm_topology *network);

/* A pointer to that, for as long as the block around it. */
#define CM_DEMAND_OF(network) ((const cm_demand[]){cm_demand_of(network)})

/* Frees what it has of its own; harmless on a zeroed one. */
void cm_demand_clear(cm_demand *demand);

/* The same in one of the network's scenarios: it borrows all of it, and is not cleared. O(1). */
cm_demand cm_demand_in_scenario(const cm_demand *demand, uint32_t scenario);

/* Lets the inputs stand outside the chip: they take no room of a core (size 0), and their axons come in from the border. A
 * second call changes nothing. O(vertices + pins). CM_BAD_OPTION, with the place "/options/inputs": the network marks no inputs,
 * has nothing else, or an input has a synapse into it. */
cm_status cm_demand_set_outside(cm_demand *demand, cm_memory *memory, cm_error *error);

/* What a chip asks of single neurons. */
typedef struct cm_neuron_terms {
  uint64_t fan_in, target_cores; /* 0: no limit */
  bool relays, bias_sources;
} cm_neuron_terms;

/* Applies them; a second call changes nothing. A neuron of more inputs than fan_in gets relays, neurons that stand beside it, take some of
 * its inputs and pass them on: its size grows by them; without `relays` it is refused, CM_NEURON_TOO_LARGE with limit_name fan_in_per_neuron.
 * target_cores becomes target_cores_max. O(pins). */
cm_status cm_demand_limit_neurons(cm_demand *demand, const cm_neuron_terms *terms, cm_memory *memory, cm_error *error);

/* What a neuron does in a step that no axon tells: its spikes, where it has no target but they were measured, and a synapse of the source of its
 * bias. Asked for ascending neurons, with *net 0 at first. O(1) each. */
typedef struct cm_untold {
  double spikes, synapses;
} cm_untold;
cm_untold cm_demand_untold(const cm_demand *demand, uint32_t vertex, uint32_t *net);

/* The fewest relays that bring so many inputs to one neuron where no neuron takes more than fan_in, at least 2: each takes one
 * place and gives fan_in. O(1). */
uint64_t cm_relays_for(uint64_t inputs, uint64_t fan_in);

static inline uint32_t cm_demand_size(const cm_demand *demand, uint32_t vertex)
{
  return demand->size ? demand->size[vertex] : 1;
}

/* The scaled rate of a net's axon; undirected: weight_scale. O(1). */
static inline uint64_t cm_demand_net_weight(const cm_demand *demand, uint32_t net)
{
  return demand->net_weight ? demand->net_weight[net] : demand->network->weight_scale;
}

/* The scaled weight of pin i, which lies in net `net`: the rate of its axon where its network gives it none. O(1). */
static inline uint64_t cm_demand_pin_weight(const cm_demand *demand, uint32_t net, uint64_t i)
{
  return demand->network->pin_weight ? demand->network->pin_weight[i] : cm_demand_net_weight(demand, net);
}

/* Whether a neuron is an input outside the chip. O(1). */
static inline bool cm_demand_is_outside(const cm_demand *demand, uint32_t vertex)
{
  return demand->outside_count > 0 && cm_topology_is_input(demand->network, vertex);
}
