#include "core/machine/hops.h"

#include <math.h>

static uint32_t station_of(cm_hop_times *hops, uint32_t *core, uint32_t at)
{
  uint32_t s = 0;
  while (s < hops->stations && core[s] != at)
    s++;
  if (s == hops->stations)
    core[hops->stations++] = at;
  return s;
}

/* Numbers the cores of lanes and memories; *core lists them. */
static void number_stations(const cm_target *target, cm_hop_times *hops, uint32_t *core)
{
  for (uint32_t l = 0; l < target->lane_count; l++)
    hops->station[l] = station_of(hops, core, cm_lane_core(target, l));
  for (uint32_t m = 0; m < target->memory_count; m++)
    hops->memory_station[m] =
      target->memory[m].core == CM_CORE_SHARED ? CM_CORE_SHARED : station_of(hops, core, target->memory[m].core);
}

static cm_status fill(const cm_target *target, cm_memory *memory, cm_hop_times *hops, const uint32_t *core, cm_error *error)
{
  size_t n = hops->stations;
  double most = 0;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(hops->ns, n * n), CM_ARRAY(hops->farthest, n)));
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) {
      hops->ns[a * n + b] = cm_grid_ns(&target->grid, core[a], core[b]);
      hops->farthest[a] = fmax(hops->farthest[a], hops->ns[a * n + b]);
      most = fmax(most, hops->ns[a * n + b]);
    }
  hops->stations = most > 0 || target->memory_count > 0 ? hops->stations : 1;
  return CM_OK;
}

cm_status cm_hop_times_make(const cm_target *target, cm_memory *memory, cm_hop_times *made, cm_error *error)
{
  uint32_t *core;
  *made = (cm_hop_times){0};
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(made->station, target->lane_count + 1),
                    CM_ARRAY(made->memory_station, target->memory_count + 1),
                    CM_ARRAY(core, (size_t)target->lane_count + target->memory_count + 1)));
  number_stations(target, made, core);
  cm_status status = fill(target, memory, made, core, error);
  cm_free(core);
  return status;
}

void cm_hop_times_end(cm_hop_times *hops)
{
  CM_FREE(hops->station, hops->memory_station, hops->ns, hops->farthest);
  *hops = (cm_hop_times){0};
}

double cm_hop_turns_ns(const cm_hop_times *hops, uint32_t lanes, uint32_t turns, const double *end)
{
  double last = 0, next = 0;
  for (uint32_t l = 0; l < lanes; l++) {
    last = fmax(last, end[l]);
    next = fmax(next, end[l] + cm_hop_farthest(hops, l));
  }
  return turns > 1 ? (turns - 1) * next + last : last;
}

uint32_t cm_hop_ways(const cm_target *target)
{
  for (uint32_t m = 0; m < target->memory_count; m++)
    if (target->memory[m].core == CM_CORE_SHARED)
      return 1;
  return target->memory_count > 0 ? 2 : 1;
}
