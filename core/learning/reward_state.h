/* The state of a reward, shared by the files that keep it: reward.c (state, trees), reward_loss.c (losses). */
#pragma once

#include "core/chip/turn_trees.h"
#include "core/learning/reward.h"

/* What a node pays to those west, east, north and south of it. */
typedef int64_t cm_sides __attribute__((vector_size(32), aligned(8)));

/* A router. */
typedef struct cm_place {
  int32_t x, y;
} cm_place;

struct cm_reward_state {
  cm_reward_task task;
  cm_run *run;
  const uint32_t *site; /* [sites] core numbers */
  uint32_t sites, nodes;
  cm_place *place;      /* [sites] */
  uint32_t *site_of;    /* [cores of the chip] CM_NOBODY: none */
  cm_place *where;      /* [nodes] */
  int32_t routers_x, routers_y;
  bool torus;
  int64_t *euclidean;   /* [routers_x * routers_y] length of (ax, ay) steps in units; NULL: Manhattan */
  double unit;
  uint32_t *node_at;    /* [sites] */
  uint32_t *at;         /* [nodes] */
  cm_sides *paid;       /* [nodes] */
  int64_t loss;
  int64_t *said;        /* [nodes] scratch of a trade, zero between trades */
  /* Trees of multicast nodes. */
  cm_tracer *tracer;
  uint32_t *router;     /* [nodes] of the targets under way */
  uint32_t *source_first, *source; /* [nodes + 2] and [targets] the multicast nodes that each node is a target of */
  uint64_t *links;      /* [nodes] of each tree */
  uint8_t *stale;       /* [nodes] trees to be counted anew */
  uint32_t *stale_list; /* [nodes] */
  uint32_t stale_count;
  uint64_t channels;
};

/* Fills `euclidean` and `unit`. CM_TOO_LARGE where the loss may not fit. */
cm_status cm_reward_lengths_new(cm_reward_state *state, cm_memory *memory, cm_error *error);

/* Fills `paid` and `loss` from scratch. O(entries). */
void cm_reward_pay_all(cm_reward_state *state);

/* The share of the traffic that no single dead link keeps from a shortest way. O(entries). */
double cm_reward_tolerance(const cm_reward_state *state);

/* What a trade changes, and makes it when it is to stay. */
int64_t cm_reward_exchange(cm_reward_state *state, uint32_t site_a, uint32_t site_b, bool stay);
