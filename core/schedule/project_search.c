/* Projects: list schedules, and a genetic search over lists whose every schedule is justified.
 *
 * Hartmann (A competitive genetic algorithm for resource-constrained project scheduling, 1998) for lists and their
 * two-point crossover; Valls, Ballestin, Quintanilla (Justification and RCPSP, EJOR 2005) for justifying every one;
 * Kolisch, Hartmann (Experimental investigation of heuristics for RCPSP: an update, EJOR 2006) for what works. */
#include <string.h>

#include "base/random.h"
#include "core/schedule/generate.h"
#include "core/schedule/solve.h"

enum { POPULATION_MIN = 10, POPULATION_MAX = 80, MUTATED_SHARE = 4, MUTATIONS_MAX = 32, STALE_ROUNDS = 30 };

typedef struct member {
  uint32_t *list; /* its tasks by start */
  uint64_t makespan, mark;
} member;

typedef struct search {
  cm_solving *solving;
  const cm_dag *dag;
  cm_generator *generator;
  cm_random random;
  uint64_t *height, *start;
  uint32_t *waiting, *free; /* while a list is drawn */
  uint32_t *taken, stamp;   /* while two are crossed */
  uint32_t *memory_of_lists;
  member *member; /* the population, then a child */
  uint32_t population;
} search;

static cm_status begin(search *s, cm_error *error)
{
  cm_memory *memory = s->solving->run->memory;
  uint32_t n = s->dag->node_count;
  uint64_t schedules = s->solving->options->schedules;
  s->population = POPULATION_MIN;
  while (s->population < POPULATION_MAX && (uint64_t)s->population * s->population < 600 + schedules / 5)
    s->population++;
  size_t members = (size_t)s->population + 1; /* and a child */
  if (cm_generator_new(s->solving->workload, memory, &s->generator, error) != CM_OK ||
      CM_NEW_ALL(memory, error, CM_ARRAY(s->height, n), CM_ARRAY(s->start, n), CM_ARRAY(s->waiting, n), CM_ARRAY(s->free, n),
                 CM_ARRAY(s->taken, n), CM_ARRAY(s->memory_of_lists, members * n), CM_ARRAY(s->member, members)) != CM_OK)
    return error->status;
  for (size_t i = 0; i < members; i++)
    s->member[i].list = s->memory_of_lists + i * n;
  cm_dag_heights(s->dag, s->solving->workload->time, false, s->height);
  cm_random_init(&s->random, s->solving->run->seed, CM_STREAM_SCHEDULE, 0);
  return CM_OK;
}

static void end(search *s)
{
  cm_generator_free(s->generator);
  CM_FREE(s->height, s->start, s->waiting, s->free, s->taken, s->memory_of_lists, s->member);
}

/* Keeps a schedule when it is the best so far. */
static void note(search *s, uint64_t makespan)
{
  cm_schedule *best = s->solving->best;
  if (makespan >= best->makespan)
    return;
  best->makespan = makespan;
  memcpy(best->start, s->start, s->dag->node_count * sizeof *best->start);
}

/* ---- list mode ---- */

static void list_by_start(search *s, uint32_t *list)
{
  memcpy(list, s->dag->order, s->dag->node_count * sizeof *list);
  cm_sort_list(s->generator, list, s->start);
}

/* Justifies s->start, whose order is `list`, until it does not get shorter. */
static void settle(search *s, uint32_t *list, uint64_t makespan)
{
  note(s, makespan);
  for (;;) {
    uint64_t shorter = cm_justify(s->generator, list, s->start);
    s->solving->best->generated += 2;
    note(s, shorter);
    if (shorter >= makespan)
      return;
    makespan = shorter;
  }
}

