/* Bisection by greedy growing (source 0, steps s3-1 and s3-2). */
#pragma once

#include "core/partition/graph.h"
#include "core/partition/options.h"

/* How much a growing side is to hold. */
typedef struct cm_half {
  bool by_size;    /* measure sizes rather than vertices */
  uint64_t target; /* vertices, or size, of the selected side */
} cm_half;

/* What a bisection is tried by, and how often. */
typedef struct cm_bisect_options {
  cm_half half;
  uint32_t tries;
  uint64_t seed, node; /* the random streams are (seed, stream, node, try) */
  enum cm_random_stream stream;
} cm_bisect_options;

/* The best of `tries` growings: from a random vertex, always takes the vertex with the least (weight to unselected -
 * weight to selected), the one that has waited longest of equals, until the target is met (by size: as nearly as
 * whole vertices allow). side [vertex_count] is 1 for selected vertices, 0 for others; both sides have a vertex
 * where the graph has two and 0 < target < all. O(tries * entries
 * log vertices). */
cm_status cm_bisect(const cm_graph *graph, const cm_bisect_options *options, cm_run *run, uint8_t *side, uint64_t *cut,
                    cm_error *error);

/* Recursive bisection into parts within the capacity: halves by vertex count while a side exceeds it, or, with
 * options->parts, by size in proportion to the parts that each side is to become. Fills part [vertex_count],
 * numbered from 0 in order of the recursion; *parts says how many. A vertex larger than the capacity is CM_INTERNAL:
 * the caller has checked. */
cm_status cm_bisect_recursively(const cm_graph *graph, const cm_partition_options *options, cm_run *run,
                                uint32_t *part, uint32_t *parts, cm_error *error);
