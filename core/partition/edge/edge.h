/* Partitioning for the least weight of edges between parts of limited size (objective `edge`):
 * multilevel. docs/explanation/edge-partitioning.md explains the method and its sources. */
#pragma once

#include "core/partition/edge/csr_graph.h"
#include "core/partition/partition.h"

typedef struct cm_edge_options {
  uint32_t parts;         /* exactly so many, none empty; 0: as few as their size allows */
  uint32_t parts_max;     /* with parts 0: at most so many */
  uint64_t most;          /* a part's size is at most this: hard */
  uint32_t starts;        /* initial partitions, the best stays */
  uint32_t starts_many;   /* the same where parts are many; 0: as many */
  uint32_t tries;         /* growings per bisection */
  double coarse_vertices; /* vertices per part on the coarsest level, about */
  double anneal_sweeps;   /* annealing on the coarsest level, in visits of the border; fewer on finer ones; 0: none */
  uint32_t label_rounds; /* of label propagation a level */
  uint32_t fm_rounds, loose_rounds; /* of refinement over all parts a level (cm_kway_fm_options); 0: pairs of parts on all */
  bool large_once;        /* on the larger ones of these levels one round: a tight one where cycles follow, else a loose one */
  uint32_t rounds;        /* of two-way refinement on large levels, and where parts are full */
  uint32_t patience;      /* of two-way refinement */
  double least_tie;       /* of its starting points: see cm_quotient_fm_options */
  double flow_reach;      /* of cm_edge_flow on the finest level, where all parts are refined at once and no cycle follows; 0: none */
  uint32_t flow_rounds;
  double flow_worth;      /* cm_flow_options.worth */
  uint32_t cycles;        /* V-cycles after the first descent */
  /* A smaller effort of which `members` results, the first with this seed, are combined with that of this effort in `unions` of two, so
   * that more effort is never worse: limits, parts and seed are those here. NULL: none. */
  const struct cm_edge_options *below;
  uint32_t members, unions;
  uint32_t split_sweeps, sweeps; /* of cm_affinity_options, where a graph would be too large */
  uint32_t more_sweeps;   /* the same where it would have nothing to coarsen by; 0: small networks are graphs always */
  uint64_t seed;
} cm_edge_options;

/* The parts as a graph: the weight of an edge is that of all synapses between its ends. Sizes are 1. O(pins),
 * memory for pairs of parts or the CSR graph, whichever is less. */
cm_status cm_graph_of_synapses(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                               cm_graph **graph, cm_error *error);

/* Memory that cm_partition_by_edges needs at least besides the topology. O(vertices). */
uint64_t cm_edges_least_bytes(const cm_demand *demand, const cm_edge_options *options);

/* Partitions a topology: its graph (or its ties, see affinity.h), the number of parts, cm_partition_edges (with one
 * part more where sizes do not fit), and what the parts say to each other. CM_NO_ROOM when parts_max are not
 * enough. */
cm_status cm_partition_by_edges(const cm_demand *demand, const cm_edge_options *options, cm_run *run,
                                cm_partition **partition, cm_error *error);

/* Fills part [vertices] with numbers 0 .. options->parts - 1, no part above options->most, with a small cut. Sizes
 * and number of parts are the caller's to make fit; CM_LIMIT_BROKEN when no way was found. *cut is in the graph's
 * units. Phases "coarsen", "initial", "refine". */
cm_status cm_partition_edges(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *part,
                             uint64_t *cut, cm_error *error);
