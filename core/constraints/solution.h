/* Answers to placement problems: places, or that there are none and why, or that neither was found. */
#pragma once

#include "base/option.h"
#include "core/constraints/place_search.h"

typedef struct cm_solve_request {
  bool problem; /* it is among the options, and can be read */
  uint64_t seed;
  uint32_t effort; /* how long to search, 1 to 100 */
  double time_limit;
  bool unexplained; /* no reason is wanted where there are no places */
  /* Whether places [nodes] are good that keep the problem, which are then the first such ones, unexplained; NULL: all are. */
  cm_status (*judge)(void *context, const uint32_t *place, bool *good, cm_error *error);
  void *context;
} cm_solve_request;

extern const cm_options cm_solve_option_table;

/* Reads {NAME: value, ...}; NULL: nothing is given. Errors: CM_BAD_OPTION at /options/NAME. */
cm_status cm_solve_options_read(const json_t *object, cm_solve_request *request, cm_error *error);

/* Constraints, limits and nodes that cannot be together. Without any one of its constraints or limits there are places for these nodes, where `minimal`. */
typedef struct cm_reason {
  bool *constraint; /* [constraints] */
  bool limit[CM_LIMITS_ALL];
  bool *node; /* [nodes] */
  bool minimal;
  bool *enough;        /* [constraints] to leave this one out is enough for the whole problem */
  bool enough_limit[CM_LIMITS_ALL];
} cm_reason;

typedef struct cm_solution {
  cm_answer answer;
  uint32_t *place; /* [nodes] tiles; of answer possible */
  uint64_t cost;
  bool optimal;    /* nothing costs less */
  cm_reason reason; /* of answer impossible */
} cm_solution;

/* Solves a problem. Phases search, anneal, explain. The caller's: cm_solution_clear. Same problem, seed and effort: same answer. Errors: cancelled,
 * time-limit (before places were found), too-large, memory. */
cm_status cm_solve(const cm_problem *problem, const cm_solve_request *request, cm_run *run, cm_solution *solution, cm_error *error);
void cm_solution_clear(cm_solution *solution);

/* explain.c: a set that is impossible, of a problem that is; each step looks at no more than `work` words. */
cm_status cm_explain(const cm_problem *problem, uint64_t work, cm_run *run, cm_reason *reason, cm_error *error);
void cm_reason_clear(cm_reason *reason);

/* report.c: an answer as docs/reference/constraints.md says; NULL: no memory. */
json_t *cm_solution_json(const cm_problem *problem, const cm_solution *solution);
