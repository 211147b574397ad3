/* The result of a partition stage, and what every method needs around it. */
#pragma once

#include "core/partition/graph.h"

typedef struct cm_partition {
  uint32_t vertex_count, part_count;
  uint32_t *part;  /* [vertex_count] */
  cm_graph *parts; /* the parts as a graph: what they say to each other, scaled; NULL: not made yet, or `core` is given */
  uint32_t *core;  /* [part_count] core number of each part, from a method that places as it partitions; else NULL */
  uint8_t *kind;   /* [part_count] kind of core (core/chip/classes.h) that each part needs; NULL: any */
  uint32_t regions, region_chosen; /* how many that method compared, and which it took */
} cm_partition;

/* All vertices in part 0, for a method to fill. */
cm_status cm_partition_new(uint32_t vertices, cm_run *run, cm_partition **partition, cm_error *error);
void cm_partition_free(cm_partition *partition); /* NULL is allowed */

/* Renumbers parts without gaps, in the order of their old numbers; *parts becomes the number of those that have a
 * vertex. O(vertices + parts). */
cm_status cm_close_gaps(uint32_t *part, uint32_t vertices, uint32_t *parts, cm_run *run, cm_error *error);

/* A part by its neurons. */
typedef struct cm_part_size {
  uint64_t neurons;
  uint32_t part;
} cm_part_size;

/* Smallest first, equal ones by number. */
void cm_sort_parts(cm_part_size *list, uint32_t count);

/* The refusal of a method that would need more parts than there are cores: CM_NO_ROOM. */
cm_status cm_refuse_parts(uint64_t needed, uint64_t free, cm_error *error);
