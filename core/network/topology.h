/* The topology: what a user uploads, in memory.
 *
 * Directed networks (spiking networks) are hypergraphs: every net is one axon, with a source vertex, a
 * weight (spike rate) and its target vertices (pins). Undirected networks (graphs) use the same rows with
 * one net per vertex that lists all neighbours, so that every edge stands in two rows.
 *
 * Weights are integers: value * weight_scale, rounded. Sums are therefore exact and independent of order.
 *
 * Traffic and strength are two things: an axon's rate (net_weight) is what mapping sends over the chip; a synapse's
 * weight is a magnitude (pin_weight), which only objectives that weigh single edges read, and a sign (pin_negative),
 * which like delays and populations is kept and given back, and changes no mapping.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"
#include "core/network/dynamics.h"

/* Weights, once scaled, add up to at most this: half of what a double holds exactly, and far from 64 bits. */
#define CM_WEIGHT_SUM_MAX (UINT64_C(1) << 50)
#define CM_WEIGHT_SCALE_MAX (UINT64_C(1) << 30)

/* The largest counts that a topology may have. */
#define CM_VERTICES_MAX UINT32_C(0x7ffffffe)
#define CM_PINS_MAX UINT64_C(0x7fffffffffff)
#define CM_POPULATIONS_MAX UINT32_C(65536)

/* Neurons that the network's maker grouped: a layer, a population. */
enum { CM_POPULATION_NAME_MAX = 120, CM_POPULATION_KIND_MAX = 24 };
typedef struct cm_population {
  char name[CM_POPULATION_NAME_MAX];
  char kind[CM_POPULATION_KIND_MAX]; /* the neuron model as its format names it; CM_INPUT_KIND: inputs; "": not said */
} cm_population;
#define CM_INPUT_KIND "input"

/* Scenarios: rates that axons have in turn, as of a network that rests, sees, acts. */
enum { CM_SCENARIOS_MAX = 64, CM_SCENARIO_NAME_MAX = 64 };
typedef char cm_scenario_name[CM_SCENARIO_NAME_MAX];

typedef struct cm_topology {
  bool directed;
  uint32_t vertex_count;
  uint32_t net_count;    /* directed: axons that have a target; undirected: vertex_count */
  uint64_t pin_count;    /* directed: synapses; undirected: twice the edges */
  uint64_t *net_first;   /* [net_count + 1] where each net's pins start */
  uint32_t *net_source;  /* [net_count] ascending; NULL: net e belongs to vertex e */
  uint64_t *net_weight;  /* [net_count] scaled rate of the axon; undirected: NULL */
  uint32_t *pin;         /* [pin_count] target vertices, ascending and distinct inside a net */
  uint32_t *pin_weight;  /* [pin_count] scaled weight of each synapse or edge;
                            NULL: its net's weight (directed) or weight_scale (undirected) */
  int weight_exponent;   /* synapses weigh 2^weight_exponent times what pin_weight / weight_scale says; 0 for most */
  uint64_t *pin_negative; /* bit i % 64 of word i / 64: pin i's weight is negative; NULL: none is */
  uint32_t *pin_delay;   /* [pin_count] in units of delay_unit_ns; NULL: none is known */
  uint64_t delay_unit_ns; /* 1, 1000 or 1000000; 0 without delays */
  uint32_t *size;        /* [vertex_count] sizes of the vertices; NULL: 1 each */
  uint64_t size_total;   /* sum of sizes */
  uint64_t weight_scale; /* 1 where all weights are integers, else a power of two */
  char *label_text;      /* names of the vertices, NUL-terminated one after another; NULL: none */
  uint64_t *label_first; /* [vertex_count + 1] where each name starts in label_text */
  uint32_t population_count;
  cm_population *population;  /* [population_count]; NULL: none is known */
  uint32_t *population_of;    /* [vertex_count]; NULL without populations */
  uint32_t scenario_count;    /* 0: net_weight is all that is known of the rates; else at least 2 */
  cm_scenario_name *scenario_name; /* [scenario_count] all different */
  uint64_t *scenario_rate;    /* [scenario_count * net_count] scaled rates, scenario by scenario; net_weight is their mean */
  cm_dynamics *dynamics;      /* NULL: the network says nothing of how it runs */
  const struct cm_topology *lender; /* whose arrays all are that stand there too (core/network/measured.h); NULL: they are its own */
  struct cm_measured *measured; /* where its rates are from; NULL: from a file */
  /* What the reader merged or dropped: */
  uint64_t duplicate_count;  /* repeated synapses or edges, merged (weights added) */
  uint64_t self_loop_count;  /* directed: kept as synapses of the core itself; undirected: dropped */
  uint32_t empty_net_count;  /* hyperedges without targets, dropped */
  uint64_t zero_count;       /* synapses of weight 0: kept, or dropped where that was asked for */
} cm_topology;

