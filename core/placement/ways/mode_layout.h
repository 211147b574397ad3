/* A start for placement on grids of four and six links: parts lie by the two slowest modes of their graph (core/placement/modes.h),
 * slots by the columns and rows of their routers; both are halved along the longer side again and again. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/partition/multilevel.h"
#include "core/placement/modes.h"
#include "core/placement/task.h"

enum {
  CM_POSE_SHAPES = 5,
  CM_LAYOUT_LEAST = 16, /* parts */
  CM_LAYOUT_LOOKS = 60  /* at each entry of the graph, for its modes */
};

/* Where parts may lie. */
typedef struct cm_layout_slots {
  const cm_interconnect *net; /* whose columns and rows count */
  const uint32_t *router;     /* [count] of each slot */
  uint32_t count;
} cm_layout_slots;

typedef struct cm_layout {
  cm_modes modes;
  uint32_t parts, slots;
  struct cm_lying *part, *slot; /* [slots] scratch */
  double *column, *row;         /* [slots] from the middle of them all */
} cm_layout;

/* Whether layouts are known for a kind of interconnect. */
bool cm_has_layout(const cm_interconnect *net);

/* The graph of level 0 is of parts, at most as many as slots; of the task seed and run count. O(entries) times some forty. Errors: memory, a stop. */
cm_status cm_layout_new(const cm_hierarchy *parts, const cm_layout_slots *slots, const cm_place_task *task, cm_layout *layout,
                        cm_error *error);
void cm_layout_free(cm_layout *layout); /* a zeroed one is fine */

/* What at [parts] costs. */
typedef uint64_t cm_layout_cost(const void *on, const uint32_t *at);

/* Fills at [parts] with slots, no two the same, by the cheapest of poses: turned and mirrored first, then the shape. O(slots * log^2)
 * a pose, and its cost. */
void cm_layout_choose(cm_layout *layout, uint32_t turns, cm_layout_cost *cost, const void *on, uint32_t *at);
