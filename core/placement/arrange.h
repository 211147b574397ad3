/* The placement of presets fast, balanced and best: parts to the cores of a region. */
#ifndef CM_PLACEMENT_ARRANGE_H
#define CM_PLACEMENT_ARRANGE_H

#include "core/partition/flows.h"
#include "core/partition/graph.h"
#include "core/placement/task.h"

/* So many cores at most are annealed with tables; more are placed by blocks. */
enum { CM_ARRANGE_FEW = 512 };

typedef enum cm_arrange_effort { CM_ARRANGE_FAST, CM_ARRANGE_BALANCED, CM_ARRANGE_BEST } cm_arrange_effort;

typedef struct cm_arrange_options {
  cm_arrange_effort effort;
  const cm_flows *flows; /* what the parts send to each other: among placements within 1 % of the least energy, the one with
                            the lowest peak router load is taken (relief/relief.h); NULL: cost alone counts */
} cm_arrange_options;

typedef struct cm_arrange_result {
  const char *method;       /* "curve and swaps", "annealing", "blocks and exchanges": "blocks by ways"; static text */
  uint64_t curve, refined;  /* sum of weight * distance (in units of cm_axes) along the curve, and at the end; scaled */
  uint32_t rounds;          /* of swaps */
  uint64_t swaps;
  bool relieved;            /* whether loads were looked at: then */
  double busiest_before, busiest; /* load of the busiest router, in units of the flows: for the least cost, and here */
  uint64_t least;           /* that least cost */
} cm_arrange_result;

/* Places the parts on the cores of the region, as many as there are parts or more. The effort is counted in steps, never
 * in seconds: the result depends on the input and the options alone. Fills core [parts] with core numbers. Phases
 * "place" and "anneal". FAST, and the others beyond 512 cores: as cm_place_by_blocks, and loads are not looked at; else
 * as cm_place_by_annealing. */
cm_status cm_arrange(const cm_graph *parts, const cm_place_task *task, const cm_arrange_options *options, uint32_t *core,
                     cm_arrange_result *result, cm_error *error);

#endif
