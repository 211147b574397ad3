/* Between assigning neurons to parts (reassign.c) and taking them out of parts that ask too much (evict.c). */
#pragma once

#include "core/limits/limits.h"
#include "core/partition/population_tally.h"
#include "core/placement/reassign/reassign.h"

/* One reassignment under way: owns its arrays, and not the assignment. */
typedef struct cm_reassignment {
  cm_assignment *s;
  const cm_demand *demand;
  cm_run *run;
  uint64_t *in_first;   /* [vertex_count + 1] */
  uint32_t *in_net;     /* [pin_count] nets that have the neuron as a target */
  uint32_t *out_first;  /* [vertex_count + 1] nets of a neuron stand together */
  uint64_t *use;        /* [(room + 1) * CM_RESOURCES], the last part being nowhere */
  uint32_t *members;    /* [room + 1] neurons of each part */
  double *tie;          /* [room + 1] packets between the neuron under way and each part */
  uint32_t *touched;    /* parts with a tie */
  uint32_t touched_count;
  uint32_t *known, *stamp; /* [room + 1] sources of the neuron whose axons come to the part already; the last, plus 1 */
  uint32_t *reached;    /* parts that some source reaches */
  uint32_t reached_count;
  uint32_t *own_part;   /* [vertex_count] with nowhere as a part of its own, for counting */
  uint8_t *taken;       /* [cores] no part may come there; NULL: nobody is pinned */
  uint32_t *firm;       /* [(room + 1) * CM_FIRM] members of each part by how firm they stand; NULL too */
  cm_population_tally populations;
} cm_reassignment;

enum { CM_FIRM = 8 };

/* How firm a neuron stands: 0 is free, the last is held, and between them are pinned ones, by how few cores take them. O(kinds). */
uint32_t cm_firmness(const cm_assignment *assignment, uint32_t vertex);

/* What a part asks of a resource. */
static inline uint64_t *cm_part_use(const cm_reassignment *w, uint32_t part, cm_resource resource)
{
  return &w->use[(size_t)part * CM_RESOURCES + resource];
}

/* Takes neurons out of parts that break a limit, of the least firm ones those with the least traffic to their part first; *any is false when no part breaks one.
 * w->use and w->members are as counted. O(pins of their neurons). */
cm_status cm_evict_over_limits(cm_reassignment *w, bool *any, cm_error *error);
