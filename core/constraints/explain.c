/* Minimal reasons by deletion: what can be left out of an impossible problem that stays impossible is left out, constraints and limits one by one, nodes
 * by halves. What can fail: memory, being cancelled. */
#include <string.h>

#include "core/constraints/solution.h"

typedef struct explaining {
  const cm_problem *p;
  cm_run *run;
  uint64_t work;
  bool *constraint, *node; /* left out */
  bool limit[CM_LIMITS_ALL];
  bool sure; /* every answer was one */
} explaining;

void cm_reason_clear(cm_reason *reason)
{
  CM_FREE(reason->constraint, reason->node, reason->enough);
  *reason = (cm_reason){.minimal = false};
}

static cm_status ask(explaining *e, cm_answer *answer, cm_error *error)
{
  const cm_left_out out = {e->constraint, e->limit, e->node};
  cm_place_model *model;
  cm_state *state = NULL;
  cm_found found = {.place = NULL};
  CM_TRY(cm_place_model_new(e->p, &out, e->run->memory, &model, error));
  cm_status status = cm_state_new(model, e->run->memory, &state, error);
  CM_THEN(status, CM_NEW(e->run->memory, found.place, model->variables, error));
  CM_THEN(status, cm_search_places(state, &(cm_search){.work_max = e->work, .below = UINT64_MAX}, e->run, &found, error));
  *answer = found.answer;
  cm_free(found.place);
  cm_state_free(state);
  cm_place_model_free(model);
  return status;
}

/* Leaves something out where that leaves the rest impossible. */
static cm_status leave_out(explaining *e, bool *what, cm_error *error)
{
  cm_answer answer;
  *what = true;
  CM_TRY(ask(e, &answer, error));
  *what = answer == CM_IMPOSSIBLE;
  e->sure = e->sure && answer != CM_UNKNOWN;
  return CM_OK;
}

/* Nodes that a constraint on all of its members needs stay: without them it asks for more. */
static void mark_bound(const explaining *e, bool *bound)
{
  for (uint32_t i = 0; i < e->p->constraints.count; i++) {
    const cm_constraint *c = &e->p->constraints.constraint[i];
    for (uint32_t k = 0; k < c->of_count && c->kind == CM_CONNECTED && !e->constraint[i]; k++)
      bound[c->of[k]] = true;
  }
}

/* By halves: all of from .. to - 1, else each half of them. */
static cm_status leave_nodes(explaining *e, const bool *bound, uint32_t from, uint32_t to, cm_error *error)
{
  cm_answer answer = CM_IMPOSSIBLE;
  bool any = false;
  for (uint32_t i = from; i < to; i++) {
    e->node[i] = !bound[i];
    any = any || !bound[i];
  }
  CM_TRY_IF(any, ask(e, &answer, error));
  if (answer == CM_IMPOSSIBLE)
    return CM_OK;
  for (uint32_t i = from; i < to; i++)
    e->node[i] = false;
  const uint32_t middle = from + (to - from) / 2;
  if (to - from == 1)
    return CM_OK;
  return leave_nodes(e, bound, from, middle, error) == CM_OK ? leave_nodes(e, bound, middle, to, error) : error->status;
}

static cm_status shrink(explaining *e, bool *bound, cm_error *error)
{
  /* What comes last is tried first: of two that are as much in the way, the earlier one is told. */
  for (uint32_t i = e->p->constraints.count; i-- > 0;)
    CM_TRY(leave_out(e, &e->constraint[i], error));
  for (uint32_t l = 0; l < CM_LIMITS_ALL; l++)
    CM_TRY(leave_out(e, &e->limit[l], error));
  mark_bound(e, bound);
  return leave_nodes(e, bound, 0, e->p->node_count, error);
}

/* For each of the set: whether all else has places. */
static cm_status try_without(explaining *e, cm_reason *reason, cm_error *error)
{
  const uint32_t count = e->p->constraints.count;
  cm_answer answer;
  memset(e->constraint, 0, count * sizeof *e->constraint);
  memset(e->limit, 0, sizeof e->limit);
  memset(e->node, 0, e->p->node_count * sizeof *e->node);
  for (uint32_t i = 0; i < count + CM_LIMITS_ALL; i++) {
    bool *what = i < count ? &e->constraint[i] : &e->limit[i - count];
    if (!(i < count ? reason->constraint[i] : reason->limit[i - count]))
      continue;
    *what = true;
    CM_TRY(ask(e, &answer, error));
    *what = false;
    *(i < count ? &reason->enough[i] : &reason->enough_limit[i - count]) = answer == CM_POSSIBLE;
  }
  return CM_OK;
}

static cm_status explain(explaining *e, bool *bound, cm_reason *reason, cm_error *error)
{
  CM_TRY(shrink(e, bound, error));
  for (uint32_t i = 0; i < e->p->constraints.count; i++)
    reason->constraint[i] = !e->constraint[i];
  for (uint32_t l = 0; l < CM_LIMITS_ALL; l++)
    reason->limit[l] = !e->limit[l];
  for (uint32_t i = 0; i < e->p->node_count; i++)
    reason->node[i] = !e->node[i];
  reason->minimal = e->sure;
  return try_without(e, reason, error);
}

cm_status cm_explain(const cm_problem *problem, uint64_t work, cm_run *run, cm_reason *reason, cm_error *error)
{
  explaining e = {.p = problem, .run = run, .work = work, .sure = true};
  cm_reason made = {.minimal = false};
  cm_memory *memory = run->memory;
  bool *bound = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(e.constraint, problem->constraints.count), CM_ARRAY(e.node, problem->node_count),
                                               CM_ARRAY(bound, problem->node_count), CM_ARRAY(made.constraint, problem->constraints.count),
                                               CM_ARRAY(made.node, problem->node_count), CM_ARRAY(made.enough, problem->constraints.count));
  CM_THEN(status, explain(&e, bound, &made, error));
  CM_FREE(e.constraint, e.node, bound);
  CM_END(status, *reason = made, cm_reason_clear(&made));
}
