/* Placement problems. */
#include "core/constraints/problem.h"

void cm_problem_free(cm_problem *problem)
{
  if (problem == NULL)
    return;
  for (uint32_t i = 0; problem->node != NULL && i < problem->node_count; i++)
    cm_free(problem->node[i].name);
  for (uint32_t i = 0; i < problem->kind_count; i++)
    cm_free(problem->kind[i]);
  for (uint32_t i = 0; i < problem->group_count; i++)
    cm_free(problem->group[i]);
  cm_constraints_clear(&problem->constraints);
  CM_FREE(problem->tile, problem->node, problem->kind, problem->first, problem->pin, problem->weight, problem->group,
          problem->group_of, problem);
}

uint64_t cm_problem_cost(const cm_problem *problem, const uint32_t *place)
{
  uint64_t cost = 0;
  for (uint32_t n = 0; n < problem->net_count; n++) {
    uint32_t low[2] = {UINT32_MAX, UINT32_MAX}, high[2] = {0, 0};
    for (uint32_t i = problem->first[n]; i < problem->first[n + 1]; i++) {
      const uint32_t tile = place[problem->pin[i]], at[2] = {tile % problem->width / problem->router_x, tile / problem->width / problem->router_y};
      for (int axis = 0; axis < 2; axis++) {
        low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
        high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
      }
    }
    cost += problem->weight[n] * ((uint64_t)(high[0] - low[0]) + (high[1] - low[1]));
  }
  return cost;
}
