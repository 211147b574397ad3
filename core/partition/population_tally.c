#include "core/partition/population_tally.h"

cm_status cm_population_tally_new(const cm_topology *topology, const cm_limits *limits, size_t parts, cm_run *run,
                                  cm_population_tally *tally, cm_error *error)
{
  bool limited = cm_populations_limited(topology, limits);
  *tally = (cm_population_tally){.topology = topology, .most = limited ? limits->populations : 0};
  return limited ? CM_NEW(run->memory, tally->distinct, parts, error) : CM_OK;
}

void cm_population_tally_free(cm_population_tally *tally)
{
  cm_counts_free(&tally->held);
  cm_free(tally->distinct);
  *tally = (cm_population_tally){0};
}

cm_status cm_population_tally_reserve(cm_population_tally *tally, cm_run *run, cm_error *error)
{
  return tally->most != 0 ? cm_counts_reserve(&tally->held, 2, run, error) : CM_OK;
}

static uint64_t key_of(const cm_population_tally *tally, uint32_t vertex, uint32_t part)
{
  return (uint64_t)part << 32 | tally->topology->population_of[vertex];
}

void cm_population_tally_book(cm_population_tally *tally, uint32_t vertex, uint32_t part, int32_t by)
{
  if (tally->most == 0)
    return;
  uint32_t now = cm_counts_add(&tally->held, key_of(tally, vertex, part), by);
  if (by > 0)
    tally->distinct[part] += now == 1;
  else
    tally->distinct[part] -= now == 0;
}

bool cm_population_tally_admits_up_to(const cm_population_tally *tally, uint32_t vertex, uint32_t part, uint64_t most)
{
  return tally->most == 0 || most == 0 || tally->distinct[part] < most || cm_counts_of(&tally->held, key_of(tally, vertex, part)) > 0;
}

bool cm_population_tally_admits(const cm_population_tally *tally, uint32_t vertex, uint32_t part)
{
  return cm_population_tally_admits_up_to(tally, vertex, part, tally->most);
}
