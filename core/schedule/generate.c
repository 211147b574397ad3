#include "core/schedule/generate.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

/* Amounts of all resources side by side in as few words as they fit: each field has a spare bit on top, which stays set
 * under subtraction as long as the amount suffices. So one subtraction compares all of a word. */
enum { WORDS_MAX = CM_RESOURCES_MAX };

struct cm_generator {
  const cm_workload *project;
  uint32_t words;
  uint64_t full[WORDS_MAX], guard[WORDS_MAX]; /* all capacity with its spare bits; the spare bits */
  uint64_t *need;                             /* words a task */
  uint64_t *moment; /* when what is free changes, ascending; the last change leaves all free for ever */
  uint64_t *left;   /* what is free from then on; words a moment */
  uint32_t moments;
  uint64_t *key;    /* a task */
  uint32_t *merged, *waiting;
  /* For the parallel scheme: tasks that hold the same amounts, which fit all or none, wait in a queue of their own. */
  uint32_t *queue_of; /* a task */
  uint32_t queues;
  cm_heap *queue;
  cm_heap_item *queue_items; /* of all queues */
  cm_heap running;
};

void cm_generator_free(cm_generator *g)
{
  if (g == NULL)
    return;
  CM_FREE(g->need, g->moment, g->left, g->key, g->merged, g->waiting, g->queue_of, g->queue, g->queue_items, g->running.item, g);
}

/* Lays fields out and packs capacities; where field r is, as word and shift. */
static void lay_out(cm_generator *g, uint32_t word[CM_RESOURCES_MAX], uint32_t shift[CM_RESOURCES_MAX])
{
  uint32_t used = 64;
  for (uint32_t r = 0; r < g->project->resource_count; r++) {
    uint32_t capacity = g->project->capacity[r], bits = 1;
    while (bits < 33 && (uint64_t)capacity >> (bits - 1) != 0)
      bits++;
    if (used + bits > 64) {
      g->words++;
      used = 0;
    }
    word[r] = g->words - 1;
    shift[r] = used;
    used += bits;
    g->full[word[r]] |= (uint64_t)capacity << shift[r] | UINT64_C(1) << (used - 1);
    g->guard[word[r]] |= UINT64_C(1) << (used - 1);
  }
}

/* What a task holds while it runs: of one that takes no time, nothing. */
static int by_need(const void *a, const void *b, void *context)
{
  static const uint64_t nothing[WORDS_MAX];
  const cm_generator *g = context;
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  const uint64_t *one = g->project->time[p] > 0 ? g->need + (size_t)p * g->words : nothing,
                 *other = g->project->time[q] > 0 ? g->need + (size_t)q * g->words : nothing;
  return memcmp(one, other, g->words * sizeof *one);
}

/* Makes a queue for each set of amounts that tasks hold. */
static cm_status make_queues(cm_generator *g, cm_memory *memory, cm_error *error)
{
  uint32_t n = g->project->dag->node_count;
  for (uint32_t v = 0; v < n; v++)
    g->merged[v] = v;
  qsort_r(g->merged, n, sizeof *g->merged, by_need, g);
  for (uint32_t k = 0; k < n; k++) {
    g->queues += k == 0 || by_need(&g->merged[k - 1], &g->merged[k], g) != 0;
    g->queue_of[g->merged[k]] = g->queues - 1;
  }
  CM_TRY(CM_NEW(memory, g->queue, g->queues, error));
  for (uint32_t k = 0; k < n; k++)
    if (k == 0 || g->queue_of[g->merged[k]] != g->queue_of[g->merged[k - 1]])
      g->queue[g->queue_of[g->merged[k]]].item = g->queue_items + k;
  return CM_OK;
}

cm_status cm_generator_new(const cm_workload *project, cm_memory *memory, cm_generator **made, cm_error *error)
{
  uint32_t word[CM_RESOURCES_MAX], shift[CM_RESOURCES_MAX], n = project->dag->node_count;
  cm_generator *g = NULL;
  CM_TRY(CM_NEW(memory, g, 1, error));
  g->project = project;
  lay_out(g, word, shift);
  size_t moments = 2 * (size_t)n + 2;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(g->need, (size_t)n * g->words), CM_ARRAY(g->moment, moments),
                       CM_ARRAY(g->left, moments * g->words), CM_ARRAY(g->key, n), CM_ARRAY(g->merged, n),
                       CM_ARRAY(g->waiting, n), CM_ARRAY(g->queue_of, n), CM_ARRAY(g->queue_items, n),
                       CM_ARRAY(g->running.item, n)), cm_generator_free(g));
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t r = 0; r < project->resource_count; r++)
      g->need[(size_t)v * g->words + word[r]] |= (uint64_t)project->demand[(size_t)v * project->resource_count + r] << shift[r];
  CM_TRY_OR(make_queues(g, memory, error), cm_generator_free(g));
  *made = g;
  return CM_OK;
}

