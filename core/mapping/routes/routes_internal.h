/* What the files of routes share. */
#ifndef CM_MAPPING_ROUTES_INTERNAL_H
#define CM_MAPPING_ROUTES_INTERNAL_H

#include "core/chip/interconnect/trees.h"
#include "core/mapping/routes/routes.h"
#include "core/mapping/routes/words.h"

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

/* One entry of a router's table: packets whose key equals `key` in all bits but those of `open` go along the links (bits
 * 0 to 3, cm_direction) and to the cores behind the router (bit 4 + core) of `word`; on an interconnect those of word number `word`
 * of routes->words. */
typedef struct cm_table_entry {
  uint64_t key, open, word;
  uint32_t router;
  bool straight; /* packets would leave like this without an entry */
} cm_table_entry;

/* Calls for every entry, part by part. A packet without an entry leaves a router straight on. Where tables were minimised
 * (routes->table): router by router, first match first. */
typedef cm_status (*cm_table_visit)(void *user, const cm_table_entry *entry, cm_error *error);
cm_status cm_tables_walk(const cm_routes *routes, cm_run *run, cm_table_visit visit, void *user, cm_error *error);

/* The same before anything is minimised: keys of aligned blocks with one way out of a router, those that go straight on too,
 * with only those bits open in which they differ. Every axon's key is in exactly one block of each router of its tree. */
cm_status cm_blocks_walk(const cm_routes *routes, cm_run *run, cm_table_visit visit, void *user, cm_error *error);

/* The first key of a part. */
static inline uint64_t cm_routes_key(const cm_routes *routes, uint32_t part)
{
  return (uint64_t)(routes->key_block != NULL ? routes->key_block[part] : part) << routes->rank_bits;
}

/* What parts do at routers: which ways out their axons take there. */
typedef struct cm_part_way {
  uint32_t router, part;
  uint64_t word;
} cm_part_way;

/* Allots blocks of keys to parts (routes->key_block), so that parts whose axons leave many routers the same
 * way share aligned blocks. `way` has each way once and is reordered. O(parts log^2(parts) + ways log(ways) log(parts)). */
cm_status cm_routes_order_keys(cm_routes *routes, cm_part_way *way, size_t count, cm_run *run, cm_error *error);

/* Allots blocks of keys by where parts are: by row, column and core (under YX column first). *made is false where keys would
 * need more than 32 bits for it: nothing changes. O(parts). */
cm_status cm_routes_place_keys(cm_routes *routes, cm_run *run, bool *made, cm_error *error);

/* Minimises all tables under the chip's limit on entries: routes->key_block, table, table_first, entries and what is counted of
 * them. CM_LIMIT_BROKEN where a table does not fit: figures "entries" and "limit". */
cm_status cm_tables_fit(cm_routes *routes, cm_run *run, cm_error *error);

#endif
