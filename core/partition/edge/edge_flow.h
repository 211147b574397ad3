/* Refinement of an edge partition by maximum flows between pairs of parts. */
#pragma once

#include "core/partition/edge/kway.h"
#include "core/partition/flow_pairs.h"

/* See cm_flow_refine: edges are arcs both ways, those out of the region lead to the source and the sink. *gain: what the cut has
 * lost, in the graph's units. O(rounds * pairs * cut * entries of a region) at worst. */
cm_status cm_edge_flow(cm_kway *state, const cm_flow_options *options, int64_t *gain, cm_error *error);

/* ---- for its tests ---- */

/* The region's vertices and what joins them as a network; capacities are weights. O(entries of their rows). */
cm_status cm_edge_flow_network(const cm_kway *state, cm_flow_region *region, cm_error *error);
