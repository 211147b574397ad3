/* Counts of latencies, in bins of three per cent: exact sums, and quantiles to that precision. */
#pragma once

#include <jansson.h>
#include <stdint.h>

enum { CM_HISTOGRAM_BINS = 64 * 32 };

typedef struct cm_histogram {
  uint64_t bin[CM_HISTOGRAM_BINS];
  uint64_t count, largest;
  unsigned __int128 sum;
} cm_histogram;

void cm_histogram_add(cm_histogram *histogram, uint64_t ps);
void cm_histogram_join(cm_histogram *sum, const cm_histogram *other);

/* Mean in ns; 0 when empty. */
double cm_histogram_mean_ns(const cm_histogram *histogram);

/* count, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, and histogram, counts in 24 equal steps to the largest, as a new object; NULL when out of memory. */
json_t *cm_histogram_json(const cm_histogram *histogram);
