/* What images of a chip's cores must keep (docs/reference/core-images.md): of one step, of a core where nothing else is said; 0: no limit. */
#pragma once

#include <jansson.h>

#include "base/status.h"

enum { CM_IMAGE_FORMAT_MAX = 32 };

typedef struct cm_image_limits {
  char format[CM_IMAGE_FORMAT_MAX]; /* whose words they are in, a row of core/deploy/emitters.def; "": none */
  uint64_t spikes_per_step;         /* relays' and biases' among them */
  uint64_t packets_per_step;        /* of the whole chip */
  uint64_t delayed_per_step;        /* delayed synapses that are due */
  uint64_t pool_entries;            /* synapses that a core holds */
  uint64_t router_queue;            /* packets that an input of a router holds until the step ends */
} cm_image_limits;

/* Reads the field "images" of a chip (NULL: not there). Errors: CM_BAD_CHIP with the place. */
cm_status cm_image_limits_read(const json_t *object, cm_image_limits *limits, cm_error *error);

/* The same as JSON, a new reference; NULL: there is none, or no memory. */
json_t *cm_image_limits_json(const cm_image_limits *limits);
