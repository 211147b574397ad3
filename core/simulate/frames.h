/* How much passes every router over time, in frames of equal length: their number is bounded, so frames are joined in pairs
 * as time goes on. */
#pragma once

#include <jansson.h>

#include "base/run.h"

enum { CM_FRAMES_MAX = 64, CM_FRAME_CELLS_MAX = 1 << 16 };

typedef struct cm_frames {
  uint32_t routers, most; /* frames at most */
  uint64_t ps;            /* length of a frame */
  uint32_t used;          /* frames up to the last with a packet */
  uint32_t *passed;       /* [most * routers] packets that left a router for a neighbour or a core */
} cm_frames;

/* `wanted` frames at most; fewer where routers are many, and none (most 0) beyond CM_FRAME_CELLS_MAX / 4 of them. */
cm_status cm_frames_new(uint32_t routers, uint32_t wanted, cm_memory *memory, cm_frames *frames, cm_error *error);
void cm_frames_free(cm_frames *frames); /* harmless on a zeroed one */

void cm_frames_count(cm_frames *frames, uint64_t ps, uint32_t router);

/* {"ns", "columns", "packets": [[by router, row by row], ...]} as a new object; NULL when out of memory. */
json_t *cm_frames_json(const cm_frames *frames, uint32_t columns);
