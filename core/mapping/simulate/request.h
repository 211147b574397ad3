/* What a job of kind simulate asks for (docs/simulation.md). */
#ifndef CM_MAPPING_SIMULATE_REQUEST_H
#define CM_MAPPING_SIMULATE_REQUEST_H

#include "core/mapping/simulate/simulate.h"

enum { CM_SIMULATE_MAPPING_MAX = 64 };

typedef struct cm_simulate_request {
  char mapping[CM_SIMULATE_MAPPING_MAX]; /* whose packets move */
  cm_simulate_options options;
  unsigned threads;      /* at most; never changes the result */
  uint64_t memory_limit; /* bytes; 0: none */
  double time_limit;     /* seconds; 0: none */
} cm_simulate_request;

/* Reads the "options" of a job: "mapping" (needed), "steps", "load", "saturation", "communication", "buffers", "packets",
 * "frames", "seed", "threads", "memory_limit", "time_limit". Unless steps are asked for, there is one, and none with a
 * load or "saturation". Errors: CM_BAD_OPTION with the JSON pointer of what is unknown or out of range. */
cm_status cm_simulate_request_read(const json_t *options, cm_simulate_request *request, cm_error *error);

#endif
