/* The topology: what a user uploads, in memory.
 *
 * Directed networks (spiking networks) are hypergraphs: every net is one axon, with a source vertex, a
 * weight (spike rate) and its target vertices (pins). Undirected networks (graphs) use the same rows with
 * one net per vertex that lists all neighbours, so that every edge stands in two rows.
 *
 * Weights are integers: value * weight_scale, rounded. Sums are therefore exact and independent of order.
 */
#ifndef CM_NETWORK_TOPOLOGY_H
#define CM_NETWORK_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/memory.h"
#include "core/base/status.h"

/* The largest counts that a topology may have. */
#define CM_VERTICES_MAX UINT32_C(0x7ffffffe)
#define CM_PINS_MAX UINT64_C(0x7fffffffffff)

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
  uint32_t *size;        /* [vertex_count] sizes of the vertices; NULL: 1 each */
  uint64_t size_total;   /* sum of sizes */
  uint64_t weight_scale; /* 1 where all weights are integers, else a power of two */
  char *label_text;      /* names of the vertices, NUL-terminated one after another; NULL: none */
  uint64_t *label_first; /* [vertex_count + 1] where each name starts in label_text */
  /* What the reader merged or dropped: */
  uint64_t duplicate_count;  /* repeated synapses or edges, merged (weights added) */
  uint64_t self_loop_count;  /* directed: kept as synapses of the core itself; undirected: dropped */
  uint32_t empty_net_count;  /* hyperedges without targets, dropped */
} cm_topology;

/* Frees a topology and its arrays; NULL is allowed. */
void cm_topology_free(cm_topology *topology);

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
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (topology->pin[middle] < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline uint32_t cm_topology_size(const cm_topology *topology, uint32_t vertex)
{
  return topology->size ? topology->size[vertex] : 1;
}

/* A vertex's name, or NULL when the network has none. */
const char *cm_topology_label(const cm_topology *topology, uint32_t vertex);

/* Number of synapses (directed) or edges (undirected). */
uint64_t cm_topology_synapses(const cm_topology *topology);

/* Number of hyperedges (directed, those without targets included) or edges (undirected). */
uint64_t cm_topology_hyperedges(const cm_topology *topology);

/* Checks every invariant above (offsets ascend, pins in range, ascending and distinct, sources ascend,
 * undirected rows symmetric without loops). O(pins log pins). CM_BAD_NETWORK with the first violation. */
cm_status cm_topology_verify(const cm_topology *topology, cm_error *error);

#endif
