#include "core/partition/axon/axon_search.h"

#include <math.h>

uint32_t cm_axon_affordable(const cm_axon_search *w, uint32_t most, uint64_t pins)
{
  uint64_t each = w->levels.graph[0]->pin_count + 1;
  return pins != 0 && pins / each < most ? (uint32_t)(pins / each) : most;
}

/* However large the network is, so many sweeps are made on the finest level, and so many on the others: they are cheaper
 * by far. */
enum { SWEEPS_MIN = 4, COARSE_MIN = 32 };

static uint32_t scaled(uint32_t count, double share, uint32_t least)
{
  uint32_t fewer = (uint32_t)lround(count * share);
  return count <= least ? count : fewer > least ? fewer : least;
}

/* So many sweeps, or as many as `most` visits of pins allow; 0: any number. */
static uint32_t sweeps_within(uint32_t sweeps, uint64_t pins, uint64_t most)
{
  double all = (double)pins * sweeps;
  return most != 0 && all > (double)most ? scaled(sweeps, (double)most / all, SWEEPS_MIN) : sweeps;
}

void cm_axon_spare_sweeps(cm_axon_options *o, uint64_t pins)
{
  double all = (double)pins * o->fine_sweeps;
  o->coarse_sweeps = sweeps_within(o->coarse_sweeps, pins, o->coarse_pins);
  o->deep_sweeps = sweeps_within(o->deep_sweeps, pins, o->deep_pins);
  if (o->shaping_work != 0 && pins != 0)
    o->shaping = fmin(o->shaping, (double)o->shaping_work / (double)pins);
  if (o->sweep_pins == 0 || all <= (double)o->sweep_pins)
    return;
  double share = (double)o->sweep_pins / all;
  o->fine_sweeps = scaled(o->fine_sweeps, share, SWEEPS_MIN);
  o->coarse_sweeps = scaled(o->coarse_sweeps, share, COARSE_MIN);
  o->cycle_sweeps = scaled(o->cycle_sweeps, share, SWEEPS_MIN);
  o->starts = scaled(o->starts, share, 1);
}

double cm_axon_looks(const cm_axon_search *w, double cost)
{
  return (double)w->levels.graph[0]->pin_count * (1 + cm_axon_reached_parts(w, cost));
}

/* Where sources have copies, the least effort tries how much room parts need: on networks of up to so many pins, an attempt each. */
enum { FILLS_PINS = 1 << 20 };

uint32_t cm_axon_attempts_to_make(const cm_axon_search *w)
{
  const cm_axon_options *o = w->options;
  uint32_t attempts = cm_axon_affordable(w, o->attempts, o->attempt_pins), fills = cm_axon_affordable(w, CM_AXON_FILLS, FILLS_PINS);
  if (w->levels.graph[0]->reach_max != 0 && o->below == NULL && fills > attempts)
    attempts = fills;
  return attempts > 1 ? attempts : 1;
}
