/* A policy at work: from where nodes stand to where it puts them, a few times over. */
#ifndef CM_LEARNING_AGENT_AGENT_H
#define CM_LEARNING_AGENT_AGENT_H

#include "core/learning/agent/scene.h"

/* Where one start led. */
typedef struct cm_acted {
  uint32_t *at;           /* [nodes] site of each node; the caller's (cm_free) */
  uint64_t before, after; /* sum of weight * distance at the start, and of `at` */
  uint32_t steps;         /* time steps taken from there */
} cm_acted;

/* The policy is shown the scene with the nodes where a layout puts them. In a time step all nodes want to go where it
 * says: at first to the means of their Gaussians, then to draws from them; conflicts are settled (cm_rule), and those
 * exchanges are carried out that lower the traffic (exchange.h). After CM_STEPS_A_LOOK steps it is shown the scene
 * again. `steps` time steps from every layout, then three times as many from the best of them; 0: as many as suit the size,
 * 8 to 32. acted [CM_LAYOUTS]. Does not depend on the number of threads. O(steps * (entries + sites log(sites)) + looks
 * * (parameters * nodes + layers * width * entries)). */
enum { CM_STEPS_A_LOOK = 8 };
cm_status cm_policy_act(const cm_policy *policy, const cm_scene *scene, uint32_t steps, cm_run *run, cm_acted *acted,
                        cm_error *error);
void cm_acted_free(cm_acted *acted); /* all CM_LAYOUTS; harmless on zeroed ones */

/* The one of least traffic, the first of equals. */
uint32_t cm_acted_best(const cm_acted *acted);

#endif
