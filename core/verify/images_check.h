/* The independent check of core images (docs/reference/core-images.md): read by code of its own, made a network again, and that run. */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/verify/check.h"
#include "core/verify/images_read.h"

/* What images hold, beside what is wrong with them. */
typedef struct cm_images_verdict {
  uint64_t cores, neurons, synapses, spikes; /* of the network */
  cm_check_result result;
} cm_images_verdict;

/* Checks the folder of a deployment: limits of the chip; that each source has one relay on each core that its spikes go to, fed by one route, and its
 * copies all of its synapses; that each synapse of the network stands once; and that the network so read spikes as expected.txt says. Free the result
 * with cm_check_result_free. Errors: CM_BAD_MAPPING: a file is damaged, with its place; CM_NOT_FOUND, CM_IO, memory, stops. O(files + events). */
cm_status cm_images_check(const char *folder, const cm_chip *chip, cm_run *run, cm_images_verdict *verdict, cm_error *error);

/* The same of images that are read; expected.txt is of the folder. */
cm_status cm_images_judge(const cm_read_images *images, const char *folder, const cm_chip *chip, cm_run *run, cm_images_verdict *verdict, cm_error *error);
