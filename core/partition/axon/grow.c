#include "core/partition/axon/grow.h"

#include <float.h>
#include <string.h>

#include "core/partition/indexed_heap.h"

#define NONE UINT32_MAX

/* A vertex that is in no part yet, and what part of its inbound nets the growing part has. */
typedef struct candidate {
  uint32_t shared, met; /* inbound axons that the growing part has, and that any part has */
  float unit;           /* the share that one of them is, about; 0 once it is taken */
  bool near, taken;     /* near: among those looked at for the next place; taken: in a part */
} candidate;

/* What a part holds. */
typedef struct holding {
  uint64_t size, axons, synapses;
  bool whole; /* all that is connected with it is in it: others may join it */
} holding;

typedef struct growth {
  const cm_hypergraph *graph;
  const cm_grow_options *options;
  cm_run *run;
  const uint32_t *size; /* [vertices] */
  uint32_t *part;
  uint32_t *net_part;   /* [nets] last part that took the net, NONE: none yet */
  candidate *candidate; /* [vertices] */
  cm_indexed_heap open; /* vertices with inbound nets that are in no part, by the share of them that is met */
  uint32_t *place;      /* [vertices] in it */
  uint32_t *touched;    /* [vertices] those that shared > 0 of the growing part when they were in no part */
  uint32_t touched_count, waiting; /* waiting: of them, those that are in no part yet */
  uint32_t *near;       /* [vertices] those of them whose share is `bar` at least, and some less */
  uint32_t near_count, near_max; /* near_max: the bar is raised when they are more */
  float bar;
  holding *holds;       /* of each part */
  uint64_t holds_capacity;
  uint32_t number;      /* of the growing part */
} growth;

/* While more than so many vertices are near, the bar rises, and it falls to so much of the largest share below it. */
enum { NEAR_MAX = 128 };
static const float bar_falls = 0.6F, bar_rounding = 1e-5F;

/* Parts that another one may join. */
enum { JOIN_MAX = 64 };

static float share(uint32_t axons, const growth *w, uint32_t v)
{
  return (float)axons / (float)((uint64_t)w->graph->in_count[v] + 1);
}

/* The larger share first, then the lower number. */
static int64_t open_key(const growth *w, uint32_t v)
{
  float s = share(w->candidate[v].met, w, v);
  uint32_t bits; /* of a number that is not negative: in the same order */
  memcpy(&bits, &s, sizeof bits);
  return (int64_t)bits << 32 | (UINT32_MAX - v);
}

static void come_near(growth *w, uint32_t v)
{
  w->candidate[v].near = true;
  w->near[w->near_count++] = v;
}

/* Puts v into the part: its nets are there now, which brings their other targets nearer. */
static void take(growth *w, uint32_t v)
{
  uint32_t number = w->number;
  const cm_hypergraph *g = w->graph;
  candidate *all = w->candidate;
  float bar = w->bar;
  w->part[v] = number;
  w->waiting -= w->candidate[v].shared > 0;
  w->candidate[v] = (candidate){.shared = 1, .taken = true};
  if (w->place[v] != CM_INDEXED_HEAP_ABSENT)
    cm_indexed_heap_remove(&w->open, v);
  w->holds[number].size += w->size[v];
  w->holds[number].synapses += g->synapses[v];
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets);
    if (w->net_part[e] == number)
      continue;
    uint32_t fresh = w->net_part[e] == NONE;
    w->net_part[e] = number;
    w->holds[number].axons++;
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t u = cm_targets_next(&t);
      candidate *c = &all[u]; /* half of them are taken, which no branch foresees: they count on, and for nothing */
      c->met += fresh;
      if (c->shared == 0 && !c->taken) {
        w->touched[w->touched_count++] = u;
        w->waiting++;
      }
      c->shared++;
      if (!c->near && (float)c->shared * c->unit >= bar)
        come_near(w, u);
    }
  }
}

static bool fits(const growth *w, uint32_t v)
{
  const cm_hypergraph *g = w->graph;
  const holding *u = &w->holds[w->number];
  return cm_core_holds(&w->options->limits, u->size + w->size[v], u->synapses + g->synapses[v],
                       u->axons + g->in_count[v] - w->candidate[v].shared);
}

