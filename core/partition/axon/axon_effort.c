#include "core/partition/axon/axon_search.h"

#include <math.h>

/* However large the network is, so many sweeps are made. */
enum { SWEEPS_MIN = 4 };

static uint32_t scaled(uint32_t count, double share, uint32_t least)
{
  uint32_t fewer = (uint32_t)lround(count * share);
  return count <= least ? count : fewer > least ? fewer : least;
}

void cm_axon_spare_sweeps(cm_axon_options *o, uint64_t pins)
{
  double most = (double)o->level_pins, all = (double)pins * o->sweeps;
  if (o->level_pins == 0 || pins == 0)
    return;
  o->shaping = fmin(o->shaping, most / (double)pins);
  if (all <= most)
    return;
  o->fine_sweeps = scaled(o->fine_sweeps, most / all, SWEEPS_MIN);
  o->sweeps = scaled(o->sweeps, most / all, SWEEPS_MIN);
  o->starts = scaled(o->starts, most / all, 1);
}
