/* The parts of a chip file, read and written. */
#pragma once

#include <jansson.h>

#include "core/chip/chip.h"

/* The refusal of one field of a chip file: CM_BAD_CHIP at the JSON pointer `where`. */
cm_status cm_chip_bad(cm_error *error, const char *where, const char *what);

/* A whole number of a chip file, least to most. */
cm_status cm_chip_read_whole(const json_t *value, const char *where, int64_t least, int64_t most, int64_t *number,
                             cm_error *error);

/* Limits of a core, from an object (NULL: none) and as one; *bits_per_synapse is 0 unless synapses are stated in bits. */
cm_status cm_limits_read(const json_t *object, const char *where, cm_limits *limits, uint32_t *bits_per_synapse, cm_error *error);
json_t *cm_limits_json(const cm_limits *limits, uint32_t bits_per_synapse);

/* Limits that cores share (chip->router_limits, die_limits), from an object (NULL: none) and as one, NULL where there are none. */
cm_status cm_shared_limits_read(const json_t *root, const char *field, cm_limits *limits, cm_error *error);
json_t *cm_shared_limits_json(const cm_limits *limits);

/* Dead cores (dead routers have no cores) and, of a plain mesh, dead links: from a chip file's root, and as lists. */
cm_status cm_dead_cores_read(const json_t *root, cm_chip *chip, cm_error *error);
cm_status cm_dead_links_read(const json_t *root, cm_chip *chip, cm_error *error);
json_t *cm_dead_cores_json(const cm_chip *chip);
json_t *cm_dead_links_json(const cm_chip *chip);

/* Core classes (classes.h): from a list (NULL: none), and as one, NULL where there are none. */
cm_status cm_classes_read(const json_t *list, cm_chip *chip, cm_error *error);
void cm_classes_free(cm_chip *chip);
