/* Images of cores: what each core of a chip is programmed with so that it executes its part of a network (docs/reference/core-images.md). */
#pragma once

#include <stdio.h>

#include "core/deploy/integer_network.h"
#include "core/mapping/mapped.h"

typedef enum cm_image_kind {
  CM_IMAGE_NEURON, /* of the network */
  CM_IMAGE_INPUT,  /* of the network, which spikes from outside make spike */
  CM_IMAGE_COPY,   /* of either, where it reaches more cores than one has routes for; stands right behind it */
  CM_IMAGE_RELAY,  /* spikes a step after its source, for the source's targets on this core */
  CM_IMAGE_BIAS,   /* spikes in every step from its number on */
  CM_IMAGE_KINDS
} cm_image_kind;
extern const char *const cm_image_kinds[CM_IMAGE_KINDS]; /* "neuron", "input", "copy", "relay", "bias" */

typedef struct cm_image_neuron {
  uint8_t kind; /* cm_image_kind */
  uint32_t of;  /* the network's neuron that it is, copies or relays; the first step of a bias */
  cm_chip_parameters parameter;
  uint32_t entry, entries; /* of the core's pool */
  uint32_t route, routes;  /* of the core's routes */
} cm_image_neuron;

/* A synapse of a pool. */
typedef struct cm_image_entry {
  uint32_t target; /* neuron of this core */
  int16_t weight;
  uint8_t delay;
} cm_image_entry;

typedef struct cm_image_route {
  uint32_t core, neuron; /* where spikes go: a core of the chip */
} cm_image_route;

typedef struct cm_core_image {
  uint32_t core; /* of the chip */
  cm_image_neuron *neuron;
  cm_image_entry *pool;
  cm_image_route *route;
  uint64_t neurons, entries, routes, neuron_room, entry_room, route_room;
} cm_core_image;

typedef struct cm_images {
  const cm_chip *chip;
  uint32_t cores;
  cm_core_image *image;  /* [cores] ascending by core */
  uint32_t *of_core;     /* [cores of the chip] number of its image; UINT32_MAX: none */
  uint32_t neurons;      /* of the network */
  uint64_t synapses;     /* of the network */
  uint32_t *core, *at;   /* [neurons] image and place of each */
  uint32_t *shift;       /* [neurons] as of cm_integer_network */
  uint32_t steps;        /* of the chip, for so many of the network's: */
  uint32_t network_steps;
  cm_memory *memory;
} cm_images;

/* Images of an integer network by its mapping: on one part with hop 1 synapses stand in the rows of their sources; else with hop 2 each source has a
 * relay on each core that has targets of it, its own included. Errors: CM_LIMIT_BROKEN with the core, what it needs and has. O(synapses + neurons + cores). */
cm_status cm_images_make(const cm_integer_network *network, const cm_mapped *mapped, uint32_t network_steps, cm_run *run, cm_images *images, cm_error *error);
void cm_images_free(cm_images *images); /* harmless on a zeroed one */

/* "core 5 (1, 1)" in `text`, which it returns. */
const char *cm_image_core_called(const cm_images *images, uint32_t image, char *text, size_t size);

/* ---- running ---- */

/* The most of something in one step, of one core where it is a core's. */
typedef struct cm_image_peak {
  uint64_t most;
  uint32_t step, image;
} cm_image_peak;

typedef struct cm_image_spike {
  uint32_t step, core, neuron; /* core of the chip */
} cm_image_spike;

typedef struct cm_images_result {
  cm_image_spike *spike; /* [spikes] of all cores by step, core, neuron: relays, copies and biases among them */
  uint64_t spikes, room;
  cm_spikes network;     /* those of the network's neurons, in its steps */
  cm_image_peak spikes_peak, packets_peak, delayed_peak;
  cm_image_peak sent_peak; /* packets of one core */
  cm_image_peak stuck;     /* the first core and step whose packets routers did not hold until the step ended: how many it sent */
  uint64_t stuck_held;     /* and how many of them they held */
  uint64_t *most;        /* [cores in use] spikes of each in the step in which it has most */
  uint64_t lost;         /* spikes and packets that the chip lost, and delayed synapses that came too early */
  uint64_t clocks;       /* of all steps, as the chip's costs have them */
  cm_core_events *events; /* [steps * cores] of each step and image, where they are asked for; relays are what receives packets, others spike */
} cm_images_result;

/* Runs the images as the chip does, its queues and losses included, with the inputs' spikes of `given`. O(steps * neurons of cores + events). */
cm_status cm_images_run(const cm_images *images, const cm_spikes *given, bool events, cm_run *run, cm_images_result *result, cm_error *error);

/* All spikes, STEP CORE NEURON a line; events, a table that cm_measured_steps_read takes once it has a column ns. */
void cm_images_print_spikes(const cm_images_result *result, FILE *out);
void cm_images_print_events(const cm_images *images, const cm_images_result *result, FILE *out);
void cm_images_result_free(cm_images_result *result); /* harmless on a zeroed one */
