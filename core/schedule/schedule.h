/* Schedules of workloads: when each task starts, and where. */
#pragma once

#include "base/run.h"
#include "core/schedule/workload.h"

#define CM_NO_UNIT UINT32_MAX

typedef struct cm_schedule {
  uint32_t task_count;
  uint64_t *start, *finish;
  uint32_t *unit;       /* the processor of each task; CM_NO_UNIT where resources have no units */
  uint32_t unit_count;  /* 0: resources have no units */
  uint64_t makespan;    /* the latest finish */
  uint64_t lower_bound; /* no schedule is shorter; equal to makespan: this one is optimal */
  uint64_t generated;   /* schedules that were made on the way, forward and backward passes each counted */
} cm_schedule;

typedef enum cm_schedule_method {
  /* Projects: serial and parallel scheme by height, the shorter one justified as long as that helps.
   * Processors: HEFT (Topcuoglu, Hariri, Wu, IEEE TPDS 2002) to the letter. */
  CM_SCHEDULE_LIST,
  /* From the list schedule on, until the budget is spent or the lower bound met: docs/explanation/scheduling.md. */
  CM_SCHEDULE_SEARCH,
  /* The two baselines that others are measured against. */
  CM_SCHEDULE_RANK,   /* upward rank alone: the parallel scheme by height, no justification; processors: as LIST */
  CM_SCHEDULE_SAMPLE, /* the best of orders drawn with a bias to height, each built by the serial scheme */
} cm_schedule_method;

typedef struct cm_schedule_options {
  cm_schedule_method method;
  uint64_t schedules; /* of SEARCH and SAMPLE: how many may be generated; 0: as many as place four million tasks, but
                         at least a hundred and at most 400000 (a second at most, but for the largest workloads) */
} cm_schedule_options;

/* Schedules a workload. Same workload, options and run->seed: same schedule, for any number of threads. A deadline of
 * the run only cuts the search: the best schedule by then is returned. The caller's: cm_schedule_free. Time: as the
 * schemes of generate.h per schedule; memory O((n + arcs) + population * n). Errors: CM_CANCELLED;
 * memory. */
cm_status cm_schedule_make(const cm_workload *workload, const cm_schedule_options *options, cm_run *run,
                           cm_schedule **made, cm_error *error);
void cm_schedule_free(cm_schedule *schedule); /* NULL is allowed */

/* Verifies a schedule against its workload, knowing nothing of how it was made: durations, precedence with transfers,
 * capacities at every moment, one task at a time on a processor, the makespan. Errors: CM_LIMIT_BROKEN with what is
 * broken where; memory. O(m + n log n). */
cm_status cm_schedule_check(const cm_workload *workload, const cm_schedule *schedule, cm_memory *memory, cm_error *error);
