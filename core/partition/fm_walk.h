/* When a localised search of moves ends whose last moves lost: where, as they went, chance hardly brings back what they lost.
 * That is after so many moves at least, and when the square of their mean times their number exceeds a share of their variance
 * (Osipov and Sanders 2010). */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Moves since the best state: mean and summed squares of what they gained. */
typedef struct cm_fm_walk {
  double least_steps, steps, mean, squares;
} cm_fm_walk;

static inline cm_fm_walk cm_fm_walk_begin(uint32_t vertices)
{
  return (cm_fm_walk){.least_steps = log2((double)vertices + 2)};
}

/* The state is the best so far. */
static inline void cm_fm_walk_restart(cm_fm_walk *walk)
{
  walk->steps = walk->mean = walk->squares = 0;
}

/* Counts a move that gained so much; whether the search is to end. */
static inline bool cm_fm_walk_hopeless(cm_fm_walk *walk, int64_t gain)
{
  static const double spread_share = 0.25;
  walk->steps++;
  double off = (double)gain - walk->mean;
  walk->mean += off / walk->steps;
  walk->squares += off * ((double)gain - walk->mean);
  return walk->steps > walk->least_steps &&
         walk->steps * walk->mean * walk->mean >= spread_share * walk->squares / (walk->steps > 1 ? walk->steps - 1 : 1);
}