static inline bool fits(const cm_generator *g, uint32_t words, const uint64_t *left, const uint64_t *need)
{
  for (uint32_t w = 0; w < words; w++)
    if (((left[w] - need[w]) & g->guard[w]) != g->guard[w])
      return false;
  return true;
}

/* The place of the last moment at or before `time`. */
static inline uint32_t place_of(const cm_generator *g, uint64_t time)
{
  uint32_t low = 0, high = g->moments;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (g->moment[middle] <= time)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Makes `time` a moment of its own right behind place `at`; returns its place. */
static inline uint32_t split(cm_generator *g, uint32_t words, uint32_t at, uint64_t time)
{
  if (g->moment[at] == time)
    return at;
  uint32_t behind = g->moments - at - 1;
  memmove(g->moment + at + 2, g->moment + at + 1, behind * sizeof *g->moment);
  memmove(g->left + (size_t)(at + 1) * words, g->left + (size_t)at * words, (size_t)(behind + 1) * words * sizeof *g->left);
  g->moment[at + 1] = time;
  g->moments++;
  return at + 1;
}

/* Gives a task the earliest start from `earliest` on; returns it. */
static inline uint64_t seat(cm_generator *g, uint32_t words, uint32_t task, uint64_t earliest)
{
  const uint64_t *need = g->need + (size_t)task * words;
  uint64_t duration = g->project->time[task], start = earliest;
  if (duration == 0)
    return start;
  uint32_t first = place_of(g, earliest), last = first;
  while (last < g->moments && (last == first || g->moment[last] < start + duration))
    if (fits(g, words, g->left + (size_t)last * words, need))
      last++;
    else {
      first = ++last;
      start = g->moment[first];
    }
  first = split(g, words, first, start);
  uint64_t end = start + duration;
  for (last = first; last + 1 < g->moments && g->moment[last + 1] < end;)
    last++;
  if (last + 1 == g->moments || g->moment[last + 1] != end)
    (void)split(g, words, last, end);
  for (uint32_t i = first; i <= last; i++)
    for (uint32_t w = 0; w < words; w++)
      g->left[(size_t)i * words + w] -= need[w];
  return start;
}

static inline uint64_t serial(cm_generator *g, uint32_t words, cm_direction direction, const uint32_t *list, uint64_t *start)
{
  const cm_dag *dag = g->project->dag;
  const uint64_t *first = direction == CM_FORWARD ? dag->in_first : dag->out_first;
  const uint32_t *before = direction == CM_FORWARD ? dag->in : dag->out;
  uint64_t makespan = 0;
  g->moments = 1;
  g->moment[0] = 0;
  memcpy(g->left, g->full, words * sizeof *g->left);
  for (uint32_t k = 0; k < dag->node_count; k++) {
    uint32_t v = list[k];
    uint64_t earliest = 0;
    for (uint64_t i = first[v]; i < first[v + 1]; i++) {
      uint64_t end = start[before[i]] + g->project->time[before[i]];
      earliest = end > earliest ? end : earliest;
    }
    start[v] = seat(g, words, v, earliest);
    uint64_t end = start[v] + g->project->time[v];
    makespan = end > makespan ? end : makespan;
  }
  return makespan;
}

uint64_t cm_generate_serial(cm_generator *g, cm_direction direction, const uint32_t *list, uint64_t *start)
{
  return g->words == 1 ? serial(g, 1, direction, list, start) : serial(g, g->words, direction, list, start);
}

static void make_ready(cm_generator *g, const uint64_t *priority, uint32_t task)
{
  cm_heap_push(&g->queue[g->queue_of[task]], (cm_heap_item){UINT64_MAX - priority[task], task});
}

/* The queue whose first task has the highest priority of those that fit into what is left; none: their number. */
static uint32_t best_queue(const cm_generator *g, const uint64_t *left)
{
  uint32_t best = g->queues;
  for (uint32_t q = 0; q < g->queues; q++) {
    if (g->queue[q].count == 0 || (best < g->queues && !cm_heap_before(NULL, g->queue[q].item[0], g->queue[best].item[0])))
      continue;
    uint32_t first = g->queue[q].item[0].number;
    if (g->project->time[first] == 0 || fits(g, g->words, left, g->need + (size_t)first * g->words))
      best = q;
  }
  return best;
}

uint64_t cm_generate_parallel(cm_generator *g, const uint64_t *priority, uint64_t *start)
{
  const cm_dag *dag = g->project->dag;
  uint64_t now = 0, left[WORDS_MAX];
  memcpy(left, g->full, g->words * sizeof *left);
  for (uint32_t v = 0; v < dag->node_count; v++)
    if ((g->waiting[v] = (uint32_t)(dag->in_first[v + 1] - dag->in_first[v])) == 0)
      make_ready(g, priority, v);
  for (;;) {
    for (uint32_t q; (q = best_queue(g, left)) < g->queues;) {
      uint32_t v = cm_heap_pop(&g->queue[q]).number;
      start[v] = now;
      cm_heap_push(&g->running, (cm_heap_item){now + g->project->time[v], v});
      if (g->project->time[v] == 0) /* what waits for it may be ready at once */
        break;
      for (uint32_t w = 0; w < g->words; w++)
        left[w] -= g->need[(size_t)v * g->words + w];
    }
    if (g->running.count == 0)
      return now;
    now = g->running.item[0].key;
    while (g->running.count > 0 && g->running.item[0].key == now) {
      uint32_t v = cm_heap_pop(&g->running).number;
      for (uint32_t w = 0; w < g->words && g->project->time[v] > 0; w++)
        left[w] += g->need[(size_t)v * g->words + w];
      for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++)
        if (--g->waiting[dag->out[i]] == 0)
          make_ready(g, priority, dag->out[i]);
    }
  }
}

