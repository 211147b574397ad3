/* A mapping file as the independent check reads it. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/run.h"
#include "core/metrics/metrics.h"
#include "core/mapping/mapped.h"

/* One entry of the file's "cores". */
typedef struct cm_check_core {
  uint64_t part, x, y;
  uint64_t neurons, synapses, inbound_axons, outbound_axons, target_cores;
  double traffic_in, traffic_out;
} cm_check_core;

/* Whole numbers. */
typedef struct cm_check_numbers {
  uint64_t *number; /* [kept] */
  uint64_t count, kept, room; /* in the file; no more than the caller can use */
} cm_check_numbers;

/* A mapping file as read: bulk in arrays, the rest as JSON. */
typedef struct cm_check_file {
  json_t *rest;           /* the object without its bulk ("neurons", "keys", "turns", "spikes", "stimulus" and "cores" are null in it) */
  bool has_neurons, has_cores, has_keys, has_spikes, has_stimulus, has_turns;
  uint32_t *neuron;       /* [kept_neurons] part of each; UINT32_MAX where the number is larger than that */
  uint64_t neuron_count;  /* entries in the file; */
  uint64_t kept_neurons;  /* those kept: no more than the caller can use */
  cm_check_numbers key;   /* who each is (core/network/identity.h) */
  cm_check_numbers turns; /* of each neuron on its core */
  cm_check_numbers spikes, stimulus; /* that the rates are measured of (core/network/measured.h), at most of CM_SCENARIOS_MAX windows */
  cm_check_core *core;    /* [kept_cores] */
  uint64_t core_count, kept_cores;
} cm_check_file;

/* Reads a mapping file, keeping at most so many neurons and cores. CM_BAD_MAPPING with the byte offset as place. */
cm_status cm_check_read(FILE *stream, uint64_t neurons_max, uint64_t cores_max, cm_run *run, cm_check_file *file,
                        cm_error *error);
void cm_check_file_free(cm_check_file *file);

/* When cores send; pacing->turn is the caller's (cm_free), NULL where the file says nothing. `part` of each neuron, in range. CM_BAD_MAPPING, memory. O(neurons). */
cm_status cm_check_file_pacing(const cm_check_file *file, const uint32_t *part, cm_run *run, cm_pacing *pacing, cm_error *error);

/* The step of metrics that are measured, as the file's pacing foresees it. Errors and cost as above. */
cm_status cm_check_paced_step(const cm_check_file *file, const uint32_t *part, cm_run *run, cm_metrics *metrics, cm_error *error);
