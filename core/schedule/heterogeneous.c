/* Processors of different speed: HEFT, and a search over orders and assignments from it.
 *
 * HEFT: Topcuoglu, Hariri, Wu (Performance-effective and low-complexity task scheduling for heterogeneous computing,
 * IEEE TPDS 2002). The search moves one task at a time to another place in the order, another processor or both, and accepts
 * what is at most a falling threshold longer (threshold accepting: Dueck, Scheuer 1990). */
#include <string.h>

#include "base/random.h"
#include "core/schedule/solve.h"

enum {
  MOVES_PER_TASK = 100, /* of a first round; each time all thresholds are through, rounds get twice as long */
  THRESHOLDS = 5,
};

/* How much longer a schedule may get at the beginning of a round, in hundredths of the makespan's share of one task:
 * moves of one task in many change little. Rounds take them in turn. */
static const uint64_t threshold_percent[THRESHOLDS] = {10, 200, 600, 50, 350};

#define NOBODY UINT32_MAX

typedef struct search {
  cm_solving *solving;
  const cm_workload *workload;
  const cm_dag *dag;
  uint32_t processors;
  cm_random random;
  uint64_t *rank;
  uint32_t *list, *place, *unit;       /* the solution at hand: order, where each task is in it, its processor */
  uint64_t *start, *finish;            /* of the schedule just built */
  uint32_t *first, *last;              /* of each processor: its tasks in time */
  uint32_t *next, *previous;           /* of each task, on its processor */
} search;

static uint64_t time_on(const search *s, uint32_t task, uint32_t processor)
{
  return s->workload->time[(size_t)task * s->processors + processor];
}

static cm_status begin(search *s, cm_error *error)
{
  cm_memory *memory = s->solving->run->memory;
  uint32_t n = s->dag->node_count;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->rank, n), CM_ARRAY(s->list, n), CM_ARRAY(s->place, n), CM_ARRAY(s->unit, n),
                    CM_ARRAY(s->start, n), CM_ARRAY(s->finish, n), CM_ARRAY(s->next, n), CM_ARRAY(s->previous, n),
                    CM_ARRAY(s->first, s->processors), CM_ARRAY(s->last, s->processors)));
  cm_random_init(&s->random, s->solving->run->seed, CM_STREAM_SCHEDULE, 1);
  return CM_OK;
}

static void end(search *s)
{
  CM_FREE(s->rank, s->list, s->place, s->unit, s->start, s->finish, s->next, s->previous, s->first, s->last);
}

/* ---- building a schedule ---- */

static void clear(search *s)
{
  for (uint32_t p = 0; p < s->processors; p++)
    s->first[p] = s->last[p] = NOBODY;
}

/* When everything that a task waits for is on a processor. */
static uint64_t ready_on(const search *s, uint32_t task, uint32_t processor)
{
  uint64_t ready = 0;
  for (uint64_t i = s->dag->in_first[task]; i < s->dag->in_first[task + 1]; i++) {
    uint32_t before = s->dag->in[i];
    uint64_t there = s->finish[before] + (s->unit[before] == processor ? 0 : s->dag->in_weight[i]);
    ready = there > ready ? there : ready;
  }
  return ready;
}

/* The earliest start on a processor, in a gap between its tasks or behind them; *before is the task that it follows. */
static uint64_t earliest_on(const search *s, uint64_t ready, uint64_t duration, uint32_t processor, uint32_t *before)
{
  uint32_t after = NOBODY, task = s->last[processor];
  while (task != NOBODY && s->finish[task] > ready) {
    after = task;
    task = s->previous[task];
  }
  uint64_t from = ready; /* what is before ends by then */
  while (after != NOBODY && from + duration > s->start[after]) {
    from = s->finish[after] > from ? s->finish[after] : from;
    task = after;
    after = s->next[after];
  }
  *before = task;
  return from;
}

static void seat(search *s, uint32_t task, uint32_t processor, uint64_t start, uint32_t before)
{
  uint32_t after = before == NOBODY ? s->first[processor] : s->next[before];
  s->unit[task] = processor;
  s->start[task] = start;
  s->finish[task] = start + time_on(s, task, processor);
  s->previous[task] = before;
  s->next[task] = after;
  *(before == NOBODY ? &s->first[processor] : &s->next[before]) = task;
  *(after == NOBODY ? &s->last[processor] : &s->previous[after]) = task;
}

/* Keeps the schedule just built when it is the best so far. */
static uint64_t note(search *s)
{
  cm_schedule *best = s->solving->best;
  uint64_t makespan = 0;
  for (uint32_t v = 0; v < s->dag->node_count; v++)
    makespan = s->finish[v] > makespan ? s->finish[v] : makespan;
  best->generated++;
  if (makespan < best->makespan) {
    best->makespan = makespan;
    memcpy(best->start, s->start, s->dag->node_count * sizeof *best->start);
    memcpy(best->unit, s->unit, s->dag->node_count * sizeof *best->unit);
  }
  return makespan;
}

/* Each task of the list in turn on the processor where it ends first. */
static uint64_t build_earliest_finish(search *s)
{
  clear(s);
  for (uint32_t k = 0; k < s->dag->node_count; k++) {
    uint32_t v = s->list[k], best_processor = 0, best_before = NOBODY;
    uint64_t best_finish = UINT64_MAX, best_start = 0;
    for (uint32_t p = 0; p < s->processors; p++) {
      uint32_t before;
      uint64_t duration = time_on(s, v, p), start = earliest_on(s, ready_on(s, v, p), duration, p, &before);
      if (start + duration < best_finish) {
        best_finish = start + duration;
        best_start = start;
        best_processor = p;
        best_before = before;
      }
    }
    seat(s, v, best_processor, best_start, best_before);
  }
  return note(s);
}

