/* What a program is compared with: the same model made otherwise, in whole pieces that can be executed. */
#pragma once

#include "core/machine/plan/plan.h"

typedef struct cm_baselines {
  double ns[CM_DIVISIONS]; /* by division; not of CM_DIVISION_CAPABILITY */
  double one_lane_ns;      /* on a chip with one unit of each device and one port */
} cm_baselines;

/* Times of the programs that options->settings give with every division, and that `found` give on one lane of each device.
 * options->target is the whole chip. Errors: those of cm_plan_candidate_make. */
cm_status cm_baselines_make(cm_model *model, const cm_plan_options *options, const cm_settings *found, cm_run *run,
                            cm_baselines *made, cm_error *error);
