/* Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983): the rule by which a change is taken, and how
 * temperatures fall. What is changed, and where candidates come from, is each method's own. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/random.h"

/* Of Metropolis' rule: costs of so many temperatures or more (one chance in 5e8) are refused without a draw. */
#define CM_HOPELESS 20.0

/* Metropolis' rule: whether a change that costs so much (below 0: gains) is taken. `hopeless`: what costs so many
 * temperatures or more is not asked for; INFINITY: everything is. At temperature 0 nothing that costs is taken. */
static inline bool cm_metropolis(cm_random *random, double cost, double temperature, double hopeless)
{
  return cost <= 0 || (!(cost >= hopeless * temperature) && cm_random_unit(random) < exp(-cost / temperature));
}

/* The temperature when a share `done` (0 to 1) of the work is done: it falls geometrically from `hot` to `coldest` times
 * that. */
static inline double cm_cooled(double hot, double coldest, double done)
{
  return hot * pow(coldest, done);
}
