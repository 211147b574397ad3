/* How few parts there can be where populations share no core, or only so many of them one core. */
#include "core/limits/bound.h"
#include "core/limits/populations.h"

/* Each population on cores of its own: the sum of what each needs alone. */
static cm_status add_up(cm_population_split *split, const cm_limits *limits, cm_run *run, uint64_t *parts, cm_error *error)
{
  cm_limits alone = *limits;
  cm_status status = CM_OK;
  alone.populations = alone.outbound_axons = alone.target_cores = alone.source_cores = 0;
  *parts = 0;
  for (uint32_t i = 0; i < split->count && status == CM_OK; i++) {
    cm_population_network network;
    cm_bound bound;
    status = cm_population_network_make(split, i, true, run, &network, error);
    if (status != CM_OK)
      break;
    status = cm_bound_without_populations(&network.demand, &alone, run, &bound, error);
    *parts += status == CM_OK ? bound.parts : 0;
    cm_population_network_free(&network);
  }
  return status;
}

cm_status cm_bound_parts(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_bound *bound, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_bound plain;
  cm_population_split split;
  uint64_t parts = 0;
  cm_status status = cm_bound_without_populations(demand, limits, run, &plain, error);
  if (status != CM_OK || !cm_populations_limited(t, limits)) {
    if (status == CM_OK)
      *bound = plain;
    return status;
  }
  CM_TRY(cm_population_split_open(demand, t->population_of, t->population_count, run, &split, error));
  if (limits->populations == 1)
    status = add_up(&split, limits, run, &parts, error);
  else
    parts = (split.count + limits->populations - 1) / limits->populations;
  if (status == CM_OK && parts > plain.parts) {
    plain.parts = parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
    plain.argument = CM_ARGUMENT_POPULATIONS;
    plain.total = split.count;
    plain.limit = limits->populations;
  }
  cm_population_split_free(&split);
  CM_END(status, *bound = plain, );
}
