/* Placement problems from bytes: places that the judge takes, or a reason, or a refusal with its place; small ones are solved. */
#include <stdlib.h>

#include "core/constraints/solution.h"
#include "core/verify/problem_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(const cm_problem *problem, cm_memory *memory)
{
  cm_run run;
  cm_error error;
  cm_solution solution;
  cm_run_init(&run);
  run.memory = memory;
  if (cm_solve(problem, &(cm_solve_request){.seed = 1, .effort = 1}, &run, &solution, &error) != CM_OK) {
    if (error.status != CM_TOO_LARGE && error.status != CM_MEMORY_LIMIT)
      abort();
    return;
  }
  json_t *told = cm_solution_json(problem, &solution);
  if (told == NULL || (solution.answer == CM_POSSIBLE && (cm_problem_check(problem, solution.place, memory, &error) != CM_OK ||
                                                           solution.cost != cm_problem_cost(problem, solution.place))))
    abort();
  json_decref(told);
  cm_solution_clear(&solution);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_problem *problem;
  cm_memory_init(&memory, UINT64_C(64) << 20);
  if (cm_problem_parse((const char *)data, size, &memory, &problem, &error) == CM_OK) {
    if (cm_problem_tiles(problem) <= 64 && problem->node_count <= 12)
      solve(problem, &memory);
    cm_problem_free(problem);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0') {
    abort();
  }
  if (memory.used_bytes != 0)
    abort();
  return 0;
}
