/* The methods for objectives time, energy and edp (docs/step-time.md). */
#ifndef CM_MAPPING_STEP_ENGINE_H
#define CM_MAPPING_STEP_ENGINE_H

#include "core/mapping/mappers/engine.h"

extern const cm_engine cm_engine_time, cm_engine_energy, cm_engine_edp;

/* Whether an objective is about what chips charge for a step. */
static inline bool cm_objective_is_of_steps(cm_objective objective)
{
  return objective == CM_OBJECTIVE_TIME || objective == CM_OBJECTIVE_ENERGY || objective == CM_OBJECTIVE_EDP ||
         objective == CM_OBJECTIVE_PARETO;
}

#endif
