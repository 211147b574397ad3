/* What the files of the quadratic assignment engine share. */
#pragma once

#include "base/random.h"
#include "core/partition/graph.h"
#include "core/placement/axes.h"

enum { CM_QAP_BLOCK = 16, CM_QAP_THRESHOLDS = 4096 };

/* An instance as the annealer wants it. Every core has an occupant: parts 0 .. parts - 1, or nobody (numbers from
 * `parts` on, which talk to no one). */
typedef struct cm_qap {
  const cm_graph *graph;
  const cm_axes *axes;
  uint32_t parts, count, stride; /* stride: count in whole blocks */
  void *distance;                /* [count * stride] between cores, of the kernel's integer type */
  void *weight;                  /* [count * stride] between occupants, shifted */
  unsigned shift;                /* weights in the tables are so many bits shorter */
  float *threshold;              /* [CM_QAP_THRESHOLDS + stride] -log of evenly spaced chances, shuffled */
} cm_qap;

/* A schedule of annealing: the temperature falls geometrically from `hot` to `cold` with the work done, which is that of
 * so many sweeps (cm_qap_sweep_work). Then pairs are swapped as long as that helps. Temperatures are in shifted
 * weights. */
typedef struct cm_qap_schedule {
  double hot, cold;
  uint32_t sweeps;
} cm_qap_schedule;

/* What a swap costs, in looks at pairs of cores. */
double cm_qap_swap_work(const cm_axes *axes);

/* The engine for one integer type: `narrow` 32 bits, `wide` 64. */
typedef struct cm_qap_kernel {
  size_t integer_bytes;
  void (*prepare)(cm_qap *qap);
  /* Anneals occupant [count] of each core in place, ending at the best found. */
  cm_status (*anneal)(const cm_qap *qap, const cm_qap_schedule *schedule, cm_random *random, cm_run *run,
                      uint32_t *occupant, cm_error *error);
} cm_qap_kernel;
extern const cm_qap_kernel cm_qap_narrow, cm_qap_wide;
