/* Images of cores, in JSON or binary, as their check reads them. */
#pragma once

#include "base/run.h"
#include "core/deploy/chip_neurons.h"

typedef enum cm_read_kind { CM_READ_NEURON, CM_READ_INPUT, CM_READ_COPY, CM_READ_RELAY, CM_READ_BIAS, CM_READ_KINDS } cm_read_kind;

/* A row of neurons; numbers are the columns behind kind and model, which stand for themselves. */
typedef struct cm_read_neuron {
  cm_read_kind kind;
  uint32_t of, shift, core; /* core: its place in the file */
  cm_chip_parameters parameter;
  uint32_t pool, synapses, route, routes; /* in the arrays of all cores */
} cm_read_neuron;

typedef struct cm_read_synapse {
  uint32_t target; /* row of a neuron, in the array of all */
  int32_t weight, delay;
} cm_read_synapse;

/* All rows of all cores, one after another. */
typedef struct cm_read_images {
  uint32_t cores;
  uint32_t *number;       /* [cores] of the chip, ascending */
  uint32_t *first;        /* [cores + 1] neurons of each */
  uint64_t *pool_first;   /* [cores + 1] synapses of each */
  cm_read_neuron *neuron;
  cm_read_synapse *synapse;
  uint32_t *route;        /* row of a neuron that spikes go to */
  uint32_t neurons, network_neurons, network_steps, steps;
  uint64_t network_synapses, inputs, all_routes;
  uint32_t *input;        /* [2 * inputs] step and neuron of the network */
} cm_read_images;

/* Reads what a file holds; all indices are in range afterwards. CM_BAD_MAPPING with the place: what is not as the page says; memory. O(size). */
cm_status cm_images_parse(const char *bytes, size_t size, cm_run *run, cm_read_images *images, cm_error *error);

/* Of a folder: images.json, images.bin, or both, which then have to hold the same. */
cm_status cm_images_read_folder(const char *folder, cm_run *run, cm_read_images *images, cm_error *error);

/* Whether both hold the same. O(rows). */
bool cm_read_images_same(const cm_read_images *a, const cm_read_images *b);

void cm_read_images_free(cm_read_images *images); /* harmless on a zeroed one */
