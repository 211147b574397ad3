/* In which order the neurons of a core take their turns when sending is spread over a step. */
#pragma once

#include "core/simulate/traffic.h"

/* turn[v], of all vertices: the place of neuron v among those of its core. A core of n neurons takes its i-th turn at (i + 1/2) / n of
 * the time; turns are given out in that order over all cores, each to the neuron whose packets are missed most where they go: that
 * leaves the least sum of squares of what cores have got beyond an even share. Of a core's neurons as many are looked at as `looks`
 * targets in all allow. O(looks + vertices log(parts)). Errors: memory, stops. */
cm_status cm_turns_choose(const cm_traffic *traffic, uint64_t seed, uint64_t looks, cm_run *run, uint32_t *turn, cm_error *error);
