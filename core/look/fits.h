/* Which chips would take a network: proved, or found not to, and what a step on them would be (core/look/look.h). Nothing is mapped. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/chip/occupancy.h"
#include "core/network/topology.h"

typedef struct cm_fit_chip {
  const cm_chip *chip;
  const cm_occupancy *occupancy;
} cm_fit_chip;

/* A row a chip: {"chip", "cores", "free", "fits": "yes" | "no" | "unknown", "bound": that on cores (null: a neuron is too large), "reason": why
 * not (null: it fits), "cores_found": of legal parts (null: none were found), "choices": as in reports of mappings (left out where the chip states no costs),
 * "seconds": that a mapping takes}. "yes" has legal parts for the free cores, whose limits were counted; "no" a proof.
 * The caller's. O(chips * pins). Errors: memory, a stop. */
cm_status cm_fit(const cm_topology *topology, const cm_fit_chip *chips, size_t count, cm_run *run, json_t **rows, cm_error *error);