/* The schemes by height, each justified. */
static cm_status list_mode(search *s, cm_error *error)
{
  uint32_t *list = s->member[0].list;
  uint64_t makespan = cm_generate_parallel(s->generator, s->height, s->start);
  list_by_start(s, list);
  settle(s, list, makespan);
  CM_TRY(cm_dag_queue(s->dag, s->height, s->solving->run->memory, list, error));
  makespan = cm_generate_serial(s->generator, CM_FORWARD, list, s->start);
  list_by_start(s, list);
  settle(s, list, makespan);
  s->solving->best->generated += 2;
  return CM_OK;
}

/* ---- drawing and crossing lists ---- */

/* A list where each next task is the highest of a few that are drawn from what is free: `draws` is the bias. */
static void draw_list(search *s, uint32_t draws, uint32_t *list)
{
  uint32_t n = s->dag->node_count, free_count = 0;
  for (uint32_t v = 0; v < n; v++)
    if ((s->waiting[v] = (uint32_t)(s->dag->in_first[v + 1] - s->dag->in_first[v])) == 0)
      s->free[free_count++] = v;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t chosen = (uint32_t)cm_random_below(&s->random, free_count);
    for (uint32_t d = 1; d < draws; d++) {
      uint32_t other = (uint32_t)cm_random_below(&s->random, free_count);
      if (s->height[s->free[other]] > s->height[s->free[chosen]])
        chosen = other;
    }
    uint32_t v = list[k] = s->free[chosen];
    s->free[chosen] = s->free[--free_count];
    for (uint64_t i = s->dag->out_first[v]; i < s->dag->out_first[v + 1]; i++)
      if (--s->waiting[s->dag->out[i]] == 0)
        s->free[free_count++] = s->dag->out[i];
  }
}

/* Two-point crossover: the ends come in the order of one parent, the middle in that of the other. */
static void cross(search *s, const uint32_t *one, const uint32_t *other, uint32_t *child)
{
  uint32_t n = s->dag->node_count, first = (uint32_t)cm_random_below(&s->random, n),
           last = (uint32_t)cm_random_below(&s->random, n), k = 0;
  if (first > last) {
    uint32_t swap = first;
    first = last;
    last = swap;
  }
  s->stamp++;
  for (; k < first; k++)
    s->taken[child[k] = one[k]] = s->stamp;
  for (uint32_t i = 0; k <= last; i++)
    if (s->taken[other[i]] != s->stamp)
      s->taken[child[k++] = other[i]] = s->stamp;
  for (uint32_t i = 0; i < n; i++)
    if (s->taken[one[i]] != s->stamp)
      child[k++] = one[i];
}

/* Moves up to a quarter of the tasks, in large projects a few, to other places between what they wait for and what
 * waits for them. */
static void mutate(search *s, uint32_t *list)
{
  uint32_t n = s->dag->node_count, most = n / MUTATED_SHARE < MUTATIONS_MAX ? n / MUTATED_SHARE + 1 : MUTATIONS_MAX;
  for (uint32_t moves = (uint32_t)cm_random_below(&s->random, most + 1); moves > 0; moves--) {
    uint32_t from = (uint32_t)cm_random_below(&s->random, n), low = from, high = from, v = list[from];
    while (low > 0 && !cm_dag_has_arc(s->dag, list[low - 1], v))
      low--;
    while (high + 1 < n && !cm_dag_has_arc(s->dag, v, list[high + 1]))
      high++;
    uint32_t to = low + (uint32_t)cm_random_below(&s->random, high - low + 1);
    for (; from > to; from--)
      list[from] = list[from - 1];
    for (; from < to; from++)
      list[from] = list[from + 1];
    list[to] = v;
  }
}

/* Schedules and justifies a member's list. */
static void evaluate(search *s, member *m)
{
  uint64_t makespan = cm_generate_serial(s->generator, CM_FORWARD, m->list, s->start);
  note(s, makespan);
  m->makespan = cm_justify(s->generator, m->list, s->start);
  note(s, m->makespan);
  s->solving->best->generated += 3;
  m->mark = 0;
  for (uint32_t v = 0; v < s->dag->node_count; v++)
    m->mark = cm_mix(m->mark ^ s->start[v]);
}

