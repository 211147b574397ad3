/* What micro-operators read of each other. */
#include <stdlib.h>
#include <string.h>

#include "core/base/threads.h"
#include "core/operators/tiling/tile_internal.h"

/* The arcs into the micro-operators of one node. */
typedef struct arcs {
  cm_tile_arc *arc;
  uint64_t count, room;
} arcs;

typedef struct connecting {
  cm_tile_work *work;
  arcs *found; /* by place in model->order */
} connecting;

/* Counting, for one micro-operator, the bytes that it reads of each other one. */
typedef struct counting {
  const cm_owners *owners;
  uint64_t width;    /* bytes of an element */
  uint32_t lowest;   /* of all that this node reads from */
  uint64_t *bytes;   /* by micro-operator - lowest */
  uint32_t *touched; /* those with bytes */
  uint32_t touched_count;
} counting;

/* Adds the owners of the elements [from, from + length). */
static void count_row(void *user, uint64_t from, uint64_t length)
{
  counting *c = user;
  size_t low = 0, high = c->owners->count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (c->owners->end[middle - 1] <= from)
      low = middle;
    else
      high = middle;
  }
  for (uint64_t at = from; at < from + length; low++) {
    uint64_t end = c->owners->end[low] < from + length ? c->owners->end[low] : from + length;
    uint32_t owner = c->owners->owner[low];
    if (owner != CM_NONE) {
      if (c->bytes[owner - c->lowest] == 0)
        c->touched[c->touched_count++] = owner;
      c->bytes[owner - c->lowest] += (end - at) * c->width;
    }
    at = end;
  }
}

static cm_status push(arcs *a, cm_tile_arc arc, cm_memory *memory, cm_error *error)
{
  if (CM_ROOM(memory, a->arc, &a->room, a->count + 1, error) != CM_OK)
    return error->status;
  a->arc[a->count++] = arc;
  return CM_OK;
}

static cm_status count_micro(connecting *c, const cm_call *call, uint32_t micro, cm_box *inputs, counting *counts,
                             arcs *found, cm_error *error)
{
  cm_tile_work *work = c->work;
  cm_split_change change;
  if (cm_split_piece(call, &work->tiling->micro[micro].output, inputs, &change, error) != CM_OK)
    return error->status;
  counts->touched_count = 0;
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!cm_has(call, i) || work->owners[call->node->inputs[i]].count == 0)
      continue;
    counts->owners = &work->owners[call->node->inputs[i]];
    counts->width = cm_type_bytes(call->input[i].type);
    cm_tile_rows(&call->input[i], &inputs[i], count_row, counts);
  }
  for (uint32_t k = 0; k < counts->touched_count; k++) {
    uint32_t from = counts->touched[k];
    uint64_t *bytes = &counts->bytes[from - counts->lowest];
    if (push(found, (cm_tile_arc){from, micro, *bytes}, work->run->memory, error) != CM_OK)
      return error->status;
    *bytes = 0;
  }
  return CM_OK;
}

/* The range of micro-operators that a node reads from; false when there are none. */
static bool range(const cm_tile_work *work, const cm_node *node, uint32_t *lowest, uint32_t *highest)
{
  *lowest = UINT32_MAX;
  *highest = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const cm_owners *o = node->inputs[i] == CM_NONE ? NULL : &work->owners[node->inputs[i]];
    for (size_t run = 0; o != NULL && run < o->count; run++)
      if (o->owner[run] != CM_NONE) {
        *lowest = o->owner[run] < *lowest ? o->owner[run] : *lowest;
        *highest = o->owner[run] > *highest ? o->owner[run] : *highest;
      }
  }
  return *lowest <= *highest;
}

static cm_status connect_node(void *context, size_t place, cm_error *error)
{
  connecting *c = context;
  cm_tile_work *work = c->work;
  const cm_node *node = &work->model->nodes[work->model->order[place]];
  uint32_t first = work->first_micro[place], last = work->first_micro[place + 1], highest;
  counting counts = {0};
  cm_arena arena;
  cm_call call;
  cm_box *inputs;
  if (first == last || !range(work, node, &counts.lowest, &highest))
    return cm_run_check(work->run, error);
  size_t width = (size_t)highest - counts.lowest + 1;
  cm_arena_init(&arena, work->run->memory);
  cm_status status = cm_tile_call(work->model, node, &arena, &call, error);
  if (status == CM_OK && (status = CM_ARENA_NEW(&arena, inputs, node->input_count + 1, error)) == CM_OK &&
      (status = CM_NEW(work->run->memory, counts.bytes, width, error)) == CM_OK &&
      (status = CM_NEW(work->run->memory, counts.touched, width, error)) == CM_OK)
    for (uint32_t m = first; m < last && status == CM_OK; m++) {
      status = count_micro(c, &call, m, inputs, &counts, &c->found[place], error);
      if (status == CM_OK)
        status = cm_run_check(work->run, error);
    }
  cm_free(counts.bytes);
  cm_free(counts.touched);
  cm_arena_free(&arena);
  return status;
}

static int by_ends(const void *a, const void *b)
{
  const cm_tile_arc *p = a, *q = b;
  if (p->from != q->from)
    return p->from < q->from ? -1 : 1;
  return p->to < q->to ? -1 : p->to > q->to;
}

static cm_status gather(connecting *c, size_t places, cm_error *error)
{
  cm_tiling *t = c->work->tiling;
  for (size_t k = 0; k < places; k++)
    t->arc_count += c->found[k].count;
  if (CM_NEW(c->work->run->memory, t->arc, t->arc_count, error) != CM_OK)
    return error->status;
  uint64_t at = 0;
  for (size_t k = 0; k < places; k++) {
    if (c->found[k].count > 0)
      memcpy(t->arc + at, c->found[k].arc, c->found[k].count * sizeof *t->arc);
    at += c->found[k].count;
  }
  qsort(t->arc, t->arc_count, sizeof *t->arc, by_ends);
  return CM_OK;
}

cm_status cm_tile_connect(cm_tile_work *work, cm_error *error)
{
  size_t places = work->model->order_count;
  connecting c = {.work = work};
  cm_status status = CM_NEW(work->run->memory, c.found, places, error);
  if (status == CM_OK && (status = cm_parallel(work->run, places, connect_node, &c, error)) == CM_OK)
    status = gather(&c, places, error);
  for (size_t k = 0; c.found != NULL && k < places; k++)
    cm_free(c.found[k].arc);
  cm_free(c.found);
  return status;
}
