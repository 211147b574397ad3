/* The letter of source 1 with fully connected layers, trained on the one graph that it then places: placements are drawn in one time step,
 * each is rewarded as a whole, and the network changes whenever the rewards add up to the threshold (PPO), until so many were drawn. */
#pragma once

#include "core/learning/agent/environment.h"
#include "core/learning/reward.h"

typedef struct cm_letter_tuning {
  const cm_environment *environment;
  const cm_reward_task *task; /* what is rewarded, on the sites of the environment; its distance is that of the conflict rule too */
  uint32_t axes;              /* Gaussians a node: 1 over the physical nodes in order, 2 over columns and rows */
  bool by_core;               /* each core takes the node most probable for it, instead of each node its core */
  uint64_t draws;             /* placements that are drawn and rewarded */
  uint64_t seed;
} cm_letter_tuning;

/* What came of it. */
typedef struct cm_letter_tuned {
  uint64_t draws, updates;
} cm_letter_tuned;

/* Fills at [nodes] with where the trained network puts everybody. Opens phase "train". The same for the same arguments.
 * O(draws * (entries + sites + nodes * places of an axis)). */
cm_status cm_letter_tune(const cm_letter_tuning *task, cm_run *run, uint32_t *at, cm_letter_tuned *tuned, cm_error *error);
