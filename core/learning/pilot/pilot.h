/* A pilot: a small network that flies local search (docs/explanation/learned-mapper.md, "The pilot"). Trades of two nodes and moves to
 * free sites are proposed by several kernels and accepted by Metropolis's rule; from what each kernel brought in of late,
 * from how far the search has come and from what the graph is like, the network says, stretch after stretch, how
 * often each kernel is asked, how wide it draws and how hot it is. */
#pragma once

#include "core/learning/agent/agent.h"
#include "core/learning/policy/pilot_network.h"

enum { CM_PILOT_STRETCHES = 40 };

typedef struct cm_pilot_task {
  const cm_policy *pilot;
  const cm_environment *environment;
  double tries; /* a node, about */
  uint64_t seed;
} cm_pilot_task;

/* Searches from at [nodes]: at is the best placement met, never worse than at the start;
 * returns its traffic in *hops. Nodes may go to any site of the environment. Depends on its arguments alone. O(tries * (entries +
 * nodes)). */
cm_status cm_pilot_fly(const cm_pilot_task *task, cm_run *run, uint32_t *at, uint64_t *hops, cm_error *error);

/* The agent: from each layout, a seventh of the tries from all but the one of least traffic. tries 0: 600
 * a node. acted [CM_LAYOUTS]. As cm_pilot_fly. */
cm_status cm_pilot_act(const cm_pilot_task *task, cm_run *run, cm_acted *acted, cm_error *error);
