/* Tables of routers: entries, keys, and tables that fit. */
#pragma once

#include "core/routing/routes.h"
#include "core/routing/words.h"

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
