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
    cm_router_box b = cm_router_box_none();
    for (uint32_t i = problem->first[n]; i < problem->first[n + 1]; i++)
      cm_router_box_take(problem, place[problem->pin[i]], &b);
    cost += problem->weight[n] * cm_router_box_hops(&b);
  }
  return cost;
}
