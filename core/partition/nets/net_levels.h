/* Coarser and coarser hypergraphs of small nets. */
#pragma once

#include "core/partition/multilevel.h"
#include "core/partition/nets/net_graph.h"

typedef struct cm_net_levels_options {
  uint32_t vertices_min; /* stop at about so many */
  uint64_t size_max;     /* of a vertex that others have joined */
  const uint32_t *label; /* [vertices of the finest] never merged across; NULL: none */
  uint64_t seed, stream;
} cm_net_levels_options;

/* Each vertex that is alone joins the neighbouring cluster with the highest sum over shared nets of weight / (pins - 1)
 * (heavy edges), in random order; a level ends where it has 2.5 times fewer vertices. Stops early where a level hardly shrinks.
 * O(64 * pins): of nets of more than 64 pins every vertex asks a run of 16, those of more than a thousand are not asked. */
cm_status cm_net_levels_build(cm_net_graph *finest, const cm_net_levels_options *options, cm_run *run, cm_hierarchy *hierarchy,
                              cm_error *error);
