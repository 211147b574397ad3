/* Synapses that leave a neuron for other cores: near ones stay in its cluster of cores, far ones leave it (cm_limits). */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/network/demand.h"

static inline bool cm_leaving_is_limited(const cm_limits *limits)
{
  return limits->near_synapses != 0 || limits->far_synapses != 0;
}

/* Synapses of one neuron. */
typedef struct cm_leaving {
  uint32_t near, far;
} cm_leaving;

/* How many there are too many. O(1). */
static inline uint32_t cm_leaving_excess(const cm_limits *limits, cm_leaving l)
{
  return (limits->near_synapses != 0 && l.near > limits->near_synapses ? (uint32_t)(l.near - limits->near_synapses) : 0) +
         (limits->far_synapses != 0 && l.far > limits->far_synapses ? (uint32_t)(l.far - limits->far_synapses) : 0);
}

/* Counts what leaves every neuron [vertices]: part [vertices], cluster [parts]. Undirected, every edge is a synapse each way. O(pins). */
void cm_count_leaving(const cm_demand *demand, const uint32_t *part, const uint32_t *cluster, cm_leaving *leaving);

/* The most of each kind, of all neurons. O(vertices). */
cm_leaving cm_most_leaving(const cm_leaving *leaving, uint32_t vertices);

/* CM_LIMIT_BROKEN where a neuron has too many: names the one that has most of them too many, and how many do. O(vertices). */
cm_status cm_refuse_leaving(const cm_topology *topology, const cm_limits *limits, const cm_leaving *leaving, cm_error *error);

/* CM_NEURON_TOO_LARGE where a neuron's targets are more than its own core, full of nothing else, and its synapses to others hold, wherever
 * they lie: a proof. `limits`: of cores, as the job has them. O(pins). Errors: memory, a stop. */
cm_status cm_prove_leaving(const cm_demand *demand, const cm_chip *chip, const cm_limits *limits, cm_run *run, cm_error *error);