/* Of those near the one with the largest share that fits, of equals the lowest number; NONE: none fits. */
static uint32_t best_near(growth *w, float *most)
{
  uint32_t best = NONE, kept = 0;
  *most = -1;
  for (uint32_t i = 0; i < w->near_count; i++) {
    uint32_t u = w->near[i];
    if (w->candidate[u].taken)
      continue;
    w->near[kept++] = u;
    float s = share(w->candidate[u].shared, w, u);
    if ((s > *most || (s == *most && u < best)) && fits(w, u)) {
      *most = s;
      best = u;
    }
  }
  w->near_count = kept;
  return best;
}

/* Halfway to the best of those near; who is below is no longer near. */
static void raise_bar(growth *w, float most)
{
  uint32_t kept = 0;
  w->bar = (w->bar + most) / 2 * (1 - bar_rounding);
  for (uint32_t i = 0; i < w->near_count; i++) {
    candidate *c = &w->candidate[w->near[i]];
    c->near = (float)c->shared * c->unit >= w->bar;
    w->near[kept] = w->near[i];
    kept += c->near;
  }
  w->near_count = kept;
  w->near_max = 2 * kept > NEAR_MAX ? 2 * kept : NEAR_MAX;
}

/* Those below the bar with the largest shares come near; false when there are none. */
static bool lower_bar(growth *w)
{
  float most = 0;
  for (uint32_t i = 0; i < w->touched_count; i++) {
    const candidate *c = &w->candidate[w->touched[i]];
    float s = (float)c->shared * c->unit;
    most = !c->taken && !c->near && s > most ? s : most;
  }
  if (most <= 0)
    return false;
  w->bar = most * bar_falls;
  for (uint32_t i = 0; i < w->touched_count; i++) {
    const candidate *c = &w->candidate[w->touched[i]];
    if (!c->taken && !c->near && (float)c->shared * c->unit >= w->bar)
      come_near(w, w->touched[i]);
  }
  w->near_max = 2 * w->near_count > NEAR_MAX ? 2 * w->near_count : NEAR_MAX;
  return true;
}

/* The waiting vertex with the largest share that fits; NONE when there is none. */
static uint32_t next_vertex(growth *w)
{
  do {
    float most;
    uint32_t best = best_near(w, &most);
    if (best != NONE && w->near_count > w->near_max)
      raise_bar(w, most);
    if (best != NONE)
      return best;
  } while (lower_bar(w));
  return NONE;
}

static bool lonely(const cm_hypergraph *g, uint32_t v)
{
  return g->in_count[v] == 0;
}

/* Where growing goes on: the open vertex of which most is met already, so that no pockets stay behind. Vertices without
 * inbound nets wait for the end. */
static uint32_t next_seed(growth *w)
{
  for (uint32_t i = 0; i < w->touched_count; i++)
    if (!w->candidate[w->touched[i]].taken)
      cm_indexed_heap_change(&w->open, w->touched[i], open_key(w, w->touched[i]));
  return w->open.count > 0 ? w->open.item[0].vertex : NONE;
}

static cm_status start_part(growth *w, uint32_t number, cm_error *error)
{
  for (uint32_t i = 0; i < w->touched_count; i++) {
    candidate *c = &w->candidate[w->touched[i]];
    c->shared = c->taken;
    c->near = false;
  }
  w->touched_count = w->waiting = w->near_count = 0;
  w->near_max = NEAR_MAX;
  w->bar = FLT_MIN;
  CM_TRY(CM_ROOM(w->run->memory, w->holds, &w->holds_capacity, number + 1, error));
  w->holds[number] = (holding){0};
  w->number = number;
  return CM_OK;
}

/* Vertices without inbound nets cost no axons: they fill up the last part, or where parts are whole all that have room, and further
 * ones. Refinement brings them to their targets. */
static cm_status place_lonely(growth *w, uint32_t *parts, cm_error *error)
{
  cm_status status = CM_OK;
  w->number = w->options->apart || *parts == 0 ? 0 : *parts - 1;
  for (uint32_t v = 0; v < w->graph->vertex_count && status == CM_OK; v++) {
    if (w->part[v] != NONE)
      continue;
    while (w->number < *parts && !fits(w, v))
      w->number++;
    if (w->number == *parts)
      status = start_part(w, (*parts)++, error);
    if (status == CM_OK)
      take(w, v);
  }
  return status;
}

