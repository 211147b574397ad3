/* A model under way, shared by the files that build it (model.c). */
#pragma once

#include "core/constraints/model.h"

/* A model as it grows. */
typedef struct cm_model_building {
  cm_place_model *m;
  const cm_problem *p;
  const cm_left_out *out;
  cm_memory *memory;
  uint32_t *leader;  /* [nodes] union-find of nodes that share a tile */
  uint64_t *role;    /* [variables] hash of what a variable does in all constraints */
  struct pair {
    uint32_t from;
    cm_relation relation;
  } *pair;
  const cm_constraint **tabled; /* [constraints] the first one of each pair of tables */
  uint64_t pair_count, pair_capacity, table_capacity, packing_capacity, chain_capacity;
} cm_model_building;

static inline uint64_t *cm_model_domain(cm_place_model *m, uint32_t variable)
{
  return &m->domain[(size_t)variable * m->words];
}

/* model_tiles.c: numbers of the blocks, columns, ... of a scope, and their tiles; where they are not there yet. O(tiles). Errors: memory. */
cm_status cm_model_label(cm_model_building *building, cm_scope scope, cm_error *error);

/* Two tables: what goes with a tile of the first, and with a tile of the second; one pair for all constraints of one relation. O(tiles^2). Errors:
 * CM_TOO_LARGE, memory. */
cm_status cm_model_tables(cm_model_building *building, const cm_constraint *constraint, uint32_t *first, cm_error *error);

/* Tiles behind the same router, or one that is linked to it. O(tiles^2). */
cm_status cm_model_links(cm_model_building *building, cm_error *error);

/* problem_circuits.c: circuits between variables, if they are limited. O(edges). Errors: memory. */
cm_status cm_model_collect_circuits(cm_model_building *building, cm_error *error);

/* model_lookup.c: relations by variable, nets of variables, variables that are alike. O(relations + pins + variables^2). Errors: memory. */
cm_status cm_model_sort_relations(cm_model_building *building, cm_error *error);
cm_status cm_model_collect_nets(cm_model_building *building, cm_error *error);
cm_status cm_model_find_alike(cm_model_building *building, cm_error *error);
