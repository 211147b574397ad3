/* Placement where parts need cores of kinds of their own: a part only ever stands on a core of its kind. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/kinds/pulls.h"
#include "core/placement/task.h"

typedef struct cm_kinds_options {
  double entries; /* of the graph that are looked at, in all */
  const uint8_t *kind; /* [parts] (core/chip/classes.h) */
  const cm_pulls *pulls; /* that parts stand somewhere for which they are to go on from; NULL: neither */
} cm_kinds_options;

typedef struct cm_kinds_result {
  double before, after; /* sum over edges of weight * energy units of the ways, in order and at the end */
  uint64_t moves;       /* exchanges taken */
} cm_kinds_result;

/* Fills core [parts], with pulls what is there at first, with cores of the region, no two the same, each of the kind that its part
 * needs; the region has as many of each kind as parts need, or more. Parts stand in an order by clusters on each kind's
 * cores along a curve over all, and are annealed by exchanges among cores of a kind, of which most look near those that
 * a part talks to. With pulls they are annealed from a low temperature, and cost no more in the end. Does not depend on threads. Phases "order", "place". */
cm_status cm_place_by_kinds(const cm_graph *parts, const cm_place_task *task, const cm_kinds_options *options, uint32_t *core,
                            cm_kinds_result *result, cm_error *error);
