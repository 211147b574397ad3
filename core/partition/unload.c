#include "core/partition/unload.h"

#include <string.h>

static void find_emptiest(cm_unload *u)
{
  u->emptiest = 0;
  for (uint32_t p = 1; p < u->view->parts; p++)
    if (cm_unload_room(u, p) > cm_unload_room(u, u->emptiest))
      u->emptiest = p;
}

/* After a move nothing has more room than before but the part that was left. */
static void follow_emptiest(cm_unload *u, uint32_t left, uint32_t entered)
{
  uint64_t here = cm_unload_room(u, left), there = cm_unload_room(u, u->emptiest);
  if (entered == u->emptiest)
    find_emptiest(u);
  else if (here > there || (here == there && left < u->emptiest))
    u->emptiest = left;
}

/* Gains for their size, losses by it. */
static int64_t key_of(const cm_unload *u, uint32_t v, int64_t gain)
{
  enum { FINE = 16 }; /* fractions of a small loss count */
  int64_t size = u->view->size[v] > 0 ? u->view->size[v] : 1;
  if (gain >= 0)
    return gain < INT64_MAX / size ? gain * size : INT64_MAX;
  return gain > INT64_MIN / FINE ? gain * FINE / size : gain / size;
}

/* Where v is to go; nowhere unless its part is above the limit. */
static uint32_t target_of(const cm_unload *u, uint32_t v, int64_t *gain)
{
  const cm_unload_view *view = u->view;
  uint32_t p = view->part[v];
  uint64_t most = view->most != NULL ? view->most[p] : view->most_of_all;
  return view->load[p] > most ? view->target(u, view->state, v, gain) : CM_UNLOAD_NOWHERE;
}

static cm_status offer(cm_unload *u, uint32_t v, cm_error *error)
{
  int64_t gain = 0;
  bool in = u->place[v] != CM_INDEXED_HEAP_ABSENT;
  if (target_of(u, v, &gain) == CM_UNLOAD_NOWHERE) {
    if (in)
      cm_indexed_heap_remove(&u->heap, v);
    return CM_OK;
  }
  if (!in)
    return cm_indexed_heap_push(&u->heap, v, key_of(u, v, gain), u->run->memory, error);
  cm_indexed_heap_change(&u->heap, v, key_of(u, v, gain));
  return CM_OK;
}

static cm_status unload(cm_unload *u, int64_t *total, cm_error *error)
{
  const cm_unload_view *view = u->view;
  find_emptiest(u);
  for (uint32_t v = 0; v < view->vertices; v++)
    CM_TRY(offer(u, v, error));
  while (u->heap.count > 0) {
    uint32_t v = u->heap.item[0].vertex, left = view->part[v];
    int64_t promised = u->heap.item[0].key, gain = 0;
    uint32_t to = target_of(u, v, &gain);
    if (to == CM_UNLOAD_NOWHERE || key_of(u, v, gain) < promised) {
      CM_TRY(offer(u, v, error));
      continue;
    }
    const uint32_t *affected;
    uint64_t count;
    cm_indexed_heap_remove(&u->heap, v);
    view->move(view->state, v, to, &affected, &count);
    *total += gain;
    follow_emptiest(u, left, to);
    for (uint64_t i = 0; i < count; i++)
      if (affected[i] != v && offer(u, affected[i], error) != CM_OK)
        return error->status;
  }
  return cm_run_check(u->run, error);
}

cm_status cm_unload_parts(const cm_unload_view *view, cm_run *run, int64_t *gain, cm_error *error)
{
  cm_unload u = {.view = view, .run = run};
  CM_TRY(CM_NEW(run->memory, u.place, view->vertices, error));
  memset(u.place, 0xff, view->vertices * sizeof *u.place);
  u.heap.place = u.place;
  cm_status status = unload(&u, gain, error);
  cm_indexed_heap_free(&u.heap);
  cm_free(u.place);
  return status;
}