/* ---- the search ---- */

static const member *pick(search *s)
{
  uint32_t a = (uint32_t)cm_random_below(&s->random, s->population), b = (uint32_t)cm_random_below(&s->random, s->population);
  return &s->member[a < b ? a : b]; /* they are sorted */
}

/* Sorts members by makespan, the older first among equals, and sends those that repeat another to the end. */
static void rank(search *s)
{
  uint32_t count = s->population;
  for (uint32_t i = 1; i < count; i++) {
    member m = s->member[i];
    uint32_t j = i;
    for (; j > 0 && s->member[j - 1].makespan > m.makespan; j--)
      s->member[j] = s->member[j - 1];
    s->member[j] = m;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool again = false;
    for (uint32_t j = kept; j-- > 0 && s->member[j].makespan == s->member[i].makespan && !again;)
      again = s->member[j].mark == s->member[i].mark;
    if (!again) {
      member m = s->member[kept];
      s->member[kept++] = s->member[i];
      s->member[i] = m;
    }
  }
}

static cm_status populate(search *s, bool *done, cm_error *error)
{
  for (uint32_t i = 0; i < s->population; i++) {
    CM_TRY(cm_solving_done(s->solving, done, error));
    if (*done)
      return CM_OK;
    draw_list(s, 1 + i % 4, s->member[i].list);
    evaluate(s, &s->member[i]);
  }
  rank(s);
  return CM_OK;
}

/* Each member's child by another parent takes its place when it is not longer: like replaces like, and the population
 * stays wide (crowding). */
static cm_status breed(search *s, bool *done, cm_error *error)
{
  member *child = &s->member[s->population];
  for (uint32_t i = 0; i < s->population; i++) {
    CM_TRY(cm_solving_done(s->solving, done, error));
    if (*done)
      return CM_OK;
    cross(s, s->member[i].list, pick(s)->list, child->list);
    mutate(s, child->list);
    evaluate(s, child);
    if (child->makespan <= s->member[i].makespan) {
      member old = s->member[i];
      s->member[i] = *child;
      *child = old;
    }
  }
  rank(s);
  return CM_OK;
}

static cm_status search_mode(search *s, cm_error *error)
{
  bool done = false;
  cm_status status = populate(s, &done, error);
  uint64_t before = UINT64_MAX;
  for (uint32_t stale = 0; status == CM_OK && !done;) {
    status = breed(s, &done, error);
    stale = s->member[0].makespan < before ? 0 : stale + 1;
    before = s->member[0].makespan;
    if (stale > STALE_ROUNDS && status == CM_OK && !done) {
      status = populate(s, &done, error);
      before = UINT64_MAX;
      stale = 0;
    }
  }
  return status;
}

static cm_status sample_mode(search *s, cm_error *error)
{
  bool done = false;
  while (!done) {
    draw_list(s, 2, s->member[0].list);
    note(s, cm_generate_serial(s->generator, CM_FORWARD, s->member[0].list, s->start));
    s->solving->best->generated++;
    CM_TRY(cm_solving_done(s->solving, &done, error));
  }
  return CM_OK;
}

cm_status cm_solve_project(cm_solving *solving, cm_error *error)
{
  search s = {.solving = solving, .dag = solving->workload->dag};
  cm_status status = begin(&s, error);
  cm_schedule_method method = solving->options->method;
  bool done = false;
  if (status == CM_OK && method == CM_SCHEDULE_RANK)
    note(&s, cm_generate_parallel(s.generator, s.height, s.start));
  else if (status == CM_OK && method == CM_SCHEDULE_SAMPLE)
    status = sample_mode(&s, error);
  else if (status == CM_OK && (status = list_mode(&s, error)) == CM_OK && method == CM_SCHEDULE_SEARCH &&
           (status = cm_solving_done(solving, &done, error)) == CM_OK && !done && s.dag->node_count > 0)
    status = search_mode(&s, error);
  end(&s);
  return status;
}
