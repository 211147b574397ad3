/* A mapping on its way: one home for all that the phases make of a job, from its parts to their places. What is made
 * stays as it is afterwards, but for `objective` and `places`. */
#pragma once

#include "core/mapping/mapping.h"
#include "core/mapping/options.h"
#include "core/partition/flows.h"
#include "core/partition/partition.h"
#include "core/partition/quality.h"

/* Parts on cores, with what a method of placement has to tell of them. */
typedef struct cm_places {
  uint32_t *core;    /* [part_count] of each part; NULL: not placed */
  cm_region *region; /* of those cores */
  uint32_t number;   /* of the region, among those that were compared */
  double energy;     /* cm_placement_energy */
  double busiest;    /* load of the busiest router, in units of the flows; 0: not looked at */
  double trees;      /* what the links of all axons' trees cost, in units of the weights; 0: not looked at, or none has a link */
  json_t *report;    /* what the method has to tell */
} cm_places;

void cm_places_free(cm_places *places); /* harmless on zeroed ones */

typedef struct cm_candidate {
  const cm_map_input *input; /* with an occupancy, where there is a chip */
  cm_run *run;

  /* Parts: cm_make_parts. */
  cm_objective objective;  /* by which it is judged: as chosen, or what suits the network */
  cm_limits limits;        /* the chip's, tightened by max_part_size; 0: none */
  cm_bound bound;          /* how few parts these allow */
  cm_partition *partition; /* keeps all of them; its cores, if the method gave any, are those of `places` */
  uint64_t *use;           /* [part_count * CM_RESOURCES] what each part asks of its core; NULL: not counted */
  cm_quality quality;
  cm_attempt attempts[CM_ATTEMPTS_MAX];
  uint32_t attempt_count; /* the last one made the partition */

  /* Places: cm_place_parts. */
  cm_places places;
  cm_flows *flows; /* what the parts send to each other, where loads are looked at; else NULL */
  uint32_t region_count; /* that were compared */

  double cost; /* what the job pays for it (core/solver/driver/portfolio.c); 0: not weighed */
} cm_candidate;

void cm_candidate_free(cm_candidate *candidate); /* harmless on a zeroed one */

/* A mapping of what was made, to look at: it owns nothing, and has neither metrics nor report. */
cm_mapping cm_candidate_view(const cm_candidate *candidate);

/* A mapping of its own with the parts, places and attempts, which the candidate gives up; metrics, options and report
 * are the caller's to fill. Errors: memory. */
cm_status cm_candidate_deliver(cm_candidate *candidate, cm_mapping **mapping, cm_error *error);
