#include "core/simulate/histogram.h"

/* 32 bins from each power of two to the next. */
enum { STEPS_LOG = 5 };

static unsigned bin_of(uint64_t ps)
{
  if (ps < 1u << STEPS_LOG)
    return (unsigned)ps;
  unsigned power = 63 - (unsigned)__builtin_clzll(ps), shift = power - STEPS_LOG;
  return ((shift + 1) << STEPS_LOG) + (unsigned)(ps >> shift) - (1u << STEPS_LOG);
}

/* The middle of a bin. */
static double value_of(unsigned bin)
{
  if (bin < 1u << STEPS_LOG)
    return bin;
  unsigned shift = (bin >> STEPS_LOG) - 1;
  uint64_t low = (uint64_t)((bin & ((1u << STEPS_LOG) - 1)) + (1u << STEPS_LOG)) << shift;
  return (double)low + (double)(UINT64_C(1) << shift) / 2;
}

void cm_histogram_add(cm_histogram *h, uint64_t ps)
{
  h->bin[bin_of(ps)]++;
  h->count++;
  h->sum += ps;
  h->largest = ps > h->largest ? ps : h->largest;
}

void cm_histogram_join(cm_histogram *sum, const cm_histogram *other)
{
  for (unsigned i = 0; i < CM_HISTOGRAM_BINS; i++)
    sum->bin[i] += other->bin[i];
  sum->count += other->count;
  sum->sum += other->sum;
  sum->largest = other->largest > sum->largest ? other->largest : sum->largest;
}

double cm_histogram_mean_ns(const cm_histogram *h)
{
  return h->count > 0 ? (double)h->sum / (double)h->count / 1000 : 0;
}

static double quantile_ns(const cm_histogram *h, double share)
{
  uint64_t wanted = (uint64_t)(share * (double)h->count), seen = 0;
  for (unsigned i = 0; i < CM_HISTOGRAM_BINS; i++)
    if ((seen += h->bin[i]) > wanted) {
      double value = value_of(i);
      return (value < (double)h->largest ? value : (double)h->largest) / 1000;
    }
  return (double)h->largest / 1000;
}

/* How many are in each of equal steps from 0 to the largest. */
static json_t *steps_json(const cm_histogram *h)
{
  enum { STEPS = 24 };
  uint64_t in[STEPS] = {0};
  for (unsigned i = 0; i < CM_HISTOGRAM_BINS && h->largest > 0; i++) {
    const double step = value_of(i) * STEPS / (double)h->largest;
    in[step < STEPS ? (unsigned)step : STEPS - 1] += h->bin[i];
  }
  json_t *steps = json_array();
  for (int i = 0; i < STEPS; i++)
    (void)json_array_append_new(steps, json_integer((json_int_t)in[i]));
  return steps;
}

json_t *cm_histogram_json(const cm_histogram *h)
{
  return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "count", (json_int_t)h->count, "mean_ns", cm_histogram_mean_ns(h),
                   "p50_ns", quantile_ns(h, 0.5), "p95_ns", quantile_ns(h, 0.95), "p99_ns", quantile_ns(h, 0.99), "max_ns",
                   (double)h->largest / 1000, "histogram", steps_json(h));
}
