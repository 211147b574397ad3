/* The stream of instructions of a chip that issues in order: what order costs on it. Internal to core/machine.
 *
 * At most `window` instructions wait for their lane: the next one is read when one of those before has begun, over the port
 * that is idle first, which its code keeps busy (the t1 of source 2). Flags cost nothing. Chips without a window have a stream
 * a lane, which costs nothing. */
#pragma once

#include "core/chip/target.h"

typedef struct cm_issue {
  const cm_target *target;
  uint64_t count;   /* instructions that have begun */
  double begun[CM_TARGET_WINDOW_MAX]; /* by number modulo the window: when all up to that one have */
} cm_issue;

/* Since when lanes are idle: that of lane k lies k * stride numbers behind the first one's. */
typedef struct cm_idle {
  double *first;
  uint32_t stride;
} cm_idle;

/* How the next instruction is read. */
typedef struct cm_issue_read {
  uint32_t port;
  double from, ns; /* 0, 0 where nothing is in its way */
} cm_issue_read;

/* Nothing has begun. The target is borrowed. */
cm_issue cm_issue_start(const cm_target *target);

/* O(ports). */
cm_issue_read cm_issue_next(const cm_issue *issue, cm_idle idle);

/* The next instruction is read so, and begins at `start`; its port is busy until it is read. */
void cm_issue_begin(cm_issue *issue, const cm_issue_read *read, double start, cm_idle idle);
