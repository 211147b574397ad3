/* Communities of a graph of parts: sets that talk among themselves more than with others, so that each can be given to
 * one processor (source 1, steps s300 and s400). */
#pragma once

#include "core/partition/graph.h"

typedef struct cm_unfold_options {
  uint32_t tries; /* visiting orders, of which the best result counts; at least 1 */
  uint64_t seed;
} cm_unfold_options;

/* What the seed calls a community's parameters. */
typedef struct cm_community {
  uint32_t nodes;          /* its own vertices */
  uint32_t adjacent_nodes; /* vertices of all communities with an edge to it */
  uint64_t weight;         /* of the edges to other communities, scaled */
} cm_community;

/* Fast unfolding (Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks", Journal
 * of Statistical Mechanics 2008): vertices move to the neighbouring community that raises modularity most until none
 * does, communities become vertices, and again until modularity stops growing; at the end vertices of every level are
 * looked at once more, from the coarsest to the finest. Gains are compared exactly, as integers. Fills community
 * [vertices] with numbers from 0, ascending by lowest member; *count says how many (vertices without edges are alone).
 * `count` and `community` depend on the graph and the options alone. O(tries * rounds * entries). CM_TOO_LARGE when
 * twice the total weight passes 2^62. */
cm_status cm_communities_find(const cm_graph *graph, const cm_unfold_options *options, cm_run *run,
                              uint32_t *community, uint32_t *count, cm_error *error);

/* Brings communities to processors: at most `processors` of them, as many as there are processors where there are as
 * many vertices, and so large that there is a one-to-one assignment to processors of these capacities (the k-th
 * largest is at most the k-th largest capacity). Small communities join those that they talk to most, those too large
 * are split, then vertices move and swap between communities as long as less weight runs between them. `community`
 * [vertices] and *count are read and overwritten. capacity [processors] in vertices; CM_NO_ROOM when they hold fewer
 * than the graph has. O(rounds * (entries + vertices * processors)). */
cm_status cm_communities_fit(const cm_graph *graph, const uint32_t *capacity, uint32_t processors, cm_run *run,
                             uint32_t *community, uint32_t *count, cm_error *error);

/* Makes every community c fit room[c] vertices, at least 1: those too large lose vertices to those with room, then
 * vertices move and swap as above. community [vertices] is read and overwritten, every community keeps a vertex.
 * CM_NO_ROOM as above. */
cm_status cm_communities_cut(const cm_graph *graph, const uint32_t *room, uint32_t count, cm_run *run,
                             uint32_t *community, cm_error *error);

/* The parameters of all communities, list [count]. O(entries log(degree)). */
cm_status cm_communities_describe(const cm_graph *graph, const uint32_t *community, uint32_t count, cm_run *run,
                                  cm_community *list, cm_error *error);
