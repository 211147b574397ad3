/* A policy at work: from where nodes stand to where it puts them, a few times over. */
#ifndef CM_LEARNING_AGENT_H
#define CM_LEARNING_AGENT_H

#include "core/learning/scene.h"

/* Where one start led. */
typedef struct cm_acted {
  uint32_t *at;           /* [nodes] site of each node; the caller's (cm_free) */
  uint64_t before, after; /* sum of weight * distance at the start, and of `at` */
  uint32_t rounds;        /* time steps that it took to get there; 0: the start was the best */
} cm_acted;

/* The policy is shown the scene with the nodes where a layout puts them, all nodes go at once to the core that is
 * likeliest (LEARN-3), conflicts settled by either rule (cm_rule), whichever costs less. When that is better than what
 * there was, the scene is shown again; when not, the same look is used once more, but a growing share of the nodes,
 * drawn by lot, want to stay where they are, and every other time the others go where their Gaussians are drawn.
 * `rounds` time steps in all, 0: 12 to 96, fewer on large graphs. acted [CM_LAYOUTS]. Does not depend on the number of
 * threads. O(rounds * (parameters * nodes + layers * width * entries)). */
cm_status cm_policy_act(const cm_policy *policy, const cm_scene *scene, uint32_t rounds, cm_run *run, cm_acted *acted,
                        cm_error *error);
void cm_acted_free(cm_acted *acted); /* all CM_LAYOUTS; harmless on zeroed ones */

#endif
