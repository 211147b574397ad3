/* What a job of kind simulate asks for (docs/reference/simulation.md). */
#pragma once

#include "core/network/spikes_option.h"
#include "core/simulate/simulate.h"
#include "core/spiking/profile_request.h"

enum { CM_SIMULATE_MAPPING_MAX = 64 };

typedef struct cm_simulate_request {
  char mapping[CM_SIMULATE_MAPPING_MAX]; /* whose packets move */
  cm_simulate_options options;
  cm_spikes_given spikes;
  uint32_t spike_ids;    /* cm_spike_ids_as */
  double spike_step_ms;  /* of a time step, where spikes have times */
  bool function;         /* spikes come from a run of the mapping's images, those that are given are of inputs */
  cm_running running;    /* how that runs, but for its spikes */
  uint32_t threads;      /* at most; never changes the result */
  uint64_t memory_limit; /* bytes; 0: none */
  double time_limit;     /* seconds; 0: none */
} cm_simulate_request;

/* What the packets are of, for the rules of the options: undirected networks, chips that let a neuron reach few cores (told: "target_cores"),
 * spikes that are given. */
enum { CM_SIMULATE_UNDIRECTED = 1, CM_SIMULATE_COPIES = 2, CM_SIMULATE_SPIKES = 4 };

/* The options, in the order of docs/reference/simulation.md. */
extern const cm_options cm_simulate_option_table;

/* Reads {NAME: value, ...} of the options above; NULL: all as they are unless given. Unless steps are asked for, there is
 * one, and none with a load or "saturation". Errors: CM_BAD_OPTION with the JSON pointer of what is unknown or out of
 * range. */
cm_status cm_simulate_options_read(const json_t *options, cm_simulate_request *request, cm_error *error);
