#include "core/partition/fm_search.h"

#include <math.h>
#include <string.h>

/* Vertices that a search starts with. */
enum { SEEDS = 25 };

cm_status cm_fm_search_new(uint32_t vertices, cm_run *run, cm_fm_search *s, cm_error *error)
{
  cm_memory *memory = run->memory;
  *s = (cm_fm_search){.vertices = vertices, .run = run, .work = UINT64_MAX};
  if (CM_NEW(memory, s->place, vertices, error) != CM_OK || CM_NEW(memory, s->done, vertices, error) != CM_OK ||
      CM_NEW(memory, s->order, vertices, error) != CM_OK || CM_NEW(memory, s->moved, vertices, error) != CM_OK ||
      CM_NEW(memory, s->from, vertices, error) != CM_OK || CM_NEW(memory, s->before, vertices, error) != CM_OK)
    return error->status;
  memset(s->place, 0xff, vertices * sizeof *s->place);
  s->heap.place = s->place;
  return CM_OK;
}

void cm_fm_search_free(cm_fm_search *s)
{
  cm_indexed_heap_free(&s->heap);
  CM_FREE(s->place, s->done, s->order, s->moved, s->from, s->before);
}

bool cm_fm_moved(cm_fm_search *s, uint32_t v, uint32_t from, int64_t gain, bool evener)
{
  s->done[v] = CM_FM_MOVED;
  s->moved[s->moves] = v;
  s->from[s->moves++] = from;
  s->sum += gain;
  if (s->sum < s->best || (s->sum == s->best && !evener))
    return !cm_fm_walk_hopeless(&s->walk, gain);
  s->best = s->sum;
  s->kept = s->moves;
  cm_fm_walk_restart(&s->walk);
  return true;
}

/* One search from the vertices that are in the heap. */
static cm_status search_once(cm_fm_search *s, const cm_fm_method *method, void *context, int64_t *gain, cm_error *error)
{
  s->moves = s->kept = 0;
  s->sum = s->best = 0;
  s->walk = cm_fm_walk_begin(s->vertices);
  CM_TRY(method->search(context, error));
  for (uint32_t i = s->moves; i-- > 0;) {
    uint32_t v = s->moved[i];
    if (i >= s->kept)
      method->move(context, v, s->from[i]);
    s->done[v] = i < s->kept ? CM_FM_KEPT : CM_FM_FREE;
  }
  cm_indexed_heap_clear(&s->heap);
  *gain += s->best;
  return cm_run_check(s->run, error);
}

/* Vertices on borders, shuffled. */
static uint32_t order_borders(cm_fm_search *s, const cm_fm_method *method, const void *context, cm_random *random)
{
  uint32_t count = 0;
  for (uint32_t v = 0; v < s->vertices; v++)
    if (method->on_border(context, v))
      s->order[count++] = v;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = (uint32_t)cm_random_below(random, i), v = s->order[j];
    s->order[j] = s->order[i - 1];
    s->order[i - 1] = v;
  }
  return count;
}

cm_status cm_fm_round(cm_fm_search *s, const cm_fm_method *method, void *context, cm_random *random, int64_t *gain,
                      cm_error *error)
{
  uint32_t count = order_borders(s, method, context, random);
  memset(s->done, CM_FM_FREE, s->vertices);
  const double work = (double)s->work;
  double told = 0;
  for (uint32_t i = 0; i < count && s->work > 0;) {
    const double done = fmax((double)i / count, 1 - (double)s->work / work);
    cm_run_add(s->run, s->share * (done - told));
    told = done;
    for (uint32_t seeds = 0; i < count && seeds < SEEDS; i++)
      if (s->done[s->order[i]] == CM_FM_FREE) {
        CM_TRY(method->offer(context, s->order[i], error));
        seeds++;
      }
    CM_TRY(search_once(s, method, context, gain, error));
  }
  return CM_OK;
}

void cm_fm_go_back(const cm_fm_search *s, const cm_fm_method *method, void *context, const uint32_t *part)
{
  for (uint32_t v = 0; v < s->vertices; v++)
    if (part[v] != s->before[v])
      method->move(context, v, s->before[v]);
}
