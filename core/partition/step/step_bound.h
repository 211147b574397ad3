/* Times below which no partition's step can be. */
#pragma once

#include "base/run.h"
#include "core/chip/costs.h"
#include "core/network/demand.h"

typedef struct cm_step_bound {
  double ns;          /* the largest of those below */
  double neuron_ns;   /* the neuron alone that takes longest */
  double shared_ns;   /* each part receives an axon for at most as many synapses as it has neurons */
  double overlap_ns;  /* as many as the overlaps of its neurons' inputs allow; 0: not computed */
  double send_ns;     /* what all neurons send, one packet an axon at least, over the parts */
  double fixed_ns;    /* and what follows it in any case: the least barrier, with all spikes where it prices them */
} cm_step_bound;

/* What the plain bounds follow from, whatever the number of cores. */
typedef struct cm_step_totals {
  double neuron_ns;       /* the neuron alone that takes longest */
  double events, sending; /* synapse events a step; ns that all neurons send, one packet an axon */
  double spikes;
  uint32_t neurons;
} cm_step_totals;

/* O(pins). */
cm_status cm_step_totals_count(const cm_demand *demand, const cm_costs *costs, cm_run *run, cm_step_totals *totals, cm_error *error);

/* All bounds below but for the overlaps. O(1). */
cm_step_bound cm_step_bound_plain(const cm_step_totals *totals, const cm_costs *costs, uint32_t parts);

/* Bounds for a directed network on at most `parts` cores, without the barrier; the overlap bound where it takes at most
 * `work` steps (about the sum of the squares of fan-outs). O(pins), and O(work log(work)) with overlaps, whose lists take 16 bytes a
 * companion that a core of the least time has room for. Proofs: docs/explanation/step-time.md. */
cm_status cm_step_bound_compute(const cm_demand *demand, const cm_costs *costs, uint32_t parts, double work,
                                cm_run *run, cm_step_bound *bound, cm_error *error);
