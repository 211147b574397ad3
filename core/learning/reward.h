/* The reward of a placement (source 1, step s800):
 *
 *   R = -(max(cc_left, cc_right) + max(cc_up, cc_down)) * e^dl_ratio
 *
 * For one node, cc_left is the sum over the nodes that it talks to and that lie left of it of traffic * distance, the
 * others likewise; who lies to the left and above counts on both sides. The loss of a placement is the sum of the
 * bracket over all nodes (summed over nodes first, left and right would be equal: what one sees left of it sees it
 * right). dl_ratio is the number of turns that the chip's turn rule forbids, of the eight that a router could make,
 * over the number of channels that the trees of multicast nodes occupy, each tree counted by itself; 0 where there are
 * no multicast nodes. Where their targets all share their routers, 1 channel stands for none.
 *
 * The source allows a term for the tolerance of faults: here the exponent may grow by fault_weight * (1 - tolerance), where tolerance is
 * the share of the traffic that no single dead link keeps from a shortest way: between nodes behind one router, or apart in both axes,
 * which have two shortest ways without a common link. */
#pragma once

#include "core/chip/turns.h"
#include "core/learning/assign.h"
#include "core/learning/multicast.h"
#include "core/partition/graph.h"

/* What is rewarded; all borrowed. */
typedef struct cm_reward_task {
  const cm_graph *parts;         /* traffic between nodes, both directions together, scaled */
  const cm_multicast *multicast; /* NULL: there are no multicast nodes */
  const cm_chip *chip;
  const uint32_t *site; /* [sites] core numbers that nodes may stand on; not of cm_reward_compute */
  uint32_t sites;
  cm_turn_rule rule;
  cm_distance distance;
  double fault_weight; /* 0: R as above */
} cm_reward_task;

typedef struct cm_reward {
  double loss; /* sum over nodes of max(left, right) + max(up, down); scaled weights times hops */
  uint32_t forbidden_turns;
  uint64_t channels;
  double dl_ratio;
  double tolerance; /* of faults, 0 to 1; 1 where it has no weight */
  double reward; /* -loss * e^(dl_ratio + fault_weight * (1 - tolerance)) */
} cm_reward;

/* The reward of core [parts->vertex_count]. O(entries + links of the trees). CM_NO_ROUTE where dead links leave a
 * multicast node no way to a target; CM_TOO_LARGE where the loss does not fit 62 bits. */
cm_status cm_reward_compute(const cm_reward_task *task, const uint32_t *core, cm_run *run, cm_reward *reward,
                            cm_error *error);

/* ---- kept up to date while nodes move ---- */

typedef struct cm_reward_state cm_reward_state;

/* State for a placement; it borrows what the task points to. core [vertices] must be among the sites, each once. Losses are whole
 * numbers of units of cm_reward_state_unit. O(entries + sites). */
cm_status cm_reward_state_new(const cm_reward_task *task, const uint32_t *core, cm_run *run, cm_reward_state **state, cm_error *error);
void cm_reward_state_free(cm_reward_state *state); /* NULL is allowed */

/* Everybody somewhere else at once, core as above. O(entries + sites); trees are counted anew. */
cm_status cm_reward_state_place(cm_reward_state *state, const uint32_t *core, cm_error *error);

/* By how much the loss changes when what stands on site `a` and what stands on site `b` (indices into task->site, either
 * may be empty) trade places. Exact. O(degrees of both). */
int64_t cm_reward_try(cm_reward_state *state, uint32_t site_a, uint32_t site_b);

/* Trades them, and returns the change. O(degrees of both). */
int64_t cm_reward_trade(cm_reward_state *state, uint32_t site_a, uint32_t site_b);

/* The loss as it stands, in units; how many units a loss of 1 (scaled weight times hop) is. O(1). */
int64_t cm_reward_state_loss(const cm_reward_state *state);
double cm_reward_state_unit(const cm_reward_state *state);

/* The site of a node. O(1). */
uint32_t cm_reward_state_site(const cm_reward_state *state, uint32_t node);

/* Loss and channels to a reward, with what cm_reward_compute gives. */
cm_status cm_reward_state_reward(cm_reward_state *state, cm_reward *reward, cm_error *error);

/* ---- refinement ---- */

typedef struct cm_reward_refine_options {
  uint32_t sweeps; /* of annealing, each of 16 tries a node, 1024 at least; 0: descent only */
  uint64_t seed;
  double heat;     /* of the start, in mean changes of the loss; 0: as suits a placement that is good already */
} cm_reward_refine_options;

typedef struct cm_reward_refined {
  cm_reward before, after;
  uint64_t tries, trades;
} cm_reward_refined;

/* Raises the reward of core [vertices], in place, by trades and by moves to sites that are empty: annealing on the
 * loss, then descent on the reward itself until no trade helps. The result is never worse than what came in; it
 * depends on its arguments alone. Opens phase "refine". O(sweeps * 16 * entries). */
cm_status cm_reward_refine(const cm_reward_task *task, const cm_reward_refine_options *options, cm_run *run, uint32_t *core,
                           cm_reward_refined *result, cm_error *error);
