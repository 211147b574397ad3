/* The directed hypergraph on which the axon objective is partitioned: every net is one axon with its source, its
 * weight (spike rate) and its distinct targets. Lists are read from their beginning, by cm_targets and cm_nets: level 0
 * may read the topology's targets, all other lists are packed (lists.h), one to two bytes an entry. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/run.h"
#include "core/network/demand.h"
#include "core/partition/axon/lists.h"
#include "core/partition/axon/packed_pins.h"

/* So many targets of a net are many. */
enum { CM_MANY = 64 };

/* Ranges of nets that threads may work on side by side, each with arrays of its own. */
enum { CM_RANGES_MAX = 8 };

typedef struct cm_hypergraph {
  uint32_t vertex_count, net_count;
  uint64_t pin_count;
  const uint32_t *pin;      /* level 0: targets as numbers of the topology, whose array it is; NULL: in `code` */
  const unsigned char *code; /* level 0: a list of each net's targets as numbers of the topology; others: plain ones, in any order */
  uint64_t *net_begin;      /* [net_count] where the targets of a net begin in `pin` or `code` */
  uint32_t *net_targets;    /* [net_count] number of its targets, distinct */
  uint32_t *net_source;     /* [net_count] */
  const uint32_t *net_weight; /* [net_count] rates, to 32 bits; heaviest net first */
  uint32_t reach_max; /* parts that the source of a net reaches before it needs a copy beside it; 0: any number, or several nets
                               are of one source */
  const uint32_t
    *net_size; /* [net_count] what the net's own source, and each copy of it, takes of a part's neurons; NULL: reach_max is 0 */
  uint32_t *in_count;       /* [vertex_count] nets that have the vertex as a target, where in_counted */
  bool in_counted;          /* of level 0, and once they have been listed */
  uint64_t *in_begin;       /* [vertex_count] where they begin in `in_code`; NULL: not listed */
  unsigned char *in_code;   /* these nets, heaviest first */
  uint32_t *out_first;      /* [vertex_count + 1] */
  uint32_t *out_net;        /* [net_count] nets whose source the vertex is, ascending */
  uint32_t *size;           /* [vertex_count] */
  uint64_t *synapses;       /* [vertex_count] that end in the vertex */
  uint32_t *number;         /* [vertex_count] of level 0: the number here of each vertex of the topology; else NULL */
  uint32_t *own_net_weight; /* of level 0: coarser ones borrow it */
  uint32_t *own_net_size;   /* of level 0: coarser ones borrow it */
  unsigned char *own_code;  /* of coarser levels: level 0 reads the packed topology */
  cm_packed_pins packed;    /* the topology's targets */
} cm_hypergraph;

void cm_hypergraph_free(cm_hypergraph *graph); /* NULL is allowed */

typedef struct cm_hypergraph_kind {
  bool packed;    /* nobody else reads the topology's targets until the hypergraph is freed, so that they may be packed (cm_pins_pack) */
  bool unordered; /* nets and vertices keep their numbers, and weights are left out */
} cm_hypergraph_kind;

/* The hypergraph of a topology, which must outlive it. Nets are numbered from the heaviest to the lightest, vertices by
 * locality (cm_number_by_locality). O(pins). */
cm_status cm_hypergraph_from_topology(const cm_demand *demand, cm_hypergraph_kind kind, cm_run *run, cm_hypergraph **graph,
                                      cm_error *error);

/* Merges vertices with equal map[v] < coarse_count. Nets stay, with their targets merged, so that inbound axons are
 * counted exactly; the coarse level borrows the weights of `graph`. O(pins). */
cm_status cm_hypergraph_contract(const cm_hypergraph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                 cm_hypergraph **coarse, cm_error *error);

/* The targets of a coarse level again, after they were dropped: the same. O(pins of `graph`). */
cm_status cm_hypergraph_merge_targets(const cm_hypergraph *graph, const uint32_t *map, cm_hypergraph *coarse, cm_run *run,
                                      cm_error *error);
void cm_hypergraph_drop_targets(cm_hypergraph *coarse);

/* Lists the inbound nets of the vertices, unless they are listed: one to two bytes a pin. O(pins). */
cm_status cm_hypergraph_list_inbound(cm_hypergraph *graph, cm_run *run, cm_error *error);
void cm_hypergraph_drop_inbound(cm_hypergraph *graph);

/* Whether nets have so many targets on average that candidates for merging meet in bands (bands.h): targets of any net are too
 * many to look at, and most of them share little. Where they have fewer, bands miss some of the few that share most. O(1). */
bool cm_hypergraph_reaches_many(const cm_hypergraph *graph);

/* The targets of a net that are still to come. */
typedef struct cm_targets {
  const uint32_t *pin, *number;
  cm_list list;
  uint32_t left;
} cm_targets;

static inline cm_targets cm_targets_of(const cm_hypergraph *graph, uint32_t net)
{
  uint64_t begin = graph->net_begin[net];
  cm_targets targets = {.number = graph->number, .left = graph->net_targets[net]};
  if (graph->pin != NULL)
    targets.pin = graph->pin + begin;
  else if (graph->number != NULL)
    targets.list = cm_list_of(graph->code + begin, targets.left, graph->vertex_count);
  else
    targets.list = cm_list_plain(graph->code + begin, cm_list_bits(graph->vertex_count));
  return targets;
}

/* The next target, on level 0 by its number in the topology. While any is left. */
static inline uint32_t cm_targets_next_kept(cm_targets *targets)
{
  targets->left--;
  if (targets->pin != NULL)
    return *targets->pin++;
  return targets->number != NULL ? cm_list_next(&targets->list) : cm_list_next_low(&targets->list);
}

/* The next target. While any is left. */
static inline uint32_t cm_targets_next(cm_targets *targets)
{
  uint32_t kept = cm_targets_next_kept(targets);
  return targets->number != NULL ? targets->number[kept] : kept;
}

/* The inbound nets of a vertex that are still to come: of a graph that lists them. */
typedef struct cm_nets {
  cm_list list;
  uint32_t left;
} cm_nets;

static inline cm_nets cm_nets_into(const cm_hypergraph *graph, uint32_t v)
{
  uint32_t count = graph->in_count[v];
  return (cm_nets){.list = cm_list_of(graph->in_code + graph->in_begin[v], count, graph->net_count), .left = count};
}

/* The next net. While any is left. */
static inline uint32_t cm_nets_next(cm_nets *nets)
{
  nets->left--;
  return cm_list_next(&nets->list);
}
