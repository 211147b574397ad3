/* The pilot's network: what it is told before a stretch of its search, and what it says (core/learning/pilot). */
#pragma once

#include "core/learning/policy/policy.h"

typedef enum cm_kernel {
  CM_KERNEL_WINDOW,    /* a site in a window around a node's own */
  CM_KERNEL_CENTRE,    /* one near the median of some that it talks to */
  CM_KERNEL_NEIGHBOUR, /* one beside a heavy neighbour's */
  CM_KERNELS
} cm_kernel;

/* What the network is told before a stretch. */
enum cm_pilot_input {
  CM_PILOT_DONE,                          /* share of the tries that are over */
  CM_PILOT_DONE_SQUARED,
  CM_PILOT_ACCEPTED,                      /* share of each kernel's last tries, three */
  CM_PILOT_SAVED = CM_PILOT_ACCEPTED + CM_KERNELS, /* of each kernel's tries, the share that saved something */
  CM_PILOT_COST = CM_PILOT_SAVED + CM_KERNELS,     /* traffic beside that at the start, log */
  CM_PILOT_SIZE,                          /* log2(nodes) / 10 */
  CM_PILOT_DENSITY,                       /* neighbours a node over the nodes, root */
  CM_PILOT_TRIES,                         /* log(tries a node) / 8 */
  CM_PILOT_ROUGH,                         /* log of what a trade anywhere changes at the start, over what a node pays */
  CM_PILOT_ONE,
  CM_PILOT_INPUTS
};

/* What it says. */
enum cm_pilot_output {
  CM_PILOT_KERNEL,                                /* logits of the three */
  CM_PILOT_HEAT = CM_PILOT_KERNEL + CM_KERNELS,   /* log of the temperature, over what a trade anywhere changes at the start */
  CM_PILOT_WINDOW,                                /* log of the window's half width over that of the sites */
  CM_PILOT_OUTPUTS
};

/* Numbers of a pilot: hidden [inputs * width], output [width * outputs], direct [inputs * outputs]. Its shape has one layer,
 * and no more of it than the width counts. */
size_t cm_pilot_count(const cm_policy_shape *shape);

/* Before training: hidden weights by seed, the others 0: all kernels alike, a temperature and a window that stay. */
void cm_pilot_initialise(cm_policy *pilot, uint64_t seed);

/* What the network says. input [CM_PILOT_INPUTS], output [CM_PILOT_OUTPUTS]. */
void cm_pilot_ask(const cm_policy *pilot, const float *input, float *output);
