/* Gaussians made discrete over the physical nodes. */
#include <math.h>

#include "core/learning/letter/letter.h"

cm_letter_places cm_letter_places_of(const cm_environment *environment, uint32_t p, uint32_t axes)
{
  uint32_t width = environment->chip->width, x1 = 0, y1 = 0;
  cm_letter_places l = {.axes = axes, .x0 = UINT32_MAX, .y0 = UINT32_MAX,
                        .sites = environment->site_first[p + 1] - environment->site_first[p],
                        .site_of = environment->site_of + environment->site_first[p]};
  for (uint32_t i = 0; i < l.sites; i++) {
    uint32_t core = environment->site[l.site_of[i]], x = core % width, y = core / width;
    l.x0 = x < l.x0 ? x : l.x0;
    l.y0 = y < l.y0 ? y : l.y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  l.count[0] = axes == 1 ? l.sites : x1 - l.x0 + 1;
  l.count[1] = axes == 1 ? 1 : y1 - l.y0 + 1;
  return l;
}

cm_letter_gaussian cm_letter_gaussian_of(double mean, double deviation, uint32_t n, double bound)
{
  double sum = 0, one = 0, two = 0, nearest = cm_position(cm_axis_likeliest(mean, n, bound), n, bound) - mean;
  double top = nearest * nearest / (2 * deviation * deviation);
  /* The density at the nearest position is 1: `sum` is no less. */
  for (uint32_t i = 0; i < n; i++) {
    double apart = cm_position(i, n, bound) - mean;
    double density = exp(top - apart * apart / (2 * deviation * deviation));
    sum += density;
    one += density * apart;
    two += density * apart * apart;
  }
  sum = sum > 0 ? sum : 1;
  return (cm_letter_gaussian){mean, deviation, bound, n, log(sum) - top, one / sum, two / sum};
}

void cm_letter_probabilities(double mean, double deviation, uint32_t n, double bound, double *probability)
{
  double by_mean, by_deviation;
  cm_letter_gaussian g = cm_letter_gaussian_of(mean, deviation, n, bound);
  for (uint32_t i = 0; i < n; i++)
    probability[i] = exp(cm_letter_log_probability(&g, i, &by_mean, &by_deviation));
}

double cm_letter_log_probability(const cm_letter_gaussian *gaussian, uint32_t place, double *by_mean,
                                 double *by_deviation)
{
  const cm_letter_gaussian *g = gaussian;
  double apart = cm_position(place, g->n, g->bound) - g->mean, square = g->deviation * g->deviation;
  *by_mean = (apart - g->first) / square;
  *by_deviation = (apart * apart - g->second) / square;
  return -apart * apart / (2 * square) - g->all;
}
