/* What the steps of a placement on a fabric share. */
#pragma once

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

/* Chips in the lower halves of order [chips], along a curve (Hilbert 1891), or column by column in bands of so many rows. O(chips * log). */
void cm_fabric_order_chips(const cm_chip_grid *f, uint32_t rows, uint64_t *order);

/* Lays groups onto chips in the order of their numbers, along the curve or in bands whose columns are as long as the largest population; each population begins on a chip of its own, and in a
 * column that it fits into, as long as there are chips enough. Groups may be left without a chip. O(groups + targets + chips * log). */
cm_status cm_fabric_lay(cm_fabric_placing *p, const cm_flows *flows, bool bands, cm_run *run, cm_error *error);

/* What a placement comes to before anything is routed. */
typedef struct cm_fabric_cost {
  uint64_t reached; /* chips that senders reach beside their own */
  uint64_t length;  /* and how far they are */
  uint64_t ways;    /* sets of targets on a chip that differ: each is an entry at least */
} cm_fabric_cost;

/* O(targets + pairs of chips of common ones). Errors: CM_MEMORY_LIMIT, CM_NO_MEMORY. */
cm_status cm_fabric_cost_of(const cm_fabric_placing *p, cm_run *run, cm_fabric_cost *cost, cm_error *error);

/* Fills one chip after the other along the curve, each with the groups that share most targets, then most flows, with what stands there, and then with what stands anywhere;
 * of as many the lowest number, so that neighbours in a population stay so. Groups that fit into none of their turns stay without a chip. O(pins of nets on each chip * log). */
cm_status cm_fabric_fill(cm_fabric_placing *p, cm_run *run, cm_error *error);

/* Swaps what stands on whole chips while flows become shorter; what is pinned stays. O(rounds * pairs of chips that talk). */
cm_status cm_fabric_swap(cm_fabric_placing *p, cm_run *run, cm_error *error);
