/* A start for placement on grids of four and six links: parts lie by the two slowest modes of their graph (core/placement/modes.h),
 * slots by the columns and rows of their routers; both are halved along the longer side again and again. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/partition/multilevel.h"
#include "core/placement/modes.h"
#include "core/placement/task.h"

/* How parts and slots are brought together. */
typedef struct cm_pose {
  uint32_t turn; /* 0 .. CM_POSE_TURNS - 1: of a half turn */
  bool mirrored;
  uint32_t shape; /* 0 .. CM_POSE_SHAPES - 1: of the slots that are taken; 0 as wide as high */
} cm_pose;

enum { CM_POSE_TURNS = 4, CM_POSE_SHAPES = 5, CM_LAYOUT_LOOKS = 60 /* at each entry of the graph, for its modes */ };

typedef struct cm_layout {
  cm_modes modes;
  uint32_t parts, slots;
  struct cm_lying *part, *slot; /* [slots] scratch */
  double *column, *row;         /* [slots] from the middle of them all */
} cm_layout;

/* Whether layouts are known for a kind of interconnect. */
bool cm_has_layout(const cm_interconnect *net);

/* The graph of level 0 is of parts, at most as many as slots; router [slots]. O(entries) times some forty. Errors: memory, a stop. */
cm_status cm_layout_new(const cm_hierarchy *parts, const cm_place_task *task, const uint32_t *router, uint32_t slots,
                        cm_layout *layout, cm_error *error);
void cm_layout_free(cm_layout *layout); /* a zeroed one is fine */

/* Fills at [parts] with slots, no two the same. O(slots * log^2). */
void cm_layout_pose(cm_layout *layout, const cm_pose *pose, uint32_t *at);
