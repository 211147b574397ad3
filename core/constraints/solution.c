/* From a problem to an answer. What can fail: what the search can. */
#include "core/constraints/solution.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/constraints/constraints_option.h"
#include "core/constraints/improve.h"

#define FIELD(name) offsetof(cm_solve_request, name)

/* Words that a search looks at for each of effort, and moves of annealing. */
static const uint64_t SEARCH_WORK = UINT64_C(20000000), PROOF_WORK = UINT64_C(4000000);
static const uint64_t MOVES_A_VARIABLE = 200;
static const uint32_t ROUNDS_A_VARIABLE = 1, PROOF_VARIABLES = 16, ANNEALED_MIN = 32;

/* A problem among options: it is read to be refused now, and read again when it is solved. */
static cm_status read_problem(const char *name, const json_t *value, void *field, cm_error *error)
{
  cm_problem *problem;
  char where[sizeof error->where];
  if (cm_problem_read(value, NULL, &problem, error) != CM_OK) {
    (void)snprintf(where, sizeof where, "%s", error->where);
    return cm_fail_at(error, "/options/%s%.60s", name, strcmp(where, "/") == 0 ? "" : where);
  }
  cm_problem_free(problem);
  *(bool *)field = true;
  return CM_OK;
}

static json_t *problem_schema(void)
{
  static const char text[] =
    "{\"type\": \"object\", \"required\": [\"array\", \"nodes\"], \"additionalProperties\": false, \"properties\": {"
    "\"array\": {\"type\": \"object\", \"required\": [\"columns\", \"rows\", \"tiles\"], \"properties\": {\"columns\": {\"type\": \"integer\"}, "
    "\"rows\": {\"type\": \"integer\"}, \"tiles\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"properties\": {\"kind\": {\"type\": \"string\"}}}}}}, "
    "\"nodes\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"name\"], \"properties\": {\"name\": {\"type\": \"string\"}}}}, "
    "\"edges\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"from\", \"to\"], \"properties\": {\"weight\": {\"type\": \"integer\"}}}}, "
    "\"nets\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"nodes\"], \"properties\": {\"weight\": {\"type\": \"integer\"}}}}, "
    "\"constraints\": {\"type\": \"array\", \"items\": " CM_CONSTRAINT_SCHEMA "}}}";
  json_error_t trouble;
  return cm_json_loadb(text, sizeof text - 1, 0, &trouble);
}

static const cm_option_own own_problem = {"FILE", read_problem, problem_schema};

static const cm_option options_of_solve[] = {
  {"problem", CM_OPTION_OWN, FIELD(problem), 0, 0, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "array, nodes, edges, nets and constraints", .own = &own_problem},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "same problem, options and seed: same places"},
  {"effort", CM_OPTION_COUNT, FIELD(effort), 1, 1000, 10, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "how long to search before the answer is unknown, and for cheaper places; time grows with it"},
  {"time_limit", CM_OPTION_POSITIVE, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "seconds"},
};
const cm_options cm_solve_option_table = {options_of_solve, sizeof options_of_solve / sizeof *options_of_solve, "a problem", NULL};

cm_status cm_solve_options_read(const json_t *object, cm_solve_request *request, cm_error *error)
{
  cm_solve_request made = {.problem = false};
  cm_options_default(&cm_solve_option_table, &made);
  CM_TRY(cm_options_read(&cm_solve_option_table, object, &made, error));
  *request = made;
  return CM_OK;
}

void cm_solution_clear(cm_solution *solution)
{
  cm_free(solution->place);
  cm_reason_clear(&solution->reason);
  *solution = (cm_solution){.place = NULL};
}

static uint64_t moves_of(const cm_place_model *m, uint32_t effort)
{
  return MOVES_A_VARIABLE * effort * (m->variables > ANNEALED_MIN ? m->variables : ANNEALED_MIN);
}

/* Places without a look at circuits, and annealing until these hold; unknown where they do not. */
static cm_status anneal_into_circuits(const cm_state *state, const cm_solve_request *request, cm_run *run, cm_found *found, cm_error *error)
{
  const bool limits[CM_LIMITS_ALL] = {[CM_LIMIT_CIRCUITS] = true};
  cm_place_model *model;
  cm_state *looser = NULL;
  bool legal = false;
  CM_TRY(cm_place_model_new(state->model->problem, &(cm_left_out){.limit = limits}, run->memory, &model, error));
  cm_status status = cm_state_new(model, run->memory, &looser, error);
  CM_THEN(status, cm_search_places(looser, &(cm_search){.work_max = SEARCH_WORK * request->effort, .below = UINT64_MAX}, run, found, error));
  cm_state_free(looser);
  cm_place_model_free(model);
  if (status != CM_OK || found->answer != CM_POSSIBLE)
    return status;
  status = cm_anneal_places(state, moves_of(state->model, request->effort), run, found->place, &legal, error);
  found->answer = legal ? CM_POSSIBLE : CM_UNKNOWN;
  return status;
}

