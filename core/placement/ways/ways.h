/* Placement on any interconnect (core/chip/interconnect): distances come from an oracle, nothing is known of axes. Runs of
 * 4^l parts in a linear order are blocks, runs of as many cores in an order that follows the ways are cells; blocks are put on
 * cells and annealed by exchanges with exact differences, the largest first, and taken apart by four. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/task.h"

typedef struct cm_way_options {
  double entries; /* of graphs that are looked at, in all */
  bool refines;  /* at [parts] says where parts stand: they are annealed from there, cold, and never worse off */
  double layout; /* share of them for a start by layout (mode_layout.h) beside that by blocks, where it takes no more; 0: none */
} cm_way_options;

typedef struct cm_way_result {
  uint64_t before, after; /* sum over edges of weight * energy units of the ways, along both orders and at the end */
  uint64_t moves;         /* exchanges taken */
} cm_way_result;

/* Fills, or improves, at [parts] with numbers of cores in the region, no two the same, at most as many parts as cores. Does not depend on
 * threads. Phases "order", "place". Memory 8 bytes a pair of routers of the region up to CM_TABLE_ROUTERS_MAX of them, 16 bytes an
 * entry. */
cm_status cm_place_by_ways(const cm_graph *parts, const cm_place_task *task, const cm_way_options *options, uint32_t *at,
                           cm_way_result *result, cm_error *error);

/* Orders the cores of a region so that cores near each other in the order are near by ways: along Hilbert's curve on meshes and grids, by
 * halves of the routers between two that are far apart on others. order [core_count] numbers of cores in the region.
 * O(cores log cores), O(routers) distances for each halving. */
cm_status cm_order_by_ways(const cm_chip *chip, const cm_region *region, cm_run *run, uint32_t *order, cm_error *error);
