/* Which neurons growing looks at, where all of them would take too long: a window along an order in which neurons that hear the same
 * kinds of neurons stand together. */
#pragma once

#include "core/partition/step/step_state.h"

enum { CM_STEP_WINDOW = 2048 }; /* neurons that wait together */

typedef struct cm_step_window {
  uint32_t *order;    /* [vertices] */
  uint32_t *target;   /* [pins] targets of each net by place, where the topology has the net's; ascending from `from` on */
  uint64_t *from;     /* [nets] those before it are in a part */
} cm_step_window;

/* Targets of axons that a growth of so many parts looks at, were the targets of each drawn from everywhere: for each part that an axon
 * reaches all of its targets. O(nets). */
double cm_step_growth_looks(const cm_topology *topology, uint32_t parts);

/* Makes the order; growing begins with a reset. O(pins), 4 bytes a pin; as much again while the order is made. */
cm_status cm_step_window_new(const cm_step_state *state, uint64_t seed, cm_step_window *window, cm_error *error);
void cm_step_window_free(cm_step_window *window); /* harmless on a zeroed one */

/* Nobody has been placed yet: lists the targets, each vertex in order appended to the nets into it. O(pins). */
void cm_step_window_reset(cm_step_window *window, const cm_step_state *state);
