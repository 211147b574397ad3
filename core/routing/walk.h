/* Walks over the flows of routes: the tree that each takes. */
#pragma once

#include "core/chip/interconnect/path_trees.h"
#include "core/routing/routes.h"

/* Fills in the flows. Shapes are 0. */
cm_status cm_routes_flows(cm_routes *routes, cm_run *run, cm_error *error);

/* Walks the trees of flows. */
typedef struct cm_walker {
  const cm_routes *routes;
  cm_tracer *tracer;
  cm_way_tracer *ways; /* of an interconnect; then there is no tracer */
  uint32_t *router_of; /* [parts] */
  uint32_t *router; /* routers of a flow's targets */
  size_t room;
  cm_memory *memory;
} cm_walker;

cm_status cm_walker_new(const cm_routes *routes, cm_memory *memory, cm_walker *walker, cm_error *error);
void cm_walker_free(cm_walker *walker);

/* The tree of a flow with other shapes than its own. CM_NO_ROUTE names the flow. */
cm_status cm_walk_flow(cm_walker *walker, uint32_t flow, unsigned shapes, cm_tree *tree, cm_error *error);

/* The tree of a flow on an interconnect. CM_NO_ROUTE names the flow. */
cm_status cm_walk_ways(cm_walker *walker, uint32_t flow, cm_way_tree *tree, cm_error *error);

/* On an interconnect: loads, links and virtual channels of all flows, then the proof that they cannot deadlock. */
cm_status cm_routes_ways(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error);

/* On a grid or hexagonal interconnect with tables under a limit: hangs routers of trees on others of the same tree, where fewer ways
 * out of routers differ then. Trees keep their routers, packets come at most a hop later than by the shortest way, and no link
 * carries more than routes->load_max. O(rounds * links of all trees * links of a router). */
cm_status cm_routes_share(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error);
