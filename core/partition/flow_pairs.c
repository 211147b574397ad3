#include "core/partition/flow_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/partition/balanced_cut.h"
#include "core/partition/contacts.h"

#define NONE UINT32_MAX

/* A pair is given up after so many looks at each arc of its network. */
enum { LOOKS = 200 };

/* Two parts with a border between them. */
typedef struct pair {
  int64_t weight; /* of ties from one to the other */
  uint32_t first, count; /* its contacts */
} pair;

typedef struct work {
  cm_flow_view *view;
  const cm_flow_options *options;
  cm_run *run;
  uint32_t round;
  uint32_t *changed;  /* [parts] the round in which it last did, from 1 on */
  uint32_t *counter;  /* [parts + 1] */
  cm_contact *contact, *spare; /* [contact_count] sorted by pair, as the round found them */
  uint32_t contact_count;
  uint64_t contact_capacity, spare_room;
  pair *pair;         /* [pair_count] */
  uint64_t pair_count, pair_capacity;
  uint32_t *seed;     /* [vertices] */
  uint32_t *order[2]; /* [vertices] */
  uint8_t *side;      /* [vertices] */
} work;

static void release(work *w)
{
  CM_FREE(w->changed, w->counter, w->contact, w->spare, w->pair, w->seed, w->order[0], w->order[1], w->side);
}

