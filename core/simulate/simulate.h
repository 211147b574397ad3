/* A mapped network in motion: packets over the chip's routers, one event after another (docs/reference/simulation.md). */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/mapping/mapped.h"
#include "core/network/spikes.h"

typedef struct cm_simulate_options {
  uint32_t steps;    /* time steps to simulate; 0: none */
  double load;       /* steps a ns, as a steady stream without processing at cores; 0: none */
  bool saturation;   /* look for the load at which the network saturates */
  bool multicast;    /* a packet is copied where its ways part; else one packet a target core */
  uint32_t buffers;  /* packets that the input of a router, or a core, holds; at least 1 */
  uint32_t frames;   /* of the first step, in which packets are counted router by router, at most; 0: none */
  uint64_t packets;  /* that a stream delivers before it is measured to its end; at least 1000 */
  uint64_t seed;
  char scenario[CM_SCENARIO_NAME_MAX]; /* of a network whose rates vary: by whose rates it goes; "": by their mean */
  const cm_spikes *spikes; /* which neurons fire in the steps; NULL: at random, by their rates */
} cm_simulate_options;

extern const cm_simulate_options cm_simulate_defaults;

/* Simulates a mapping whose parts and cores are in range. The report's fields are in docs/reference/simulation.md;
 * the caller's. The same for any number of threads. Errors: CM_BAD_OPTION for an undirected network, a scenario that it
 * lacks, more steps than spikes are given for, spikes for a stream, or options out of range; memory, stops. O(packets * hops * log(packets under way)). */
cm_status cm_packets_simulate(const cm_mapped *mapped, const cm_simulate_options *options, cm_run *run, json_t **report,
                              cm_error *error);

/* Refuses the scenario that is asked for: CM_BAD_OPTION at /options/scenario, with the `count` names that are known. */
cm_status cm_refuse_scenario(const char *name, const char *const *known, size_t count, cm_error *error);
