/* Are the routes of a placement free of deadlock? Asked of the routes themselves, on the channel dependency graph, not
 * of the rule that made them (source 1, "route deadlock"). */
#pragma once

#include "core/chip/geometry.h"
#include "core/learning/multicast.h"
#include "core/partition/graph.h"

typedef struct cm_deadlock_report {
  uint64_t routes;             /* paths and trees looked at */
  uint64_t channels, arcs;     /* of the channel dependency graph */
} cm_deadlock_report;

/* What is routed; all borrowed. */
typedef struct cm_deadlock_task {
  const cm_graph *parts;
  const cm_multicast *multicast; /* NULL: none */
  const cm_chip *chip;
  cm_turn_rule rule; /* on a mesh */
  const uint32_t *core; /* [parts->vertex_count] */
} cm_deadlock_task;

/* Routes what a placement makes necessary, the tree of each multicast node and a path either way for each edge of parts, under a turn
 * rule, on an interconnect over its ways with a virtual channel for each turn up, and looks for a ring of links that wait for each
 * other. CM_INTERNAL where there is one; CM_NO_ROUTE where dead links cut a target off. O(links of all routes + routers). */
cm_status cm_deadlock_check(const cm_deadlock_task *task, cm_run *run, cm_deadlock_report *report, cm_error *error);
