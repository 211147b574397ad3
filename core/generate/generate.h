/* Networks of published recipes, for tuning and for measuring (docs/reference/generators.md). Equal arguments and seed give
 * equal networks, whatever the number of threads. */
#pragma once

#include <stdbool.h>

#include "base/run.h"
#include "core/network/topology.h"

enum { CM_FAN_OUT_MAX = 65536 };

/* The mean fan-out of a reservoir of this size when none is asked for: 128 up to 32768 neurons, 192 up to 131072,
 * else 256. */
double cm_reservoir_fan_out(uint32_t neurons);

/* A reservoir: neurons uniform in the unit cube, near ones connected with a probability that falls with distance,
 * 1 % of the synapses anywhere, log-normal rates (the recipe of the AxonCUDA table, arXiv 2604.14411). `fan_out` is
 * the mean number of targets; a network too small for a neuron's share gives it the ones there are. Opens phase
 * "generate"; the caller owns *topology. O(synapses), more for fan-outs that reach a good part of all neurons.
 * Errors: CM_BAD_OPTION (fewer than 2 neurons, a fan-out outside 1 .. CM_FAN_OUT_MAX), memory and run errors. */
cm_status cm_generate_reservoir(uint32_t neurons, double fan_out, cm_run *run, cm_topology **topology, cm_error *error);

/* Layers of neurons, sheets of width x height (a line where the height is 1). */
typedef struct cm_layered {
  uint32_t layers, width, height;
  uint32_t fan_out; /* targets of a neuron, in the next layer */
  uint32_t spread;  /* so many neurons around its like they are drawn from */
} cm_layered;

/* A layered network: each neuron but those of the last layer reaches fan_out neurons of the next layer, drawn from the
 * square (on a line: the run) of about `spread` around the same place; fewer where a layer has fewer. Rates are uniform
 * in 1/1024 .. 1. Neurons are numbered layer by layer, row by row. Opens phase "generate"; the caller owns *topology.
 * O(neurons * spread). Errors: CM_BAD_OPTION, memory and run errors. */
cm_status cm_generate_layered(const cm_layered *shape, cm_run *run, cm_topology **topology, cm_error *error);

/* A ring of populations: neuron i of each sends to neuron i of the next, of the last to the first, rate 1. Opens phase
 * "generate"; the caller owns *topology. O(neurons). Errors: CM_BAD_OPTION, memory errors. */
cm_status cm_generate_chain(uint32_t populations, uint32_t size, cm_run *run, cm_topology **topology, cm_error *error);

/* A synthetic connectome: regions (populations) of log-normal sizes; numbers of targets, and what draws axons to a neuron,
 * log-normal, so that fan-out and fan-in have heavy tails; three quarters of the targets in the own region, a fifth in four
 * others, the rest anywhere; log-normal rates. fan_out is the mean number of targets, distinct ones and never the neuron
 * itself. Opens phase "generate"; the caller owns *topology. O(synapses * log(neurons)). Errors: CM_BAD_OPTION, memory and
 * run errors. */
cm_status cm_generate_connectome(uint32_t neurons, double fan_out, cm_run *run, cm_topology **topology, cm_error *error);

/* Names runs of neurons, one after another, "WHAT 1", "WHAT 2", ..: of size [populations], or (NULL) of `even` neurons each. More
 * than a network may have get no names. O(vertices). */
cm_status cm_name_runs(cm_topology *topology, const char *what, uint32_t populations, const uint32_t *size, uint32_t even,
                       cm_memory *memory, cm_error *error);

enum { CM_MICROCIRCUIT_POPULATIONS = 8 };

/* What a microcircuit of some scale consists of. */
typedef struct cm_microcircuit {
  uint32_t size[CM_MICROCIRCUIT_POPULATIONS];                                      /* neurons */
  uint64_t synapses[CM_MICROCIRCUIT_POPULATIONS][CM_MICROCIRCUIT_POPULATIONS];     /* [target][source] */
  uint32_t neurons;
  uint64_t synapse_count;
} cm_microcircuit;

/* The counts of the cortical microcircuit (Potjans, Diesmann 2014): populations scaled and rounded, projections with
 * the published connection probability, so that synapses grow with the square of the scale. At scale 1: 77169
 * neurons, 298880968 synapses. CM_BAD_OPTION unless 0.001 <= scale <= 10. */
cm_status cm_microcircuit_counts(double scale, cm_microcircuit *counts, cm_error *error);

typedef struct cm_microcircuit_report {
  uint64_t synapses; /* drawn */
  uint64_t pairs;    /* distinct (source, target) among them: the pins of the file */
  uint64_t autapses; /* pairs of a neuron with itself */
} cm_microcircuit_report;

/* Draws it row by row straight into a topology file. Synapses of the same pair are one pin whose weight is their
 * number; axons have rate 1 or, with `rates`, the published mean rate of their population in spikes a second (the
 * weight of a pin is then number times rate). Opens phase "generate". O(synapses) time; memory 32 bytes a neuron.
 * `report` may be NULL. Errors: CM_BAD_OPTION, those of the writer, memory and run errors. */
cm_status cm_generate_microcircuit(double scale, bool rates, const char *path, cm_run *run,
                                   cm_microcircuit_report *report, cm_error *error);
