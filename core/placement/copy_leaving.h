/* Copies of neurons on cores with room, until no neuron has more synapses that leave it than the chip allows (core/limits/leaving.h). */
#pragma once

#include "core/chip/occupancy.h"
#include "core/limits/leaving.h"
#include "core/network/copied.h"

typedef struct cm_copy_task {
  const cm_demand *demand; /* of a network that takes copies */
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  const cm_limits *limits;           /* of a core; those on neurons and synapses are kept */
  const uint32_t *part, *core;       /* [vertices], [parts] */
  uint32_t parts, parts_max;         /* with those that open for copies; 0: as many as cores are free */
  cm_run *run;
} cm_copy_task;

/* Neurons, then copies, on their cores. */
typedef struct cm_copied_parts {
  cm_neuron_copies copies;
  uint32_t *part, *core; /* [vertices + copies], [parts]; cores that are missing: UINT32_MAX */
  uint32_t parts, missing;
  uint64_t left; /* synapses too many that no copy mends */
} cm_copied_parts;

void cm_copied_parts_free(cm_copied_parts *made); /* harmless on zeroed ones */

/* Each copy takes synapses over from a neuron that has too many, and breaks less than it mends: greedy, on the best core for it, and where the chip has
 * none with room on one that is missing. Done where `left` and `missing` are 0; to be freed in any case. Same input: same copies.
 * O(copies * (cores of its neuron's targets and sources + clusters) * degree). Errors: memory, a stop. */
cm_status cm_copy_leaving(const cm_copy_task *task, cm_copied_parts *made, cm_error *error);
