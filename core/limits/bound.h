/* How few parts the limits of a core allow, whatever the method: proofs, not estimates (docs/explanation/part-bound.md). */
#pragma once

#include <jansson.h>

#include "core/limits/limits.h"

typedef enum cm_argument {
  CM_ARGUMENT_NONE,   /* no limit says anything: one part */
  CM_ARGUMENT_TOTAL,  /* total / limit */
  CM_ARGUMENT_GAPS,   /* neurons that fill more than half a core leave gaps (Martello and Toth's L2 for bin packing) */
  CM_ARGUMENT_APART,  /* neurons of which no two fit one core */
  CM_ARGUMENT_POPULATIONS, /* populations that may not share a core, or not so many of them */
} cm_argument;

typedef struct cm_bound {
  uint32_t parts;       /* no legal partition has fewer */
  cm_argument argument;
  cm_resource resource; /* whose limit says so; of CM_ARGUMENT_APART, in one of the pairs; of CM_ARGUMENT_POPULATIONS nobody's */
  uint64_t total;       /* CM_ARGUMENT_TOTAL: what all parts use of it at least; CM_ARGUMENT_POPULATIONS: how many there are */
  uint64_t limit;
  double filled; /* of cores that totals fill, as a share where that is below one; 0: nothing that adds up is limited */
  uint32_t widest;        /* the neuron whose targets need the most cores */
  uint32_t widest_cores;  /* and how many at least, its own included; 0: nobody has targets */
} cm_bound;

/* Every neuron must fit a core alone (cm_check_neurons). 0 parts for an empty network. O(pins). */
cm_status cm_bound_parts(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_bound *bound,
                         cm_error *error);

/* CM_NEURON_TOO_LARGE when a neuron's targets alone need more cores than the limits on outbound axons or target
 * cores allow. */
cm_status cm_check_reach(const cm_demand *demand, const cm_bound *bound, const cm_limits *limits, cm_error *error);

/* The same without regard to populations. */
cm_status cm_bound_without_populations(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_bound *bound,
                                       cm_error *error);

/* The field of a chip file whose limit says so; NULL: none does. */
const char *cm_bound_field(const cm_bound *bound);

/* The argument in words, "65536 neurons, at most 1024 in a core"; returns `text`. */
const char *cm_bound_reason(const cm_bound *bound, char *text, size_t size);

/* The bound as JSON: parts, limit (null: none), per_core, reason. NULL when out of memory. */
json_t *cm_bound_json(const cm_bound *bound);
