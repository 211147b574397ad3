/* Objective pareto: mappings between the shortest time step and the least energy, in one job (docs/explanation/step-time.md). */
#pragma once

#include "core/solver/once.h"

enum { CM_PARETO_POINTS_MAX = 10 };

/* Maps for time, for energy, and for energy within budgets of time between these; what another one beats in both is left
 * out. *mapping becomes the one with the least product of step time and network energy, with the job's options, the
 * table "pareto" in its report and all of them as its points, by rising time.
 * Errors: as cm_map. */
cm_status cm_map_pareto(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run,
                        cm_mapping **mapping, cm_error *error);