/* What a network that is made of another, and the header of its file, have as it has it. */
#define CM_TOPOLOGY_FACTS(FACT)                                                                                                    \
  FACT(directed) FACT(vertex_count) FACT(weight_scale) FACT(duplicate_count) FACT(self_loop_count) FACT(empty_net_count)           \
  FACT(zero_count) FACT(weight_exponent) FACT(delay_unit_ns)

/* Frees a topology and its arrays; NULL is allowed. */
void cm_topology_free(cm_topology *topology);

/* The number of a scenario by its name; scenario_count when there is none of that name. */
uint32_t cm_topology_find_scenario(const cm_topology *topology, const char *name);

/* The source vertex of net e. O(1). */
static inline uint32_t cm_topology_source(const cm_topology *topology, uint32_t net)
{
  return topology->net_source ? topology->net_source[net] : net;
}

/* The scaled weight of a net's axon; undirected: weight_scale. O(1). */
static inline uint64_t cm_topology_net_weight(const cm_topology *topology, uint32_t net)
{
  return topology->net_weight ? topology->net_weight[net] : topology->weight_scale;
}

/* The scaled weight of pin i, which lies in net `net`. O(1). */
static inline uint64_t cm_topology_pin_weight(const cm_topology *topology, uint32_t net, uint64_t i)
{
  return topology->pin_weight ? topology->pin_weight[i] : cm_topology_net_weight(topology, net);
}

/* The first pin of a net that is `least` or more, by bisection; the net's end when none is. */
static inline uint64_t cm_topology_first_pin(const cm_topology *topology, uint32_t net, uint32_t least)
{
  uint64_t low = topology->net_first[net], high = topology->net_first[net + 1];
  CM_BISECT(low, high, at, topology->pin[at] < least)
  return low;
}

static inline uint32_t cm_topology_size(const cm_topology *topology, uint32_t vertex)
{
  return topology->size ? topology->size[vertex] : 1;
}

/* Whether the weight of pin i is negative. O(1). */
static inline bool cm_topology_pin_negative(const cm_topology *topology, uint64_t i)
{
  return topology->pin_negative != NULL && (topology->pin_negative[i / 64] >> i % 64 & 1) != 0;
}

/* The weight of pin i, which lies in net `net`, as its file gave it: with its sign, unscaled. O(1). */
double cm_topology_pin_value(const cm_topology *topology, uint32_t net, uint64_t i);

/* The delay of pin i in milliseconds; 0 without delays. O(1). */
double cm_topology_pin_delay_ms(const cm_topology *topology, uint64_t i);

/* Number of neurons in populations of kind CM_INPUT_KIND. O(vertices). */
uint32_t cm_topology_inputs(const cm_topology *topology);

/* Whether a neuron is in a population of kind CM_INPUT_KIND. O(1). */
bool cm_topology_is_input(const cm_topology *topology, uint32_t vertex);

/* Number of synapses (directed) or edges (undirected) of negative weight. O(pins / 64). */
uint64_t cm_topology_negatives(const cm_topology *topology);

/* A vertex's name, or NULL when the network has none. */
const char *cm_topology_label(const cm_topology *topology, uint32_t vertex);

/* Number of synapses (directed) or edges (undirected). */
uint64_t cm_topology_synapses(const cm_topology *topology);

/* Number of hyperedges that the network has (directed; not those that were dropped) or of edges (undirected). */
uint64_t cm_topology_hyperedges(const cm_topology *topology);

/* Checks every invariant above (offsets ascend, pins in range, ascending and distinct, sources ascend,
 * undirected rows symmetric without loops). O(pins log pins). CM_BAD_NETWORK with the first violation. */
cm_status cm_topology_verify(const cm_topology *topology, cm_error *error);
