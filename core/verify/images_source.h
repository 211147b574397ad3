/* Between the readers of images of cores: their rows as numbers, whatever file they stand in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum cm_image_list { CM_LIST_NEURONS, CM_LIST_POOL, CM_LIST_ROUTES, CM_LIST_INPUTS, CM_LISTS } cm_image_list;

/* Columns of each: a neuron's first and fourth are cm_read_kind and cm_chip_neuron. */
enum { CM_IMAGE_COLUMNS = 17, CM_IMAGE_COLUMN_KIND = 0, CM_IMAGE_COLUMN_MODEL = 3 };
extern const size_t cm_image_columns[CM_LISTS];

/* A core: its number, and rows of each list. */
typedef struct cm_image_core {
  int64_t number;
  size_t rows[CM_LIST_INPUTS];
} cm_image_core;

typedef struct cm_images_source cm_images_source;
struct cm_images_source {
  int64_t network_neurons, network_synapses, network_steps, steps;
  size_t cores, inputs;
  cm_status (*core)(const cm_images_source *source, size_t core, cm_image_core *found, cm_error *error);
  cm_status (*row)(const cm_images_source *source, cm_image_list list, size_t core, size_t number, int64_t *value, cm_error *error);
  void (*close)(cm_images_source *source);
};

/* The place of a row, "/cores/2/pool/17"; returns `place`. */
enum { CM_IMAGE_PLACE_MAX = 96 };
const char *cm_image_place(char place[CM_IMAGE_PLACE_MAX], cm_image_list list, size_t core, size_t number);

/* Open one; the text or bytes have to stay. CM_BAD_MAPPING with the place. The caller's: close. */
cm_status cm_images_json_open(const char *text, size_t size, cm_images_source **source, cm_error *error);
cm_status cm_images_binary_open(const uint8_t *bytes, size_t size, cm_images_source **source, cm_error *error);

/* Whether bytes begin as the binary form does. */
int cm_images_are_binary(const uint8_t *bytes, size_t size);
