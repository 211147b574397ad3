/* Placement problems to answers. */
#include <coremap/solve.h>

#include "base/json.h"
#include "core/constraints/solution.h"
#include "core/verify/constraints_check.h"
#include "core/verify/problem_check.h"
#include "library/internal.h"

static cm_status solve(const cm_problem *problem, const cm_solve_request *request, cm_run *run, char **answer, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  cm_solution solution;
  CM_TRY(cm_solve(problem, request, run, &solution, error));
  cm_status status = CM_OK;
  if (solution.answer == CM_POSSIBLE && cm_problem_check(problem, solution.place, run->memory, error) != CM_OK)
    status = error->status == CM_LIMIT_BROKEN ? cm_fail(error, CM_INTERNAL, "the places are not legal, which is a defect of coremap") : error->status;
  CM_THEN(status, library_whole_text(cm_solution_json(problem, &solution), refusals, answer, error));
  cm_solution_clear(&solution);
  return status;
}

static cm_status solve_text(const char *text, size_t size, const json_t *options, cm_run *run, char **answer, cm_error *error)
{
  cm_solve_request request;
  cm_problem *problem;
  CM_TRY(cm_solve_options_read(options, &request, error));
  CM_TRY(cm_problem_parse(text, size, run->memory, &problem, error));
  cm_status status = solve(problem, &request, run, answer, error);
  cm_problem_free(problem);
  return status;
}

int coremap_solve(const char *problem, const char *options, coremap_progress progress, void *user, char **answer, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL;
  library_begin(&r, progress, user);
  cm_status status = library_options(options, &object, &e);
  CM_THEN(status, solve_text(problem, strlen(problem), object, r.run, answer, &e));
  cm_run_finish(r.run);
  json_decref(object);
  return library_tell(status, &e, error);
}

int coremap_solve_file(const char *path, const char *options, coremap_progress progress, void *user, char **answer, coremap_error **error)
{
  cm_error e;
  char *text;
  size_t size;
  if (cm_file_read(path, CM_PROBLEM_BYTES_MAX, &text, &size, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  const int result = coremap_solve(text, options, progress, user, answer, error);
  free(text);
  return result;
}

/* ---- mappings ---- */

static cm_status check_constraints(const coremap_mapping *m, const char *text, cm_error *error)
{
  cm_subjects subjects;
  cm_constraints constraints = {.count = 0};
  json_t *root = NULL;
  char words[CM_BROKEN_WORDS_MAX];
  CM_TRY(cm_json_load(text, strlen(text), &(cm_document){"text of constraints", CM_PROBLEM_BYTES_MAX, CM_BAD_OPTION}, &root, error));
  cm_status status = cm_subjects_open(m->network->topology, m->mapped.part, m->mapped.parts, NULL, &subjects, error);
  if (status == CM_OK) {
    status = cm_subject_constraints(json_object_get(root, "constraints"), "/constraints", &subjects, m->chip->chip, &constraints, error);
    for (uint32_t i = 0; i < constraints.count && status == CM_OK; i++) {
      status = cm_constraint_check(&m->mapped, &subjects, &constraints, i, words, error);
      CM_THEN_IF(status, words[0] != '\0', cm_fail(error, CM_LIMIT_BROKEN, "%s", words));
    }
    cm_constraints_clear(&constraints);
    cm_subjects_clear(&subjects);
  }
  json_decref(root);
  return status;
}

int coremap_constraints_check(const coremap_mapping *mapping, const char *constraints, coremap_error **error)
{
  cm_error e;
  return library_tell(check_constraints(mapping, constraints, &e), &e, error);
}
