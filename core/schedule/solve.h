/* What schedule.c shares with the methods: one room's inside. */
#pragma once

#include "core/schedule/schedule.h"

/* Random streams of core/schedule, apart from those in core/partition/options.h. */
enum { CM_STREAM_SCHEDULE = 80, CM_STREAM_ORDERS = 81 };

/* One solution of a workload under way. */
typedef struct cm_solving {
  const cm_workload *workload;
  const cm_schedule_options *options;
  cm_run *run;
  cm_schedule *best; /* start, and unit of processors, are kept here; finish is set at the end */
} cm_solving;

/* True when nothing more is to be gained or spent; cancelling is a failure, a deadline is not. */
cm_status cm_solving_done(cm_solving *solving, bool *done, cm_error *error);

/* project_search.c: list, search and baselines of projects. */
cm_status cm_solve_project(cm_solving *solving, cm_error *error);

/* heterogeneous.c: HEFT and the search from it. */
cm_status cm_solve_processors(cm_solving *solving, cm_error *error);
