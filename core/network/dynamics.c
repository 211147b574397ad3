#include "core/network/dynamics.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define HAS(number) (1u << CM_PARAMETER_##number)
const cm_neuron_model_row cm_neuron_models[] = {
#define MODEL(number, name, spikes, has) {name, spikes, has},
#include "core/network/neuron_models.def"
#undef MODEL
};
#undef HAS

enum { ANY, POSITIVE, RARE };
const cm_neuron_parameter_row cm_neuron_parameters[] = {
#define PARAMETER(number, name, nir, unit, otherwise, least, about) {name, nir, unit, otherwise, least == POSITIVE, least == RARE, about},
#include "core/network/neuron_parameters.def"
#undef PARAMETER
};

void cm_dynamics_free(cm_dynamics *dynamics)
{
  if (dynamics == NULL)
    return;
  cm_free(dynamics->model);
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++)
    cm_free(dynamics->parameter[p]);
  CM_FREE(dynamics->weight, dynamics->parallel, dynamics->nodes, dynamics->number, dynamics);
}

bool cm_neuron_has(cm_neuron_model model, cm_neuron_parameter parameter)
{
  return (cm_neuron_models[model].has >> parameter & 1) != 0;
}

bool cm_neuron_allows(cm_neuron_model model, cm_neuron_parameter parameter, float value)
{
  const bool positive = cm_neuron_parameters[parameter].positive && model != CM_NEURON_THRESHOLD;
  return isfinite(value) && !(positive && value <= 0) && !(cm_neuron_parameters[parameter].rare && value < 0);
}

static bool is_name(const char *name, const char *text, size_t length)
{
  return name != NULL && strlen(name) == length && strncasecmp(name, text, length) == 0;
}

cm_neuron_model cm_neuron_model_find(const char *name, size_t length)
{
  cm_neuron_model m = 0;
  while (m < CM_NEURON_MODELS && !is_name(cm_neuron_models[m].name, name, length))
    m++;
  return m;
}

cm_neuron_parameter cm_neuron_parameter_find(const char *name, size_t length)
{
  cm_neuron_parameter p = 0;
  while (p < CM_NEURON_PARAMETERS && !is_name(cm_neuron_parameters[p].name, name, length) &&
         !is_name(cm_neuron_parameters[p].nir_name, name, length))
    p++;
  return p;
}
