/* The steps of the integrated mapper on one level. */
#pragma once

#include "base/random.h"
#include "core/placement/mesh/mesh_state.h"

enum { CM_CHANCES = 4096 };

/* -log(chance) for evenly spaced chances: a change is accepted when it is below the temperature times a random one. */
void cm_mesh_chances(float *chance);

typedef struct cm_mesh_schedule {
  double hot, cold;    /* temperature at start and end, in the tables' units */
  double sweeps;       /* visits of all vertices */
  double share;        /* of the stretch under way (cm_run_add) */
  const float *chance; /* [CM_CHANCES] */
} cm_mesh_schedule;

/* The typical change of cost when a vertex moves by one cell: twice the mean over vertices of the root of the sum of
 * squared weights, times the step of the grid. The unit of temperatures. O(entries). */
double cm_mesh_typical(const cm_mesh_state *s);

/* Visits the vertices in turn, but for those that all but cannot gain; each is offered an adjacent cell or the cell of
 * a random neighbour, alone where it has room, else in exchange for one of its members that lean the way back. Limits
 * are never broken. O(sweeps * vertices) and O(degree * (columns + rows)) per change; where there is no table
 * O(sweeps * entries). */
cm_status cm_mesh_anneal(cm_mesh_state *s, const cm_mesh_schedule *schedule, cm_random *random, cm_error *error);

/* Moves each vertex to the best of the adjacent cells and its median cell as long as that helps and has room. */
cm_status cm_mesh_settle(cm_mesh_state *s, uint32_t passes, cm_error *error);

/* Brings every cell within its limit by chains of moves to cells that have room, at least cost each.
 * CM_LIMIT_BROKEN when no chain is left. */
cm_status cm_mesh_rebalance(cm_mesh_state *s, cm_error *error);
