/* Simulated annealing of placements, as a peer for bench/learned: written for this comparison, not used elsewhere. */
#ifndef CM_BENCH_PLACERS_ANNEALING_H
#define CM_BENCH_PLACERS_ANNEALING_H

#include "core/chip/chip.h"
#include "core/partition/graph.h"

/* Swaps of two nodes and moves to free cores, on the sum of weight * distance: changes by difference, a window of moves
 * that closes as acceptance falls (Lam's 44 %), temperatures by time used, hot at first, then a descent. core [nodes]
 * holds distinct ones of free_core [count] at the start, and the best placement found at the end. Takes about `seconds`
 * of CPU time. False when out of memory. */
bool bench_anneal(const cm_graph *parts, const cm_chip *chip, const uint32_t *free_core, uint32_t count,
                  double seconds, uint64_t seed, uint32_t *core);

double bench_cpu_seconds(void);

#endif
