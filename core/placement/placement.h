/* Placement: part -> core of a region, so that parts that talk much are near each other. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/task.h"

/* Initial placement by bisection (source 0, steps s8-1 and s8-2): the region is split at the middle of its
 * longer side, the parts by greedy growing so that each side holds exactly as many as it has cores, until one part
 * meets one core. `parts` is the graph of parts; the region has as many cores. Fills core [parts] with
 * core numbers. Opens phase "place". O(entries * log(parts) * log(cores)) times tries. */
cm_status cm_place_by_bisection(const cm_graph *parts, const cm_place_task *task, uint32_t tries, uint32_t *core,
                                cm_error *error);

typedef struct cm_force_options {
  double share;        /* of the parts, those with the largest force, that one round moves (0.05) */
  uint32_t rounds_max; /* upper limit of rounds */
  double looks_max;    /* no round begins after so many looks at pairs of parts (20 ns each, about); 0: no limit */
} cm_force_options;

typedef struct cm_force_result {
  uint32_t rounds;
  uint64_t swaps;
  double force_before, force_after; /* sum of the lengths of all net forces, scaled weights */
} cm_force_result;

/* Force-directed refinement (source 0, steps s9-1 and s9-2). An edge (u, v, w) pulls u by w * (xv-xu,
 * yv-yu). Each round sorts parts by net force and walks the largest share of them; each looks through the quadrant
 * that its force points to for the part whose swap lowers the sum of both net forces' lengths most, and swaps. Ends when a round swaps
 * nothing or at a limit. Positions are those of the cores' routers; the way round a torus is not used, as in the
 * seed. Opens phase "force". O(rounds * (parts * log(parts) + share * parts * (cores of the
 * region's box + degree))). */
cm_status cm_place_by_force(const cm_graph *parts, const cm_place_task *task, const cm_force_options *options, uint32_t *core,
                            cm_force_result *result, cm_error *error);

/* Sum of edge weight * energy of the way between its cores (links, and routers but one), in pJ of scaled weights.
 * O(entries). */
double cm_placement_energy(const cm_graph *parts, const cm_chip *chip, const uint32_t *core);

/* Sum of edge weight * distance of a placement, scaled. O(entries). */
uint64_t cm_placement_traffic(const cm_graph *parts, const cm_chip *chip, const uint32_t *core);
