/* The two ways to drive a fabric: time steps, and a steady stream. */
#pragma once

#include "core/simulate/fabric.h"
#include "core/simulate/histogram.h"
#include "core/simulate/simulate.h"

/* What one time step came to. */
typedef struct cm_step_outcome {
  double ns, free_ns;    /* to the end of the last core, with contention and without; no barrier */
  double between_ns;     /* what follows one after another */
  uint64_t packets, hops;
  uint64_t stuck;        /* packets that could not move any more: a deadlock */
  cm_histogram *latency; /* the caller's (cm_free) */
  uint64_t *carried;     /* [channels] the caller's */
  cm_frames frames;      /* of step 0, where asked for; the caller's (cm_frames_free) */
} cm_step_outcome;

/* Simulates step `number`. Errors: memory, stops. */
cm_status cm_simulate_step(const cm_traffic *traffic, const cm_simulate_options *options, uint32_t number, cm_run *run,
                           cm_step_outcome *outcome, cm_error *error);

/* What a stream came to. */
typedef struct cm_stream_outcome {
  double load;           /* steps a ns */
  bool saturated;        /* the network did not keep up, or packets took three times as long as unhindered */
  double free_mean_ns;   /* mean of unhindered latencies */
  uint64_t packets, hops, stuck;
  double ns;             /* simulated time */
  cm_histogram *latency; /* the caller's */
  uint64_t *carried;     /* [channels] the caller's */
} cm_stream_outcome;

/* A Poisson stream of so many steps a ns. */
cm_status cm_simulate_stream(const cm_traffic *traffic, const cm_simulate_options *options, double load, cm_run *run,
                             cm_stream_outcome *outcome, cm_error *error);
