/* Figures of a mapping, recomputed packet by packet. */
#pragma once

#include "core/mapping/mapped.h"
#include "core/metrics/metrics.h"
#include "core/verify/check.h"

/* Figures recomputed packet by packet; `core` is [parts]. */
typedef struct cm_check_truth {
  cm_metrics metrics;
  double link_max, tree_link_max; /* packets over the busiest link between routers: in all, and one a net */
  double link_step_ns; /* that the busiest link takes in a step, 0 where links have no bound */
  double channel_ns;   /* that the busiest link needs for its packets, when each passes as fast as it can */
  cm_core_load *core;
} cm_check_truth;

/* Parts and cores must be in range. O(pins + sum over flows of the rectangle between their ends). */
cm_status cm_check_measure(const cm_mapped *mapped, cm_run *run, cm_check_truth *truth, cm_error *error);

/* Fills the figures of inputs outside the chip. O(nets), and all routers for each core where some come in. */
void cm_check_border(const cm_mapped *mapped, cm_metrics *metrics);

/* Distinct populations of the neurons of each part: count [parts]; without populations all are of one. O(n log n). */
cm_status cm_check_measure_populations(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                                       uint32_t *count, cm_error *error);

/* Synapses of one kind that leave a neuron for other cores. */
typedef struct cm_leaving_way {
  uint64_t most, broken; /* of one neuron; neurons that have more than the chip allows */
  uint32_t neuron;       /* the first that has most */
} cm_leaving_way;

typedef struct cm_check_leaving {
  cm_leaving_way near, far; /* to other cores of its cluster, and beyond it */
} cm_check_leaving;

/* O(pins). */
void cm_check_measure_leaving(const cm_mapped *mapped, cm_check_leaving *found);

/* What the cores of one router, or die, take together at most, at (x, y) of these, where part `part` is one. */
typedef struct cm_check_shared {
  uint64_t most;
  uint32_t x, y, part;
} cm_check_shared;

/* Of synapses, inbound and outbound axons, from loads [parts]. O(parts + cores). Errors: memory. */
cm_status cm_check_measure_shared(const cm_mapped *mapped, const cm_core_load *load, bool die, cm_run *run, cm_check_shared found[3], cm_error *error);

/* The chip's limit on each of these, 0: none. */
uint64_t cm_check_shared_limit(const cm_chip *chip, bool die, int kind);

/* Circuits that pass a link, enter a router and leave it at most; zeros where the chip limits none. O(pins + circuits * hops). Errors: memory. */
cm_status cm_check_measure_circuits(const cm_mapped *mapped, cm_run *run, cm_check_shared found[3], cm_error *error);
uint64_t cm_check_circuit_limit(const cm_chip *chip, int kind);

/* Distinct parts, ascending. Zero it before use; `part` is the caller's: cm_free. */
typedef struct cm_reached {
  uint32_t *part;
  uint64_t count, room;
} cm_reached;

/* The parts that a neuron reaches by its nets, from nets[0] up to nets[1]. O(pins log(pins)). */
cm_status cm_check_reached(const cm_topology *topology, const uint32_t *part, const uint32_t nets[2], cm_run *run, cm_reached *reached,
                           cm_error *error);

/* How many of each neuron its core holds, copies included: copies [vertices]. O(pins log(fan-out)). */
cm_status cm_check_copies(const cm_demand *demand, const uint32_t *part, cm_run *run, uint32_t *copies, cm_error *error);

/* The limits of a core: its class's, or the chip's. */
const cm_limits *cm_check_limits_at(const cm_chip *chip, uint32_t core);

/* Fills the figures of a time step into truth->metrics, whose loads are there. O(pins log(fan-out) + parts). */
cm_status cm_check_step(const cm_mapped *mapped, cm_run *run, cm_check_truth *truth, cm_error *error);

/* Whether a sentence (step_limit) names something that takes as long as the step, with figures that fit. O(parts). */
bool cm_check_step_limit(const cm_mapped *mapped, const cm_check_truth *truth, const char *sentence);