/* Each task of the list in turn on its processor. */
static uint64_t build_assigned(search *s)
{
  clear(s);
  for (uint32_t k = 0; k < s->dag->node_count; k++) {
    uint32_t v = s->list[k], p = s->unit[v], before;
    uint64_t start = earliest_on(s, ready_on(s, v, p), time_on(s, v, p), p, &before);
    seat(s, v, p, start, before);
  }
  return note(s);
}

/* Upward ranks, times the number of processors so that means are whole: the mean time of a task, and the longest way
 * behind it with all transfers. */
static void rank_upward(search *s)
{
  for (uint32_t k = s->dag->node_count; k-- > 0;) {
    uint32_t v = s->dag->order[k];
    uint64_t behind = 0;
    for (uint64_t i = s->dag->out_first[v]; i < s->dag->out_first[v + 1]; i++) {
      uint64_t way = s->rank[s->dag->out[i]] + s->dag->out_weight[i] * s->processors;
      behind = way > behind ? way : behind;
    }
    s->rank[v] = behind;
    for (uint32_t p = 0; p < s->processors; p++)
      s->rank[v] += time_on(s, v, p);
  }
}

/* ---- the search ---- */

/* Moves the task at place `from` of the list to place `to`. */
static void shift(search *s, uint32_t from, uint32_t to)
{
  uint32_t v = s->list[from];
  for (; from < to; from++)
    s->place[s->list[from] = s->list[from + 1]] = from;
  for (; from > to; from--)
    s->place[s->list[from] = s->list[from - 1]] = from;
  s->place[s->list[to] = v] = to;
}

/* A random place for a task between all it waits for and all that waits for it. */
static uint32_t random_place(search *s, uint32_t task)
{
  uint32_t low = 0, high = s->dag->node_count - 1;
  for (uint64_t i = s->dag->in_first[task]; i < s->dag->in_first[task + 1]; i++)
    low = s->place[s->dag->in[i]] + 1 > low ? s->place[s->dag->in[i]] + 1 : low;
  for (uint64_t i = s->dag->out_first[task]; i < s->dag->out_first[task + 1]; i++)
    high = s->place[s->dag->out[i]] - 1 < high ? s->place[s->dag->out[i]] - 1 : high;
  return low + (uint32_t)cm_random_below(&s->random, (uint64_t)high - low + 1);
}

/* Begins a round at the best schedule: the order of its starts, its processors. */
static cm_status restart(search *s, cm_error *error)
{
  const cm_schedule *best = s->solving->best;
  uint32_t n = s->dag->node_count;
  for (uint32_t v = 0; v < n; v++)
    s->rank[v] = UINT64_MAX - best->start[v]; /* the queue keeps to precedence among equal starts */
  CM_TRY(cm_dag_queue(s->dag, s->rank, s->solving->run->memory, s->list, error));
  memcpy(s->unit, best->unit, n * sizeof *s->unit);
  for (uint32_t k = 0; k < n; k++)
    s->place[s->list[k]] = k;
  return CM_OK;
}

/* One move: tries it, and takes it back when it makes the schedule longer than `most`. */
static uint64_t try_move(search *s, uint64_t makespan, uint64_t most)
{
  uint32_t v = (uint32_t)cm_random_below(&s->random, s->dag->node_count), from = s->place[v], unit = s->unit[v];
  uint64_t kind = cm_random_below(&s->random, 4);
  if (kind != 0)
    s->unit[v] = (uint32_t)cm_random_below(&s->random, s->processors);
  if (kind != 1)
    shift(s, from, random_place(s, v));
  if (s->unit[v] == unit && s->place[v] == from)
    return makespan;
  uint64_t changed = build_assigned(s);
  if (changed <= most)
    return changed;
  shift(s, s->place[v], from);
  s->unit[v] = unit;
  return makespan;
}

static cm_status search_mode(search *s, cm_error *error)
{
  uint64_t moves = (uint64_t)MOVES_PER_TASK * s->dag->node_count;
  bool done = false;
  for (uint64_t round = 0; !done; round++) {
    CM_TRY(restart(s, error));
    uint64_t makespan = build_assigned(s), share = makespan / s->dag->node_count,
             widest = share * threshold_percent[round % THRESHOLDS] / 100;
    for (uint64_t m = 0; m < moves && !done; m++) {
      makespan = try_move(s, makespan, makespan + widest * (moves - m) / moves);
      CM_TRY_IF(m % 64 == 0, cm_solving_done(s->solving, &done, error));
    }
    if (round % THRESHOLDS == THRESHOLDS - 1)
      moves *= 2;
  }
  return CM_OK;
}

cm_status cm_solve_processors(cm_solving *solving, cm_error *error)
{
  search s = {.solving = solving,
              .workload = solving->workload, .dag = solving->workload->dag, .processors = solving->workload->processor_count};
  bool done = false;
  cm_status status = begin(&s, error);
  if (status == CM_OK) {
    rank_upward(&s);
    status = cm_dag_queue(s.dag, s.rank, solving->run->memory, s.list, error);
  }
  if (status == CM_OK) {
    build_earliest_finish(&s);
    if (solving->options->method == CM_SCHEDULE_SEARCH &&
        (status = cm_solving_done(solving, &done, error)) == CM_OK && !done && s.dag->node_count > 0)
      status = search_mode(&s, error);
  }
  end(&s);
  return status;
}
