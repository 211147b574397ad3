/* The fewest entries for one router's table: keys, masks and routes of which the first that matches counts, as in a ternary
 * content-addressable memory; a packet that none matches goes straight on. */
#pragma once

#include "base/run.h"

/* Keys that leave the router alike: those of an aligned block that equal `key` in all bits but those of `open`. Other keys
 * never come here. */
typedef struct cm_key_block {
  uint64_t key, open, word;
  bool straight; /* no entry is as good */
} cm_key_block;

/* Blocks that are distinct and ascend. */
typedef struct cm_key_blocks {
  const cm_key_block *block;
  size_t count;
  unsigned key_bits; /* at most 63 */
} cm_key_blocks;

/* Matches keys that equal `key` in all bits but those of `open`. */
typedef struct cm_ternary {
  uint64_t key, open, word;
} cm_ternary;

/* Entries in order: the first that matches counts. */
typedef struct cm_ternary_table {
  cm_ternary *entry;
  size_t count;
} cm_ternary_table;

/* How long entries are merged: until so many are left, or so many steps done. */
typedef struct cm_merging {
  size_t enough;
  uint64_t work;
} cm_merging;

/* Makes a table for blocks. First the fewest entries that leave only
 * lowest bits open (prefixes): by the parsimony of Fitch on the trie of the blocks, as in Draves, King, Venkatachary, Zill,
 * "Constructing optimal IP routing tables" (INFOCOM 1999), with the router's going straight on as a route that is free where
 * nothing lies above. Then entries of one route are merged into ternary ones, ordered by how much they leave open (after
 * Mundy, Heathcote, Garside, "On-chip order-exploiting routing table minimization", 2016), while every block keeps its route.
 * The caller frees table->entry. Errors: memory.
 * O(blocks * routes of a subtree) + work. */
cm_status cm_minimise(const cm_key_blocks *blocks, cm_merging until, cm_memory *memory, cm_ternary_table *table, cm_error *error);

/* The second half: merges entries, of which entry owner[b] is the first that matches all of block b (UINT32_MAX: none does, it
 * goes straight on). Entries ascend by the number of open bits; their count becomes smaller. */
cm_status cm_merge_ternary(const cm_key_blocks *blocks, cm_merging until, cm_memory *memory, cm_ternary_table *table,
                           uint32_t *owner, cm_error *error);