/* Whole parts join earlier ones that have room, of the last few. */
static cm_status join_whole(growth *w, uint32_t *parts, cm_error *error)
{
  uint32_t open[JOIN_MAX], opened = 0, kept = 0, *to;
  CM_TRY(CM_NEW(w->run->memory, to, *parts, error));
  for (uint32_t p = 0; p < *parts; p++) {
    holding u = w->holds[p];
    uint32_t i = 0;
    for (; u.whole && i < opened; i++) {
      const holding *o = &w->holds[open[i]];
      if (cm_core_holds(&w->options->limits, o->size + u.size, o->synapses + u.synapses, o->axons + u.axons))
        break;
    }
    if (u.whole && i < opened) {
      holding *o = &w->holds[to[p] = open[i]];
      *o = (holding){o->size + u.size, o->axons + u.axons, o->synapses + u.synapses, true};
      continue;
    }
    w->holds[to[p] = kept++] = u;
    if (!u.whole)
      continue;
    if (opened == JOIN_MAX)
      memmove(open, open + 1, --opened * sizeof *open);
    open[opened++] = to[p];
  }
  for (uint32_t v = 0; v < w->graph->vertex_count; v++)
    if (w->part[v] != NONE)
      w->part[v] = to[w->part[v]];
  *parts = kept;
  cm_free(to);
  return CM_OK;
}

/* Grows a part from `next`, and says where the next one begins. */
static uint32_t grow_one(growth *w, uint32_t next)
{
  do {
    take(w, next);
    next = next_vertex(w);
    if (next != NONE || w->waiting > 0)
      continue;
    next = next_seed(w); /* all that is connected is in: another piece may fit beside it */
    w->holds[w->number].whole = w->options->apart;
    if (w->options->apart || next == NONE || !fits(w, next))
      return next;
  } while (next != NONE);
  return next_seed(w);
}

static cm_status grow_all(growth *w, cm_random *random, uint32_t from, uint32_t *parts, cm_error *error)
{
  uint32_t n = w->graph->vertex_count, number = 0;
  uint32_t next = from != CM_GROW_ANYWHERE ? from : n > 0 ? (uint32_t)cm_random_below(random, n) : NONE;
  if (next != NONE && lonely(w->graph, next))
    next = next_seed(w);
  for (; next != NONE; number++) {
    CM_TRY(start_part(w, number, error));
    next = grow_one(w, next);
    CM_TRY(cm_run_check(w->run, error));
  }
  if (w->options->apart && number > 0 && join_whole(w, &number, error) != CM_OK)
    return error->status;
  *parts = number;
  return place_lonely(w, parts, error);
}

static cm_status prepare(growth *w, cm_error *error)
{
  const cm_hypergraph *g = w->graph;
  cm_memory *memory = w->run->memory;
  uint32_t n = g->vertex_count;
  if (CM_NEW(memory, w->net_part, g->net_count, error) != CM_OK ||
      CM_NEW(memory, w->candidate, n, error) != CM_OK || CM_NEW(memory, w->touched, n, error) != CM_OK ||
      CM_NEW(memory, w->near, n, error) != CM_OK || CM_NEW(memory, w->place, n, error) != CM_OK)
    return error->status;
  memset(w->net_part, 0xff, (size_t)g->net_count * sizeof *w->net_part);
  memset(w->place, 0xff, (size_t)n * sizeof *w->place);
  w->open.place = w->place;
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    w->part[v] = NONE;
    w->candidate[v].unit = share(1, w, v);
    if (!lonely(g, v))
      status = cm_indexed_heap_push(&w->open, v, open_key(w, v), memory, error);
  }
  return status;
}

cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_grow_options *options, cm_random *random, cm_run *run,
                        cm_growth *made, cm_error *error)
{
  growth w = {.graph = graph,
              .options = options,
              .run = run,
              .part = made->part,
              .size = options->size != NULL ? options->size : graph->size};
  cm_status status = prepare(&w, error);
  CM_THEN(status, grow_all(&w, random, made->from, &made->parts, error));
  CM_FREE(w.net_part, w.candidate, w.touched, w.near, w.holds, w.place);
  cm_indexed_heap_free(&w.open);
  return status;
}
