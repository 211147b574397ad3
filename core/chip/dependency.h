/* The channel dependency graph: links as nodes, an arc from each link to every link that some packet takes next. Routes
 * are free of deadlock when it has no cycle (Dally and Seitz, IEEE Transactions on Computers 1987). A packet is held by
 * one router at a time (or by links along its way), so that a branching tree waits as its branches do. */
#pragma once

#include "core/chip/turn_trees.h"

typedef struct cm_dependencies {
  uint32_t routers_x, routers_y;
  uint32_t low, high; /* all links noted are low .. high - 1: of the arrays, which are only reserved, no more is in use */
  uint8_t *used; /* [routers] bit d: some packet takes the link in direction d */
  uint8_t *next; /* [routers * CM_DIRECTIONS] by link, router * CM_DIRECTIONS + direction; bit d: goes on that way */
} cm_dependencies;

cm_status cm_dependencies_new(const cm_chip *chip, cm_memory *memory, cm_dependencies *graph, cm_error *error);
void cm_dependencies_free(cm_dependencies *graph);

static inline void cm_dependencies_note(cm_dependencies *graph, uint32_t link)
{
  graph->low = link < graph->low ? link : graph->low;
  graph->high = link >= graph->high ? link + 1 : graph->high;
}

static inline void cm_dependencies_use(cm_dependencies *graph, uint32_t link)
{
  cm_dependencies_note(graph, link);
  graph->used[link / CM_DIRECTIONS] |= (uint8_t)(1u << link % CM_DIRECTIONS);
}

/* A packet takes `link` and goes on in direction `next`. */
static inline void cm_dependencies_add(cm_dependencies *graph, uint32_t link, cm_direction next)
{
  cm_dependencies_note(graph, link);
  graph->next[link] |= (uint8_t)(1u << (unsigned)next);
}

/* A packet takes every link of a tree, and waits at each router for all links by which it goes on. O(links). */
void cm_dependencies_add_tree(cm_dependencies *graph, const cm_chip *chip, const cm_tree *tree);

/* Number of links in use and of arcs. O(links between the first and the last noted), as the search for a cycle. */
void cm_dependencies_count(const cm_dependencies *graph, uint64_t *channels, uint64_t *arcs);

/* Looks for a cycle: its links in order, *cycle [*length], the caller's (cm_free); *length 0: there is none. Links at
 * the edge are taken to lead around to the other side. */
cm_status cm_dependencies_cycle(const cm_dependencies *graph, cm_memory *memory, uint32_t **cycle, size_t *length,
                                cm_error *error);

/* CM_INTERNAL, naming the links of a ring, where there is a cycle. */
cm_status cm_dependencies_check(const cm_dependencies *graph, cm_memory *memory, cm_error *error);