static cm_status allocate(work *w, cm_error *error)
{
  uint32_t n = w->view->vertices, parts = w->view->parts;
  cm_memory *memory = w->run->memory;
  if (CM_NEW(memory, w->changed, parts, error) != CM_OK || CM_NEW(memory, w->counter, (size_t)parts + 1, error) != CM_OK ||
      CM_NEW(memory, w->seed, n, error) != CM_OK || CM_NEW(memory, w->order[0], n, error) != CM_OK ||
      CM_NEW(memory, w->order[1], n, error) != CM_OK || CM_NEW(memory, w->side, n, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static bool is_active(const work *w, uint32_t p)
{
  return w->changed[p] >= w->round;
}

/* Of pairs of which one part has changed. */
static cm_status list_contacts_of(work *w, uint32_t v, cm_error *error)
{
  const cm_flow_view *s = w->view;
  uint32_t own = s->part[v], ties = s->ties(s->context, v);
  CM_TRY(CM_ROOM(w->run->memory, w->contact, &w->contact_capacity, (uint64_t)w->contact_count + ties, error));
  for (uint32_t i = 0; i < ties; i++) {
    uint32_t p;
    int64_t weight = s->tie_at(s->context, v, i, &p);
    if (weight > 0 && p != own && (is_active(w, own) || is_active(w, p)))
      w->contact[w->contact_count++] = (cm_contact){weight, own < p ? own : p, own < p ? p : own, v, i};
  }
  return CM_OK;
}

static cm_status list_contacts(work *w, cm_error *error)
{
  const cm_flow_view *s = w->view;
  uint32_t count = s->border != NULL ? *s->border_count : s->vertices;
  w->contact_count = 0;
  for (uint32_t i = 0; i < count; i++)
    CM_TRY(list_contacts_of(w, s->border != NULL ? s->border[i] : i, error));
  CM_TRY(CM_ROOM(w->run->memory, w->spare, &w->spare_room, w->contact_count, error));
  cm_contacts_sort(w->contact, w->spare, w->contact_count, w->counter, s->parts);
  return CM_OK;
}

/* Those that most ties lead over first; of equals in the order of their parts. */
CM_ORDER(heavier, pair, CM_FALLING(weight) CM_RISING(first))

static cm_status list_pairs(work *w, cm_error *error)
{
  w->pair_count = 0;
  CM_TRY(list_contacts(w, error));
  for (uint32_t i = 0; i < w->contact_count; i++) {
    const cm_contact *c = &w->contact[i];
    if (cm_contacts_begin_pair(w->contact, i)) {
      CM_TRY(CM_ROOM(w->run->memory, w->pair, &w->pair_capacity, w->pair_count + 1, error));
      w->pair[w->pair_count++] = (pair){.first = i};
    }
    w->pair[w->pair_count - 1].count++;
    w->pair[w->pair_count - 1].weight += w->view->part[c->vertex] == c->low ? c->weight : 0;
  }
  if (w->pair_count > 1)
    qsort(w->pair, w->pair_count, sizeof *w->pair, heavier);
  return CM_OK;
}

/* Whether the vertex of a contact still touches a part: most often its ties are as they were, and need not be searched. */
static bool touches(const cm_flow_view *s, const cm_contact *c, uint32_t part)
{
  uint32_t p;
  if (c->place < s->ties(s->context, c->vertex)) {
    int64_t weight = s->tie_at(s->context, c->vertex, c->place, &p);
    if (p == part)
      return weight > 0;
  }
  return s->tie(s->context, c->vertex, part) > 0;
}

/* The vertices of one part that still touch the other, in random order. */
static uint32_t list_seeds(work *w, const pair *p, uint32_t own, uint32_t other)
{
  const cm_flow_view *s = w->view;
  uint32_t count = 0;
  for (uint32_t i = p->first; i < p->first + p->count; i++) {
    uint32_t v = w->contact[i].vertex;
    if (s->part[v] != own || !touches(s, &w->contact[i], other))
      continue;
    uint32_t j = (uint32_t)cm_random_below(&w->view->random, ++count);
    w->seed[count - 1] = w->seed[j];
    w->seed[j] = v;
  }
  return count;
}

/* How much of a part the region may have: if all of it went over, the other would have `reach` times the room beyond the mean. */
static uint64_t region_size(const work *w, uint32_t a, uint32_t b)
{
  const cm_flow_view *s = w->view;
  double mean = (double)s->size_total / s->parts, room = (double)w->options->most[b] - mean;
  double size = mean + w->options->reach * (room > 0 ? room : 0) - (double)s->load[b];
  return size < 0 ? 0 : size < (double)s->load[a] ? (uint64_t)size : s->load[a] - 1;
}

/* Grows a side of the region, 0 before 1, from the vertices of its part on the border. */
static void grow(work *w, const pair *p, unsigned side, uint32_t own, uint32_t other)
{
  const cm_flow_view *s = w->view;
  cm_flow_region *r = s->region;
  uint32_t seeds = list_seeds(w, p, own, other);
  r->most = region_size(w, own, other);
  for (uint32_t i = 0; i < seeds; i++)
    cm_flow_region_take(r, side, w->seed[i], 0);
  for (uint32_t i = r->count[0] * side; i < cm_flow_region_vertices(r); i++)
    s->spread(s->context, side, r->vertex[i], r->depth[i] + 1, r->depth[i] < w->options->distance && r->load[side] < r->most);
}

/* Each side takes in its own vertices first, those farthest from the cut before others, then those of the other one. */
static void order_vertices(work *w)
{
  uint32_t a = w->view->region->count[0], all = cm_flow_region_vertices(w->view->region);
  for (uint32_t i = 0; i < a; i++)
    w->order[0][i] = a - 1 - i;
  for (uint32_t i = a; i < all; i++) {
    w->order[0][i] = i;
    w->order[1][i - a] = all - 1 - (i - a);
  }
  for (uint32_t i = 0; i < a; i++)
    w->order[1][all - a + i] = i;
}

static void apply(work *w, uint32_t a, uint32_t b, int64_t *gain)
{
  const cm_flow_view *s = w->view;
  const cm_flow_region *r = s->region;
  for (uint32_t i = 0; i < cm_flow_region_vertices(r); i++) {
    uint32_t v = r->vertex[i], to = w->side[i] == 0 ? a : b;
    if (s->part[v] == to)
      continue;
    *gain += s->move(s->context, v, to);
  }
}

/* Cuts two parts anew. */
static cm_status cut_pair(work *w, const pair *p, int64_t *gain, cm_error *error)
{
  uint32_t a = w->contact[p->first].low, b = w->contact[p->first].high;
  const cm_flow_view *s = w->view;
  cm_flow_region *r = s->region;
  cm_flow_region_begin(r, a, b);
  if (s->begin != NULL)
    s->begin(s->context);
  grow(w, p, 0, a, b);
  grow(w, p, 1, b, a);
  uint32_t count = cm_flow_region_vertices(r);
  if (count == 0)
    return CM_OK;
  CM_TRY(s->network(s->context, error));
  if (r->cut == 0)
    return CM_OK;
  uint32_t *size = w->seed; /* no longer needed */
  for (uint32_t i = 0; i < count; i++)
    size[i] = r->size[r->vertex[i]];
  order_vertices(w);
  cm_balanced_cut cut = {
      .vertices = count, .size = size, .order = {w->order[0], w->order[1]},
      .fixed = {s->load[a] - r->load[0], s->load[b] - r->load[1]}, .most = {w->options->most[a], w->options->most[b]},
      .cut = r->cut, .larger = s->load[a] > s->load[b] ? s->load[a] : s->load[b],
      .looks = LOOKS * 2 * (uint64_t)r->flow.pairs, .side = w->side};
  CM_TRY(cm_balanced_cut_find(&r->flow, &cut, w->run, error));
  if (cut.found)
    apply(w, a, b, gain);
  return CM_OK;
}

/* Whether a round is worth going on with. */
static bool pays(const work *w, uint64_t looks, int64_t gained)
{
  const cm_flow_options *o = w->options;
  return o->worth == 0 || looks <= o->entries ||
         (double)gained * (double)o->entries >= o->worth * (double)o->cost * (double)looks;
}

static cm_status one_round(work *w, int64_t *gain, cm_error *error)
{
  uint64_t looks = 0;
  CM_TRY(list_pairs(w, error));
  for (uint64_t i = 0; i < w->pair_count && pays(w, looks, *gain); i++) {
    const pair *p = &w->pair[i];
    cm_contact c = w->contact[p->first];
    int64_t gained = 0;
    CM_TRY(cut_pair(w, p, &gained, error));
    CM_TRY(cm_run_check(w->run, error));
    *gain += gained;
    cm_run_add(w->run, w->options->share * pow(0.5, w->round + 1) / (double)w->pair_count);
    looks += w->view->region->looks + w->view->region->flow.looks;
    if (gained > 0)
      w->changed[c.low] = w->changed[c.high] = w->round + 1;
  }
  return CM_OK;
}

cm_status cm_flow_refine(cm_flow_view *view, const cm_flow_options *options, cm_run *run, int64_t *gain, cm_error *error)
{
  work w = {.view = view, .options = options, .run = run};
  cm_status status = allocate(&w, error);
  for (; w.round < options->rounds && status == CM_OK; w.round++) {
    int64_t gained = 0;
    status = one_round(&w, &gained, error);
    *gain += gained;
    if (gained <= 0)
      break;
  }
  release(&w);
  return status;
}
