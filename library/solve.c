/* Placement problems to answers. */
#include <coremap/solve.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/constraints/population_areas.h"
#include "core/constraints/solution.h"
#include "core/verify/areas_check.h"
#include "core/verify/problem_check.h"
#include "library/internal.h"

static cm_status solve(const cm_problem *problem, const cm_solve_request *request, cm_run *run, char **answer, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  cm_solution solution;
  if (cm_solve(problem, request, run, &solution, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  if (solution.answer == CM_POSSIBLE && cm_problem_check(problem, solution.place, run->memory, error) != CM_OK)
    status = error->status == CM_LIMIT_BROKEN ? cm_fail(error, CM_INTERNAL, "the places are not legal, which is a defect of coremap") : error->status;
  if (status == CM_OK)
    status = library_whole_text(cm_solution_json(problem, &solution), refusals, answer, error);
  cm_solution_clear(&solution);
  return status;
}

static cm_status solve_text(const char *text, size_t size, const json_t *options, cm_run *run, char **answer, cm_error *error)
{
  cm_solve_request request;
  cm_problem *problem;
  if (cm_solve_options_read(options, &request, error) != CM_OK || cm_problem_parse(text, size, run->memory, &problem, error) != CM_OK)
    return error->status;
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
  if (status == CM_OK)
    status = solve_text(problem, strlen(problem), object, r.run, answer, &e);
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

static cm_status constrain(const coremap_chip *chip, const cm_topology *topology, const char *text, coremap_chip **made, cm_error *error)
{
  cm_constraints constraints;
  cm_chip *kinds;
  char *occupancy = NULL;
  if (cm_population_constraints(text, strlen(text), topology, chip->chip, &constraints, error) != CM_OK)
    return error->status;
  cm_status status = cm_chip_constrain(chip->chip, chip->occupancy, topology, &constraints, &kinds, error);
  cm_constraints_clear(&constraints);
  if (status != CM_OK)
    return status;
  if (cm_occupancy_print(chip->occupancy, chip->chip, &occupancy, error) != CM_OK) {
    cm_chip_free(kinds);
    return error->status;
  }
  status = library_chip_own(kinds, occupancy, strlen(occupancy), made, error);
  free(occupancy);
  return status;
}

int coremap_chip_constrain(const coremap_chip *chip, const coremap_network *network, const char *constraints, coremap_chip **made, coremap_error **error)
{
  cm_error e;
  return library_tell(constrain(chip, network->topology, constraints, made, &e), &e, error);
}

int coremap_constraints_check(const coremap_mapping *mapping, const char *constraints, coremap_error **error)
{
  cm_error e;
  cm_constraints read;
  const cm_topology *topology = mapping->network->topology;
  cm_status status = cm_population_constraints(constraints, strlen(constraints), topology, mapping->chip->chip, &read, &e);
  if (status == CM_OK) {
    status = cm_areas_check(&mapping->mapped, topology, &read, &e);
    cm_constraints_clear(&read);
  }
  return library_tell(status, &e, error);
}
