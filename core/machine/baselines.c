#include "core/machine/baselines.h"

#include "core/machine/schedule/search.h"

static cm_status time_one_lane(cm_model *model, const cm_plan_options *whole, cm_run *run, double *ns, cm_error *error)
{
  cm_plan_options options = *whole;
  cm_plan_candidate candidate;
  cm_target *one;
  CM_TRY(CM_NEW(run->memory, one, 1, error));
  cm_target_copy(one, whole->target);
  for (uint32_t d = 0; d < one->device_count; d++) {
    one->core[d] = whole->target->core[one->device[d].first_unit];
    one->device[d].units = one->device[d].ports = 1;
  }
  options.target = one;
  cm_status status = cm_target_number(one, error);
  CM_THEN(status, cm_plan_candidate_make(model, NULL, &options, run, &candidate, error));
  cm_free(one);
  if (status == CM_OK)
    *ns = candidate.time_ns;
  return status;
}

cm_status cm_baselines_make(cm_model *model, const cm_plan_options *options, const cm_settings *found, cm_run *run,
                            cm_baselines *made, cm_error *error)
{
  cm_baselines times = {0};
  cm_plan_options one = *options;
  for (cm_division division = CM_DIVISION_CAPABILITY + 1; division < CM_DIVISIONS; division++) {
    cm_plan_options other = *options;
    cm_plan_candidate candidate;
    other.division = division;
    CM_TRY(cm_plan_candidate_make(model, NULL, &other, run, &candidate, error));
    times.ns[division] = candidate.time_ns;
  }
  one.settings = found;
  CM_TRY(time_one_lane(model, &one, run, &times.one_lane_ns, error));
  *made = times;
  return CM_OK;
}
