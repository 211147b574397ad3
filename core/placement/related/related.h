/* Placement where constraints relate parts to each other (core/constraints/cells.c), or routers and dies limit them together: a complete search, then annealing that keeps them. */
#pragma once

#include "core/chip/resources.h"
#include "core/constraints/areas.h"
#include "core/partition/graph.h"

typedef struct cm_related_task {
  const cm_areas *areas;
  const cm_demand *demand;
  const cm_occupancy *occupancy; /* of areas->chip */
  const cm_graph *parts;         /* what they say to each other */
  const uint32_t *part;          /* [vertices] */
  const uint64_t *use;           /* [parts * CM_RESOURCES] where routers or dies limit what their cores take together, or cores are shared; else NULL */
  const uint8_t *kind;           /* [parts] the job's kind of cores that each needs is that of this one; NULL: any */
  const uint32_t *fixed;         /* [fixed_count] where the first parts stand: they take no room there, and constraints ask nothing of them; NULL: none do */
  uint32_t fixed_count;
  const cm_limits *sharing;      /* [kinds of areas->chip] with fixed parts, or `takes`: neurons and synapses that the others may take on a core; NULL: each has one of its own */
  uint64_t seed;
  /* Parts of one neuron each, with `use` and `sharing` and without fixed ones: what is asked of all partitions, so that a refusal is a proof. */
  const uint64_t *takes;         /* [parts] the job's kinds of cores that take each, as bits; NULL: parts are whole */
  cm_status (*judge)(void *context, const uint32_t *core, bool *good, cm_error *error); /* whether cores [parts] are good beside; NULL: all are */
  void *context;
  uint32_t effort;               /* as of coremap solve */
  cm_run *run;
} cm_related_task;

/* Fills core [parts], free ones of areas->chip on which all constraints hold; *optimal: no others cost fewer hops. Errors: CM_LIMIT_BROKEN: the parts have no
 * places, with constraints of which none can be left out, or none were found (with fixed parts, in words that say nothing); CM_TOO_LARGE: pins and parts need more than CM_PROBLEM_TILES_MAX cores to choose
 * from; cancelled, memory. */
cm_status cm_place_related(const cm_related_task *task, uint32_t *core, bool *optimal, cm_error *error);

/* related_near.c: the box of cores around the cheapest region with room to choose from, or around fixed parts, and those that pins name, in whole routers, or dies. O(cores). Errors:
 * memory. */
cm_status cm_related_near(const cm_related_task *task, cm_rectangle *box, cm_error *error);
