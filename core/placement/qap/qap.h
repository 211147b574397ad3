/* The placement engine: parts of a graph to cores, one each, for the least sum of weight * distance (the quadratic
 * assignment problem). Annealing with swaps judged in constant time, and a memetic search over its results.
 * docs/explanation/placement.md explains the method and its sources. */
#pragma once

#include "core/partition/graph.h"
#include "core/placement/axes.h"
#include "core/placement/qap/crossing.h"

/* Annealed arrangements, for those who have more to choose by than the cost: the cheapest ones, no two of one cost. */
typedef struct cm_qap_pool {
  uint32_t most, count;
  uint32_t *at;   /* [most * parts] */
  uint64_t *cost; /* [most] */
} cm_qap_pool;

typedef struct cm_qap_options {
  uint32_t population;   /* arrangements annealed from scratch, at least 1 */
  uint32_t sweeps;       /* of each of these annealings */
  uint32_t children;     /* arrangements bred from two of the population afterwards; where the population has come to its
                            end and much of that work is left, it is kept in mind and another one begun */
  uint32_t child_sweeps; /* of annealing one of them */
  uint64_t seed;
  const uint32_t *start; /* [parts] NULL: at random; else the population is annealed from here, less hot */
  cm_qap_pool *pool;     /* gets what was annealed; NULL: nobody asks */
} cm_qap_options;

/* The work of a sweep, in looks at pairs of cores (half a nanosecond each): a look at every pair, and as many swaps as
 * usually follow. Where more do, a sweep is less than a look at every pair, so that it takes the same time always. */
double cm_qap_sweep_work(const cm_axes *axes);

/* The most sweeps that an annealing of so many cores has use for: beside longer ones, more of them end lower. */
double cm_qap_sweeps_max(uint32_t cores);

/* Divides work of so many sweeps between a population (at least 1; alone, it gets all) and children
 * bred from it. `start` is NULL. */
cm_qap_options cm_qap_divide(double sweeps, uint32_t population, uint32_t cores, uint64_t seed);

/* Fills at [parts] with the number of each part's core in the list of the axes, no two the same; at most
 * CM_QAP_CORES_MAX cores, at least as many as parts. The result does
 * not depend on the number of threads. O((population * sweeps + children * child_sweeps) * cm_qap_sweep_work), memory
 * O(threads * cores^2). */
cm_status cm_place_by_annealing(const cm_graph *parts, const cm_axes *axes, const cm_qap_options *options, cm_run *run,
                                uint32_t *at, cm_error *error);

/* Sum over edges of weight * distance, from scratch. O(entries). */
uint64_t cm_axes_cost(const cm_graph *parts, const cm_axes *axes, const uint32_t *at);