/* Cheaper places than the first ones. */
static cm_status improve(cm_state *state, uint32_t effort, cm_run *run, cm_found *found, cm_error *error)
{
  const cm_place_model *m = state->model;
  uint64_t *domain;
  bool possible, legal = true;
  if (m->net_count == 0) {
    found->proved = true;
    return CM_OK;
  }
  CM_TRY(CM_NEW(run->memory, domain, (size_t)m->variables * m->words, error));
  cm_state_reset(state, NULL);
  cm_status status = cm_state_propagate(state, &possible, error);
  memcpy(domain, state->domain, (size_t)m->variables * m->words * sizeof *domain);
  CM_THEN(status, cm_anneal_places(state, moves_of(m, effort), run, found->place, &legal, error));
  CM_THEN(status, cm_search_around(state, domain, ROUNDS_A_VARIABLE * effort * m->variables, run, found->place, error));
  const uint32_t few = m->variables > PROOF_VARIABLES ? m->variables : PROOF_VARIABLES; /* of more there is hardly a proof */
  const cm_search all = {.work_max = PROOF_WORK * effort * PROOF_VARIABLES / few, .below = cm_place_model_cost(m, found->place), .cheapest = true, .domain = domain};
  CM_THEN(status, cm_search_places(state, &all, run, found, error));
  cm_free(domain);
  return status;
}

/* Places of variables, judged as those of nodes. */
typedef struct judging {
  const cm_place_model *model;
  const cm_solve_request *request;
  uint32_t *place;
} judging;

static void spread(const cm_place_model *m, const uint32_t *place, uint32_t *of_nodes)
{
  for (uint32_t i = 0; i < m->problem->node_count; i++)
    of_nodes[i] = place[m->variable_of[i]];
}

static cm_status judge_nodes(void *context, const uint32_t *place, bool *good, cm_error *error)
{
  const judging *j = context;
  spread(j->model, place, j->place);
  return j->request->judge(j->request->context, j->place, good, error);
}

static cm_status solve_model(cm_state *state, const cm_solve_request *request, cm_run *run, cm_solution *made, cm_error *error)
{
  const cm_problem *p = state->model->problem;
  cm_found found = {.place = NULL};
  CM_TRY(CM_NEW(run->memory, found.place, state->model->variables, error));
  cm_run_phase(run, "search");
  judging judged = {state->model, request, made->place};
  const cm_search any = {.work_max = SEARCH_WORK * request->effort, .below = UINT64_MAX, .judge = request->judge != NULL ? judge_nodes : NULL, .context = &judged};
  found.answer = CM_UNKNOWN;
  cm_status status = state->model->circuit_count > 0 ? anneal_into_circuits(state, request, run, &found, error) : CM_OK;
  CM_THEN_IF(status, found.answer == CM_UNKNOWN, cm_search_places(state, &any, run, &found, error));
  made->answer = found.answer;
  if (status == CM_OK && made->answer == CM_POSSIBLE) {
    cm_run_phase(run, "anneal");
    status = request->judge == NULL ? improve(state, request->effort, run, &found, error) : CM_OK;
    made->optimal = found.proved;
    spread(state->model, found.place, made->place);
    made->cost = cm_problem_cost(p, made->place);
  }
  cm_free(found.place);
  return status;
}

cm_status cm_solve(const cm_problem *problem, const cm_solve_request *request, cm_run *run, cm_solution *solution, cm_error *error)
{
  cm_solution made = {.answer = CM_UNKNOWN};
  cm_place_model *model = NULL;
  cm_state *state = NULL;
  const uint64_t seed = run->seed;
  run->seed = request->seed;
  if (request->time_limit > 0)
    run->deadline = cm_now() + request->time_limit;
  cm_status status = CM_NEW(run->memory, made.place, problem->node_count, error);
  CM_THEN(status, cm_place_model_new(problem, NULL, run->memory, &model, error));
  CM_THEN(status, cm_state_new(model, run->memory, &state, error));
  CM_THEN(status, solve_model(state, request, run, &made, error));
  run->seed = seed;
  cm_state_free(state);
  cm_place_model_free(model);
  if (status == CM_OK && made.answer == CM_IMPOSSIBLE && !request->unexplained) {
    cm_run_phase(run, "explain");
    status = cm_explain(problem, SEARCH_WORK * request->effort, run, &made.reason, error);
  }
  CM_END(status, *solution = made, cm_solution_clear(&made));
}
