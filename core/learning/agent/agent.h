/* A policy at work: from where nodes stand to where it puts them, a few times over. */
#pragma once

#include "core/learning/agent/environment.h"

/* Where one start led. */
typedef struct cm_acted {
  uint32_t *at;           /* [nodes] site of each node; the caller's (cm_free) */
  uint64_t before, after; /* sum of weight * distance at the start, and of `at` */
  uint32_t steps;         /* time steps taken from there */
} cm_acted;

/* The policy is shown the environment with the nodes where a layout puts them: all want to go to the means of their
 * Gaussians, conflicts are settled (cm_rule), and those exchanges are carried out that lower the traffic (exchange.h).
 * In each of the following time steps all want to go to a draw from their Gaussians, made wider; what a whole ring of
 * them saves is carried out, then what one after the other saves, or costs little, the less the later. After
 * CM_STEPS_A_LOOK steps the policy is shown the environment again. `steps` time steps from every layout, then twelve times as
 * many from the best of them, where nodes may leave their processors; 0: as many as suit the size, 4 to 16. Never worse
 * than where it begins. acted [CM_LAYOUTS]. Does not depend on the number of threads. O(steps * (entries + sites *
 * log(sites)) + looks * (parameters * nodes + layers * width * entries)). */
enum { CM_STEPS_A_LOOK = 16 };
cm_status cm_policy_act(const cm_policy *policy, const cm_environment *environment, uint32_t steps, cm_run *run, cm_acted *acted,
                        cm_error *error);
void cm_acted_free(cm_acted *acted); /* all CM_LAYOUTS; harmless on zeroed ones */

/* The one of least traffic, the first of equals. */
uint32_t cm_acted_best(const cm_acted *acted);
