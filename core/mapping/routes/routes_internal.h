/* What the files of routes share. */
#ifndef CM_MAPPING_ROUTES_INTERNAL_H
#define CM_MAPPING_ROUTES_INTERNAL_H

#include "core/mapping/routes/routes.h"

enum { CM_LOCAL_CORES_MAX = 60 };

/* Fills in the flows. Shapes are 0. */
cm_status cm_routes_flows(cm_routes *routes, cm_run *run, cm_error *error);

/* Walks the trees of flows. */
typedef struct cm_walker {
  const cm_routes *routes;
  cm_tracer *tracer;
  uint32_t *router; /* routers of a flow's targets */
  size_t room;
  cm_memory *memory;
} cm_walker;

cm_status cm_walker_new(const cm_routes *routes, cm_memory *memory, cm_walker *walker, cm_error *error);
void cm_walker_free(cm_walker *walker);

/* The tree of a flow with other shapes than its own. CM_NO_ROUTE names the flow. */
cm_status cm_walk_flow(cm_walker *walker, uint32_t flow, unsigned shapes, cm_tree *tree, cm_error *error);

/* One entry of a router's table: packets whose key without its `span` lowest bits equals `key` go along the links (bits
 * 0 to 3, cm_direction) and to the cores behind the router (bit 4 + core) of `word`. */
typedef struct cm_table_entry {
  uint64_t key, word;
  uint32_t router;
  uint32_t span;
} cm_table_entry;

/* Calls for every entry, part by part. A packet without an entry leaves a router straight on. */
typedef cm_status (*cm_table_visit)(void *user, const cm_table_entry *entry, cm_error *error);
cm_status cm_tables_walk(const cm_routes *routes, cm_run *run, cm_table_visit visit, void *user, cm_error *error);

#endif
