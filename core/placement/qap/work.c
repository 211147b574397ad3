/* What looks and swaps cost, and how work is divided. */
#include <math.h>

#include "core/placement/qap/qap.h"
#include "core/placement/qap/qap_internal.h"

/* Measured: a swap writes cores * (columns + rows) entries of tables, each in a quarter of the time of a look; of the
 * looks, so many end in a swap where parts weigh about the same, over all of an annealing. */
static const double entry_work = 0.25, swaps_usual = 0.04;

double cm_qap_swap_work(const cm_axes *axes)
{
  return entry_work * axes->count * (axes->columns + axes->rows);
}

double cm_qap_sweep_work(const cm_axes *axes)
{
  double pairs = (double)axes->count * (axes->count - 1) / 2;
  return pairs * (1 + swaps_usual * cm_qap_swap_work(axes));
}

/* The part of all work that the first population may take; and the most sweeps of an annealing: so many times the square
 * of the cores, but not fewer than a few. Longer ones end lower, but many populations find more than a long one. */
static const double first_share = 0.4, sweeps_rate = 0.05, sweeps_few = 20;

double cm_qap_sweeps_max(uint32_t cores)
{
  return fmax(sweeps_rate * cores * cores, sweeps_few);
}

cm_qap_options cm_qap_divide(double sweeps, uint32_t population, uint32_t cores, uint64_t seed)
{
  cm_qap_options o = {.population = population, .seed = seed, .sweeps = (uint32_t)sweeps};
  if (population == 1)
    return o;
  o.sweeps = (uint32_t)fmin(sweeps * first_share / population, cm_qap_sweeps_max(cores)) + 1;
  o.child_sweeps = o.sweeps / 2 + 1;
  o.children = (uint32_t)(fmax(sweeps - (double)population * o.sweeps, 0) / o.child_sweeps);
  return o;
}