/* Bottom-up merge sort that begins with runs made by insertion: lists come nearly sorted. */
void cm_sort_list(cm_generator *g, uint32_t *list, const uint64_t *key)
{
  enum { RUN = 16 };
  uint32_t n = g->project->dag->node_count;
  for (uint32_t low = 0; low < n; low += RUN)
    for (uint32_t i = low + 1; i < n && i < low + RUN; i++) {
      uint32_t v = list[i], j = i;
      for (; j > low && key[list[j - 1]] > key[v]; j--)
        list[j] = list[j - 1];
      list[j] = v;
    }
  for (uint32_t run = RUN; run < n; run *= 2) {
    for (uint32_t low = 0; low + run < n; low += 2 * run) {
      uint32_t middle = low + run, high = n - middle < run ? n : middle + run, a = low, b = middle, out = 0;
      if (key[list[middle - 1]] <= key[list[middle]])
        continue;
      while (a < middle && b < high)
        g->merged[out++] = key[list[b]] < key[list[a]] ? list[b++] : list[a++];
      while (a < middle)
        g->merged[out++] = list[a++];
      memcpy(list + low, g->merged, out * sizeof *list);
    }
  }
}

static void mirror(const cm_generator *g, uint64_t makespan, uint64_t *start)
{
  for (uint32_t v = 0; v < g->project->dag->node_count; v++)
    start[v] = makespan - start[v] - g->project->time[v];
}

static void reverse(uint32_t *list, uint32_t n)
{
  for (uint32_t i = 0; i < n / 2; i++) {
    uint32_t v = list[i];
    list[i] = list[n - 1 - i];
    list[n - 1 - i] = v;
  }
}

uint64_t cm_justify(cm_generator *g, uint32_t *list, uint64_t *start)
{
  uint32_t n = g->project->dag->node_count;
  for (uint32_t v = 0; v < n; v++)
    g->key[v] = UINT64_MAX - start[v] - g->project->time[v];
  reverse(list, n);
  cm_sort_list(g, list, g->key);
  uint64_t makespan = cm_generate_serial(g, CM_BACKWARD, list, start);
  mirror(g, makespan, start);
  reverse(list, n);
  cm_sort_list(g, list, start);
  makespan = cm_generate_serial(g, CM_FORWARD, list, start);
  cm_sort_list(g, list, start);
  return makespan;
}
