/* The placement engine: parts to the cores of a region. */
#pragma once

#include "core/partition/flows.h"
#include "core/partition/graph.h"
#include "core/placement/task.h"

/* What placing may cost, and how that is spent: counted in steps, never in seconds. Numbers are 0 and more, and above 0 where nothing
 * else is said. */
typedef struct cm_arrange_budget {
  uint32_t few;         /* so many cores at most are annealed with tables, up to CM_QAP_CORES_MAX, and more placed by blocks; 0: none are */
  double looks;         /* of annealing, at pairs of cores */
  uint32_t population;  /* annealed together, at most */
  double sweeps_max;    /* of all of them */
  bool alone;           /* one annealing takes all looks where they are less than one of use: short ones end no lower together */
  double relief;        /* bookings of packets at routers, for loads; 0: loads are never looked at */
  /* By blocks: entries of the graph that are looked at on the finest level, within these numbers of sweeps; on all levels of a descent
   * (0: as each level takes), and so of many parts; V-cycles after the descent. */
  double block_entries, block_sweeps_min, block_sweeps_max, descent_entries, many_entries;
  uint32_t block_cycles;
  /* Where distances come from an interconnect: entries that are looked at, within so many sweeps. */
  double way_entries, way_sweeps;
} cm_arrange_budget;

typedef struct cm_arrange_options {
  const cm_arrange_budget *budget;
  const cm_flows *flows; /* what the parts send to each other: among placements within 1 % of the least energy, the one with
                            the lowest peak router load is taken (relief/relief.h); NULL: cost alone counts */
} cm_arrange_options;

typedef struct cm_arrange_result {
  const char *method;       /* "annealing", "blocks and exchanges": "blocks by ways"; static text */
  uint64_t curve, refined;  /* sum of weight * distance (in units of cm_axes) along the curve, and at the end; scaled */
  uint64_t swaps;
  bool relieved;            /* whether loads were looked at: then */
  double busiest_before, busiest; /* load of the busiest router, in units of the flows: for the least cost, and here */
  uint64_t least;           /* that least cost */
} cm_arrange_result;

/* Places the parts on the cores of the region, as many as there are parts or more. The result depends on the input and the
 * options alone. Fills core [parts] with core numbers. Phases "place" and "anneal". Beyond budget->few cores as cm_place_by_blocks,
 * and loads are not looked at; else as cm_place_by_annealing. */
cm_status cm_arrange(const cm_graph *parts, const cm_place_task *task, const cm_arrange_options *options, uint32_t *core,
                     cm_arrange_result *result, cm_error *error);

/* Improves core [parts], cores of the region in ascending order, by the ways of an interconnect, where it was placed along axes: never
 * worse. On a mesh, whose ways are those of its axes, nothing changes. Errors as above. */
cm_status cm_arrange_again(const cm_graph *parts, const cm_place_task *task, const cm_arrange_budget *budget, uint32_t *core,
                           cm_error *error);
