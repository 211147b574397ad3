/* Schedules as timelines in the Chrome trace format, which Perfetto, chrome://tracing and our viewer read.
 *
 * An object {"displayTimeUnit": "ns", "otherData": {...}, "traceEvents": [...]}: a "thread_name" metadata event a unit,
 * and a complete event ("ph": "X") a span with its unit as "tid" and microseconds as "ts" and "dur"; on the critical path
 * with "args": {"critical": why it begins when it does}. What is counted over time is counter events ("ph": "C"), whose
 * greatest possible value "otherData" has: {"limits": {NAME: number}}. */
#pragma once

#include <stdio.h>

#include "core/schedule/schedule.h"

/* Something that a unit does from start to finish. */
typedef struct cm_span {
  uint32_t unit;
  uint64_t start, finish;
  const char *name; /* NULL: "task N" with its place in the array */
  const char *kind; /* becomes the category, by which viewers colour; NULL: "task" */
  const char *critical; /* why it begins when it does, of a span on the critical path; NULL: it is not */
} cm_span;

/* A value from a time on. */
typedef struct cm_counted {
  uint64_t time, value;
} cm_counted;

/* Something that is counted over time. */
typedef struct cm_counter {
  const char *name, *unit;
  uint64_t limit; /* it cannot be above */
  const cm_counted *point;
  size_t point_count;
} cm_counter;

typedef struct cm_timeline {
  const char *name;       /* of the whole */
  uint32_t unit_count;
  const char **unit_name; /* unit_count; NULL: "unit N" */
  const cm_span *span;
  size_t span_count;
  const cm_counter *counter; /* NULL: none */
  uint64_t units_per_us; /* units of time in a microsecond, at least 1 */
} cm_timeline;

/* Spreads spans over lanes (their units) so that none overlap in one: by start, always the lowest lane that is free.
 * *lanes is how many that takes. O(n log n). Errors: memory. */
cm_status cm_spans_spread(cm_span *span, size_t count, uint32_t *lanes, cm_memory *memory, cm_error *error);

/* Writes a timeline. Times are exact to a thousandth of a microsecond where units_per_us divides 1000 or is 1, else
 * rounded down. O(spans). Errors: CM_IO, CM_DISK_FULL. */
cm_status cm_trace_write(const cm_timeline *timeline, FILE *stream, cm_error *error);
