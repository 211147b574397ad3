/* What the steps of a placement on a fabric share. */
#ifndef CM_FABRIC_PLACING_H
#define CM_FABRIC_PLACING_H

#include "core/fabric/fabric_nets.h"

typedef struct cm_fabric_placing {
  const cm_chip_grid *f;
  const cm_fabric_groups *groups;
  const cm_fabric_nets *nets; /* NULL: groups are wished to places */
  uint32_t *chip;             /* [groups]: CM_NO_CHIP: none yet */
  uint32_t *cores;            /* [chips]: free */
  uint64_t *memory;           /* [chips]: free bytes */
} cm_fabric_placing;

static inline bool cm_fabric_fits(const cm_fabric_placing *p, uint32_t group, uint32_t chip)
{
  return p->groups->cores[group] <= p->cores[chip] && p->groups->memory[group] <= p->memory[chip];
}

static inline void cm_fabric_put(cm_fabric_placing *p, uint32_t group, uint32_t chip)
{
  p->chip[group] = chip;
  p->cores[chip] -= p->groups->cores[group];
  p->memory[chip] -= p->groups->memory[group];
}

/* Fills one chip after the other along a curve (Hilbert 1891), each with the groups that share most targets, then most flows, with what stands there, and then with what stands anywhere;
 * of as many the lowest number, so that neighbours in a population stay so. Groups that fit into none of their turns stay without a chip. O(pins of nets on each chip * log). */
cm_status cm_fabric_fill(cm_fabric_placing *p, cm_run *run, cm_error *error);

/* Swaps what stands on whole chips while flows become shorter; what is pinned stays. O(rounds * pairs of chips that talk). */
cm_status cm_fabric_swap(cm_fabric_placing *p, cm_run *run, cm_error *error);

#endif
