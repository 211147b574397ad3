/* One mapping, for those who make several of a network and keep some: pareto and scenarios. */
#pragma once

#include "core/mapping/input.h"
#include "core/mapping/mapping.h"
#include "core/partition/step/step_bound.h"

/* Maps once, with the options of the input; `bound` is what its report states. */
typedef cm_status cm_map_once(const cm_map_input *input, const cm_step_bound *bound, cm_run *run, cm_mapping **mapping,
                              cm_error *error);
