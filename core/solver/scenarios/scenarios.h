/* Mappings of networks whose rates vary over time (docs/explanation/step-time.md). */
#pragma once

#include "core/measure/scenario_metrics.h"
#include "core/solver/once.h"

/* Maps for the scenario that is worst in the end: for the busiest one; when another is worse then, for the mean of those, up to three
 * mappings, of which the one with the best worst scenario stays. Objectives of time weigh all scenarios in one search and take
 * one mapping. The caller owns *mapping. */
cm_status cm_map_worst(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run,
                       cm_mapping **mapping, cm_error *error);

/* Lower bounds on a step for the worst scenario, or for the mean of all, as the options ask; `work` as of
 * cm_step_bound_compute, shared by the scenarios. */
cm_status cm_scenarios_bound(const cm_map_input *input, uint32_t cores, double work, cm_run *run, cm_step_bound *bound,
                             cm_error *error);
