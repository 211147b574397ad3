/* What a job of kind profile asks for (docs/explanation/running.md). */
#pragma once

#include "core/network/spike_ids.h"
#include "core/network/spikes_option.h"
#include "core/spiking/semantics.h"

/* How a network runs, and what makes its inputs fire (core/spiking/running_options.def). */
typedef struct cm_running {
  uint32_t semantics;    /* cm_semantics_number */
  double dt;             /* seconds; 0: not said */
  cm_spikes_given spikes;
  uint32_t spike_ids;    /* cm_spike_ids_as */
  double poisson;        /* hertz; 0: not asked for */
} cm_running;

/* CM_BAD_OPTION: what does not go together. */
cm_status cm_running_check(const cm_running *running, cm_error *error);

typedef struct cm_profile_request {
  uint32_t steps;
  cm_running running;
  uint64_t seed;
  bool peaks;
  uint32_t threads;      /* at most; never changes the result */
  uint64_t memory_limit; /* bytes; 0: none */
  double time_limit;     /* seconds; 0: none */
  bool sole_reader;      /* no option: as of cm_profile_setting */
} cm_profile_request;

/* The options, in the order of docs/explanation/running.md. */
extern const cm_options cm_profile_option_table;

/* Reads {NAME: value, ...} of the options above. Errors: CM_BAD_OPTION with the JSON pointer of what is unknown, out of range or does not go
 * together, and where steps is missing. */
cm_status cm_profile_options_read(const json_t *options, cm_profile_request *request, cm_error *error);
