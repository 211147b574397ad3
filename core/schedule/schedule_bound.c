#include "core/schedule/schedule_bound.h"
#include "base/order.h"

#include <stdlib.h>

enum { ENERGY_TASKS_MAX = 256, PAIRS_MAX = 1 << 24 };

typedef struct window {
  uint64_t duration, head, tail; /* tail: what must follow after its end */
  uint32_t number;
} window;

typedef struct bounding {
  const cm_workload *workload;
  window *task; /* by falling head */
  uint64_t *time; /* the least duration of each task */
  uint64_t *head, *tail;
  uint64_t bound;
} bounding;

CM_ORDER(by_falling_head, window, CM_FALLING(head) CM_RISING(number))

static uint64_t least_time(const cm_workload *w, uint32_t task)
{
  uint32_t columns = w->processor_count > 0 ? w->processor_count : 1;
  uint64_t least = UINT64_MAX;
  for (uint32_t p = 0; p < columns; p++) {
    uint64_t time = w->time[(size_t)task * columns + p];
    least = time < least ? time : least;
  }
  return least;
}

/* Amount of resource r that a task holds; processors count as one resource. */
static uint64_t amount(const cm_workload *w, uint32_t task, uint32_t r)
{
  return w->resource_count == 0 ? 1 : w->demand[(size_t)task * w->resource_count + r];
}

static uint64_t capacity(const cm_workload *w, uint32_t r)
{
  return w->resource_count == 0 ? w->processor_count : w->capacity[r];
}

static uint64_t over(uint64_t load, uint64_t room)
{
  return load / room + (load % room != 0);
}

static void raise(bounding *b, uint64_t bound)
{
  b->bound = bound > b->bound ? bound : b->bound;
}

/* head + load + tail: for tails down a sample of all, tasks by falling head. */
static void bound_load(bounding *b, uint32_t r)
{
  uint32_t n = b->workload->dag->node_count, step = (uint32_t)((uint64_t)n * n / PAIRS_MAX) + 1;
  uint64_t room = capacity(b->workload, r);
  for (uint32_t k = 0; k < n && room > 0; k += step) {
    uint64_t least_tail = k == 0 ? 0 : b->task[k].tail, load = 0, tail = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
      const window *t = &b->task[i];
      if (t->tail < least_tail || t->duration == 0)
        continue;
      load += t->duration * amount(b->workload, t->number, r);
      tail = t->tail < tail ? t->tail : tail;
      raise(b, t->head + over(load, room) + tail);
    }
  }
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static inline uint64_t excess(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* What must be done between `from` and `to` if all ends by `end`, against what the resource can do. When it is too
 * much, the end and with it `to` must move until the room suffices: what must be done does not fall meanwhile. */
static uint64_t later(const bounding *b, uint32_t r, uint64_t from, uint64_t to, uint64_t end)
{
  uint64_t energy = 0, room = capacity(b->workload, r);
  for (uint32_t i = 0; i < b->workload->dag->node_count; i++) {
    const window *t = &b->task[i];
    uint64_t right = end - t->tail - t->duration; /* its latest start */
    uint64_t inside = least(least(t->duration, to - from), least(excess(t->head + t->duration, from), excess(to, right)));
    energy += inside * amount(b->workload, t->number, r);
  }
  return excess(over(energy, room), to - from);
}

/* Intervals from the beginning of one task's window to the end of another's, for a growing end of the whole. */
static void bound_energy(bounding *b, uint32_t r)
{
  uint32_t n = b->workload->dag->node_count;
  for (uint64_t more = 1; more > 0;) {
    more = 0;
    for (uint32_t i = 0; i < n; i++) {
      if (i > 0 && b->task[i].head == b->task[i - 1].head)
        continue;
      for (uint32_t k = 0; k < n; k++) {
        uint64_t from = b->task[i].head, to = b->bound - b->task[k].tail;
        if (to > from && b->task[k].duration > 0) {
          uint64_t here = later(b, r, from, to, b->bound);
          more = here > more ? here : more;
        }
      }
    }
    b->bound += more;
  }
}

static void compute(bounding *b)
{
  const cm_workload *w = b->workload;
  uint32_t n = w->dag->node_count;
  for (uint32_t v = 0; v < n; v++)
    b->time[v] = least_time(w, v);
  cm_dag_depths(w->dag, b->time, false, b->head);
  cm_dag_heights(w->dag, b->time, false, b->tail);
  for (uint32_t v = 0; v < n; v++) {
    b->task[v] = (window){b->time[v], b->head[v], b->tail[v] - b->time[v], v};
    raise(b, b->head[v] + b->tail[v]);
  }
  qsort(b->task, n, sizeof *b->task, by_falling_head);
  for (uint32_t r = 0; r < (w->resource_count == 0 ? 1 : w->resource_count); r++) {
    bound_load(b, r);
    if (n <= ENERGY_TASKS_MAX && capacity(w, r) > 0)
      bound_energy(b, r);
  }
}

cm_status cm_schedule_bound(const cm_workload *workload, cm_memory *memory, uint64_t *bound, cm_error *error)
{
  bounding b = {.workload = workload};
  uint32_t n = workload->dag->node_count;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(b.task, n), CM_ARRAY(b.time, n), CM_ARRAY(b.head, n),
                                CM_ARRAY(b.tail, n));
  if (status == CM_OK) {
    compute(&b);
    *bound = b.bound;
  }
  CM_FREE(b.task, b.time, b.head, b.tail);
  return status;
}
