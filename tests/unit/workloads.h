/* Small random workloads for tests, and the least time they take by trying everything. */
#pragma once

#include "base/random.h"
#include "core/schedule/schedule.h"
#include "unit.h"

static inline cm_dag *random_dag(cm_random *random, uint32_t tasks, uint32_t percent, uint64_t weight_max)
{
  cm_error error;
  cm_arc arcs[512];
  uint64_t count = 0;
  cm_dag *dag;
  uint32_t *name = calloc(tasks + 1, sizeof *name); /* tasks are not numbered in topological order */
  cm_random_permutation(random, name, tasks);
  for (uint32_t v = 0; v < tasks; v++)
    for (uint32_t u = 0; u < v; u++)
      if (cm_random_below(random, 100) < percent && count < 512)
        arcs[count++] = (cm_arc){name[u], name[v], cm_random_below(random, weight_max + 1)};
  ck_ok(cm_dag_new(NULL, tasks, arcs, count, &dag, &error));
  free(name);
  return dag;
}

static inline cm_workload *random_project(cm_random *random, uint32_t tasks, uint32_t resources, uint64_t time_max)
{
  cm_error error;
  cm_workload *w;
  ck_ok(cm_workload_project(NULL, random_dag(random, tasks, 25, 0), resources, &w, &error));
  for (uint32_t r = 0; r < resources; r++)
    w->capacity[r] = 1 + (uint32_t)cm_random_below(random, 4);
  for (uint32_t v = 0; v < tasks; v++) {
    w->time[v] = cm_random_below(random, time_max + 1);
    for (uint32_t r = 0; r < resources; r++)
      w->demand[v * resources + r] = (uint32_t)cm_random_below(random, w->capacity[r] + 1u);
  }
  ck_ok(cm_workload_check(w, &error));
  return w;
}

static inline cm_workload *random_processors(cm_random *random, uint32_t tasks, uint32_t processors, uint64_t time_max)
{
  cm_error error;
  cm_workload *w;
  ck_ok(cm_workload_processors(NULL, random_dag(random, tasks, 40, time_max), processors, &w, &error));
  for (size_t i = 0; i < (size_t)tasks * processors; i++)
    w->time[i] = 1 + cm_random_below(random, time_max);
  ck_ok(cm_workload_check(w, &error));
  return w;
}

/* ---- by trying everything ---- */

enum { TRUTH_TASKS = 8, TRUTH_HORIZON = 128 };

typedef struct exhausting {
  const cm_workload *w;
  uint64_t best, start[TRUTH_TASKS], finish[TRUTH_TASKS], free_at[TRUTH_TASKS];
  uint32_t held[TRUTH_HORIZON][4], unit[TRUTH_TASKS], done;
} exhausting;

static inline bool truth_ready(const exhausting *t, uint32_t v)
{
  for (uint64_t i = t->w->dag->in_first[v]; i < t->w->dag->in_first[v + 1]; i++)
    if (!(t->done >> t->w->dag->in[i] & 1))
      return false;
  return !(t->done >> v & 1);
}

static inline void truth_hold(exhausting *t, uint32_t v, uint64_t start, bool give)
{
  for (uint64_t time = start; time < start + t->w->time[v]; time++)
    for (uint32_t r = 0; r < t->w->resource_count; r++) {
      uint32_t amount = t->w->demand[v * t->w->resource_count + r];
      t->held[time][r] += give ? -amount : amount;
    }
}

static inline bool truth_fits(const exhausting *t, uint32_t v, uint64_t start)
{
  for (uint64_t time = start; time < start + t->w->time[v]; time++)
    for (uint32_t r = 0; r < t->w->resource_count; r++)
      if (t->held[time][r] + t->w->demand[v * t->w->resource_count + r] > t->w->capacity[r])
        return false;
  return true;
}

/* Every order, each task as early as a table of moments lets it. */
static inline void truth_project_from(exhausting *t, uint32_t placed, uint64_t makespan)
{
  if (placed == t->w->dag->node_count) {
    t->best = makespan < t->best ? makespan : t->best;
    return;
  }
  for (uint32_t v = 0; v < t->w->dag->node_count; v++) {
    if (!truth_ready(t, v))
      continue;
    uint64_t start = 0;
    for (uint64_t i = t->w->dag->in_first[v]; i < t->w->dag->in_first[v + 1]; i++)
      start = t->finish[t->w->dag->in[i]] > start ? t->finish[t->w->dag->in[i]] : start;
    while (!truth_fits(t, v, start))
      start++;
    t->finish[v] = start + t->w->time[v];
    truth_hold(t, v, start, false);
    t->done |= 1u << v;
    truth_project_from(t, placed + 1, t->finish[v] > makespan ? t->finish[v] : makespan);
    t->done &= ~(1u << v);
    truth_hold(t, v, start, true);
  }
}

/* Every order and every processor for each task, which runs behind what is there. */
static inline void truth_processors_from(exhausting *t, uint32_t placed, uint64_t makespan)
{
  if (placed == t->w->dag->node_count)
    t->best = makespan < t->best ? makespan : t->best;
  for (uint32_t v = 0; v < t->w->dag->node_count; v++)
    for (uint32_t p = 0; truth_ready(t, v) && p < t->w->processor_count; p++) {
      uint64_t start = t->free_at[p], before = start;
      for (uint64_t i = t->w->dag->in_first[v]; i < t->w->dag->in_first[v + 1]; i++) {
        uint32_t u = t->w->dag->in[i];
        uint64_t there = t->finish[u] + (t->unit[u] == p ? 0 : t->w->dag->in_weight[i]);
        start = there > start ? there : start;
      }
      t->unit[v] = p;
      t->finish[v] = t->free_at[p] = start + t->w->time[v * t->w->processor_count + p];
      t->done |= 1u << v;
      if (t->finish[v] < t->best)
        truth_processors_from(t, placed + 1, t->finish[v] > makespan ? t->finish[v] : makespan);
      t->done &= ~(1u << v);
      t->free_at[p] = before;
    }
}

static inline uint64_t truth_makespan(const cm_workload *w)
{
  exhausting *t = calloc(1, sizeof *t);
  t->w = w;
  t->best = UINT64_MAX;
  if (w->processor_count == 0)
    truth_project_from(t, 0, 0);
  else
    truth_processors_from(t, 0, 0);
  uint64_t best = t->best;
  free(t);
  return best;
}
