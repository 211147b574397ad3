/* What is to be scheduled: tasks that wait for each other, and what they need to run.
 *
 * Two kinds. A project has renewable resources: a task has one duration and holds an amount of each resource while it
 * runs; n identical processors are one resource of capacity n of which every task holds 1. A workload of processors has
 * processors of different speed: a task takes time[task][processor] on one of them, and what an arc carries takes its
 * weight in time when its ends run on different processors, nothing on the same. */
#pragma once

#include "core/schedule/dag.h"

enum { CM_RESOURCES_MAX = 64, CM_PROCESSORS_MAX = 4096 };

#define CM_TASK_TIME_MAX (UINT64_C(1) << 40)

typedef struct cm_workload {
  cm_dag *dag;
  uint32_t processor_count; /* 0: a project */
  uint64_t *time;           /* of a project: one a task; else task-major, processor_count a task */
  uint32_t resource_count;  /* 0: processors */
  uint32_t *capacity;       /* resource_count */
  uint32_t *demand;         /* task-major, resource_count a task */
} cm_workload;

/* A project of `tasks` with all zero durations and demands and no capacity yet; takes the graph over, also on failure.
 * The caller fills time, capacity and demand and calls cm_workload_check. The caller's: cm_workload_free. */
cm_status cm_workload_project(cm_memory *memory, cm_dag *dag, uint32_t resources, cm_workload **made, cm_error *error);

/* The same with times of `processors` for the caller to fill. */
cm_status cm_workload_processors(cm_memory *memory, cm_dag *dag, uint32_t processors, cm_workload **made, cm_error *error);
void cm_workload_free(cm_workload *workload); /* NULL is allowed */

/* Errors: CM_BAD_NETWORK when a time is above CM_TASK_TIME_MAX, or a task needs more of a resource than there is (names
 * both); CM_TOO_LARGE when sums would not fit in 64 bits. O(tasks * (processors + resources) + arcs). */
cm_status cm_workload_check(const cm_workload *workload, cm_error *error);

/* True when units of the project's one resource are told apart: each task runs on a processor of its own. */
bool cm_workload_has_units(const cm_workload *workload);
