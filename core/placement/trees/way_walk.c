/* Over the ways of an interconnect: every target books the routers of its way -> looks compare booked ways with wanted ones -> swaps book
 * anew. A part goes some random links from one that it talks to. What can fail: memory. */
#include "core/placement/trees/tree_walk.h"

#include <math.h>

#include "base/annealing.h"
#include "core/chip/turns.h"

/* ---- ways ---- */

static const cm_link *link_to(cm_way_trees *t, uint32_t from, uint32_t router)
{
  t->steps++;
  return &t->net->link[cm_interconnect_last(t->net, from, router)];
}

static uint64_t key_of(const cm_way_trees *t, uint32_t cast, uint32_t router)
{
  return (uint64_t)cast * t->net->routers + router;
}

static uint32_t next_mark(cm_way_trees *t)
{
  return t->mark = cm_next_mark(t->mark, t->stamp, t->net->routers);
}

static int64_t weight_of(const cm_way_trees *t, uint32_t cast)
{
  return (int64_t)(t->casts->weight[cast] >> t->weight_shift);
}

/* The cost of a cast if its sender stood at `from` and part v at `of_v`. */
static int64_t cost_from(cm_way_trees *t, uint32_t cast, uint32_t from, uint32_t v, uint32_t of_v)
{
  const cm_casts *c = t->casts;
  uint32_t mark = next_mark(t);
  int64_t units = 0;
  t->stamp[from] = mark;
  for (uint64_t i = c->first[cast]; i < c->first[cast + 1]; i++) {
    uint32_t at = c->target[i] == v ? of_v : t->router[c->target[i]];
    while (t->stamp[at] != mark) {
      const cm_link *link = link_to(t, from, at);
      t->stamp[at] = mark;
      units += link->units;
      at = link->from;
    }
  }
  return units * weight_of(t, cast);
}

/* What the tree costs more when one of its targets goes from router a to router b. */
static int64_t change_of(cm_way_trees *t, uint32_t cast, uint32_t a, uint32_t b)
{
  uint32_t from = t->router[t->inbound.sender[cast]], mark = next_mark(t);
  int64_t units = 0;
  bool missing = true;
  for (uint32_t at = b; at != from;) {
    const cm_link *link = link_to(t, from, at);
    missing = missing && cm_counts_of(&t->reached, key_of(t, cast, at)) == 0;
    units += missing ? link->units : 0;
    t->stamp[at] = mark;
    at = link->from;
  }
  for (uint32_t at = a; at != from && t->stamp[at] != mark && cm_counts_of(&t->reached, key_of(t, cast, at)) == 1;) {
    const cm_link *link = link_to(t, from, at);
    units -= link->units;
    at = link->from;
  }
  return units * weight_of(t, cast);
}

/* Books the way to one more target at a router, or to one less. */
static cm_status book(cm_way_trees *t, uint32_t cast, uint32_t at, int32_t by, cm_error *error)
{
  uint32_t from = t->router[t->inbound.sender[cast]];
  while (at != from) {
    CM_TRY(cm_counts_reserve(&t->reached, 1, t->run, error));
    (void)cm_counts_add(&t->reached, key_of(t, cast, at), by);
    at = link_to(t, from, at)->from;
  }
  return CM_OK;
}

static cm_status book_all(cm_way_trees *t, uint32_t cast, int32_t by, cm_error *error)
{
  const cm_casts *c = t->casts;
  for (uint64_t i = c->first[cast]; i < c->first[cast + 1]; i++)
    CM_TRY(book(t, cast, t->router[c->target[i]], by, error));
  return CM_OK;
}

/* ---- swaps ---- */

/* The change of part u's own casts when it goes to a router and v to where it was. */
static int64_t change_of_own(cm_way_trees *t, uint32_t u, uint32_t to, uint32_t v)
{
  int64_t sum = 0;
  for (uint32_t e = t->casts->of_part[u]; e < t->casts->of_part[u + 1]; e++)
    sum += cost_from(t, e, to, v, t->router[u]) - t->cost[e];
  return sum;
}

int64_t cm_way_trees_look(cm_way_trees *t, uint32_t u, uint32_t v, uint32_t to)
{
  uint32_t here = t->router[u];
  if (here == to)
    return 0;
  int64_t sum = change_of_own(t, u, to, v);
  if (v != CM_NO_PART)
    sum += change_of_own(t, v, here, u);
  cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v);
  while (cm_cast_walk_next(&w))
    sum += w.is_u ? change_of(t, w.cast, here, to) : change_of(t, w.cast, to, here);
  t->steps += (double)w.met;
  return sum;
}

static cm_status book_own(cm_way_trees *t, uint32_t u, int32_t by, cm_error *error)
{
  uint32_t e, end;
  for (cm_casts_of_part(t->casts, u, &e, &end); e < end; e++)
    CM_TRY(book_all(t, e, by, error));
  return CM_OK;
}

static void count_own(cm_way_trees *t, uint32_t u)
{
  uint32_t e, end;
  for (cm_casts_of_part(t->casts, u, &e, &end); e < end; e++)
    t->cost[e] = cost_from(t, e, t->router[u], CM_NO_PART, 0);
}

cm_status cm_way_trees_swap(cm_way_trees *t, uint32_t u, uint32_t v, uint32_t to, int64_t change, cm_error *error)
{
  uint32_t here = t->router[u];
  if (here == to)
    return CM_OK;
  cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v);
  while (cm_cast_walk_next(&w)) {
    uint32_t a = w.is_u ? here : to, b = w.is_u ? to : here;
    t->cost[w.cast] += change_of(t, w.cast, a, b);
    CM_TRY(book(t, w.cast, a, -1, error));
    CM_TRY(book(t, w.cast, b, 1, error));
  }
  t->steps += (double)w.met;
  CM_TRY(book_own(t, u, -1, error));
  CM_TRY(book_own(t, v, -1, error));
  t->router[u] = to;
  if (v != CM_NO_PART)
    t->router[v] = here;
  CM_TRY(book_own(t, u, 1, error));
  CM_TRY(book_own(t, v, 1, error));
  count_own(t, u);
  count_own(t, v);
  t->sum += change;
  return CM_OK;
}

/* ---- making ---- */

/* How far weights must be shifted right for all sums to stay within 62 bits. */
static unsigned weight_shift_of(const cm_way_trees *t)
{
  const cm_casts *c = t->casts;
  double most = 0, longest = 0;
  for (uint32_t i = 0; i < t->net->link_count; i++)
    longest += t->net->link[i].units;
  for (uint32_t e = 0; e < c->count; e++)
    most += (double)c->weight[e] * longest;
  unsigned shift = 0;
  while (ldexp(most, -(int)shift) > 0x1p61)
    shift++;
  return shift;
}

static cm_status fill(cm_way_trees *t, const uint32_t *core, cm_error *error)
{
  const cm_casts *c = t->casts;
  for (uint32_t p = 0; p < c->parts; p++)
    t->router[p] = cm_router_of(t->chip, core[p]);
  for (uint32_t p = 0; p < c->parts; p++) {
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      t->cost[e] = cost_from(t, e, t->router[p], CM_NO_PART, 0);
      t->sum += t->cost[e];
    }
    CM_TRY(book_own(t, p, 1, error));
    CM_TRY(cm_run_check(t->run, error));
  }
  return CM_OK;
}

cm_status cm_way_trees_new(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_way_trees **trees,
                           cm_error *error)
{
  cm_way_trees *t;
  cm_memory *memory = run->memory;
  CM_TRY(CM_NEW(memory, t, 1, error));
  *t = (cm_way_trees){.casts = casts, .chip = chip, .net = chip->interconnect, .run = run};
  t->weight_shift = weight_shift_of(t);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(t->router, casts->parts), CM_ARRAY(t->cost, casts->count),
                                CM_ARRAY(t->stamp, t->net->routers));
  CM_THEN(status, cm_inbound_casts_new(casts, memory, &t->inbound, error));
  CM_THEN(status, fill(t, core, error));
  CM_END(status, *trees = t, cm_way_trees_free(t));
}

void cm_way_trees_free(cm_way_trees *t)
{
  if (t == NULL)
    return;
  cm_inbound_casts_free(&t->inbound);
  cm_counts_free(&t->reached);
  CM_FREE(t->router, t->cost, t->stamp, t);
}

/* ---- proposals ---- */

enum { SAMPLES = 400, STEPS_MAX = 3 };

static uint32_t slots_of(const cm_tree_walk *w, uint32_t router)
{
  return router < w->chip->interconnect->columns * w->chip->interconnect->rows ? w->first_slot[router + 1] - w->first_slot[router] : 0;
}

/* A router with cores of the region some random living links from one: the last that was met. */
static uint32_t wander(cm_tree_walk *w, uint32_t router, unsigned steps)
{
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t found = router;
  for (unsigned i = 0; i < steps + STEPS_MAX && (i < steps || slots_of(w, router) == 0); i++) {
    uint32_t degree = net->first[router + 1] - net->first[router];
    if (degree == 0)
      break;
    const cm_link *link = &net->link[net->first[router] + (uint32_t)cm_random_below(&w->random, degree)];
    router = link->dead ? router : link->to;
    found = slots_of(w, router) > 0 ? router : found;
  }
  return found;
}

/* Draws a core behind another router for part u to look at: CM_NO_PART, none. */
static uint32_t propose(cm_tree_walk *w, uint32_t u)
{
  const cm_way_trees *t = w->ways;
  uint64_t bits = cm_random_next(&w->random);
  uint32_t near = bits & 3 ? cm_relative_part(t->casts, &t->inbound, &w->random, u) : u;
  uint32_t router = wander(w, t->router[near], bits & 12 ? (unsigned)(bits >> 4 & 1) : 1 + (unsigned)(bits >> 4 & 1));
  if (router == t->router[u])
    return CM_NO_PART;
  uint32_t there = w->slot[w->first_slot[router] + (uint32_t)cm_random_below(&w->random, slots_of(w, router))];
  return cm_tree_walk_alike(w, w->seat[u], there) ? there : CM_NO_PART;
}

static int64_t look(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  return cm_way_trees_look(w->ways, u, w->occupant[there], cm_router_of(w->chip, w->region->cores[there]));
}

static cm_status visit(cm_tree_walk *w, uint32_t u, double temperature, cm_error *error)
{
  uint32_t there = propose(w, u);
  if (there == CM_NO_PART)
    return CM_OK;
  int64_t change = look(w, u, there);
  if (!cm_metropolis(&w->random, (double)change, temperature, CM_HOPELESS))
    return CM_OK;
  CM_TRY(cm_way_trees_swap(w->ways, u, w->occupant[there], cm_router_of(w->chip, w->region->cores[there]), change, error));
  cm_tree_walk_seat(w, u, there);
  return CM_OK;
}

static double typical(cm_tree_walk *w)
{
  double sum = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    uint32_t u = (uint32_t)cm_random_below(&w->random, w->casts->parts), there = propose(w, u);
    if (there == CM_NO_PART)
      continue;
    sum += fabs((double)look(w, u, there));
    counted++;
  }
  return counted > 0 ? sum / counted : 0;
}

/* ---- as a kind of walk ---- */

static cm_status begin(cm_tree_walk *w, const uint32_t *core, cm_error *error)
{
  const cm_region *r = w->region;
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t grid = net->columns * net->rows;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->first_slot, (size_t)grid + 2), CM_ARRAY(w->slot, r->core_count)));
  for (uint32_t i = 0; i < r->core_count; i++)
    w->first_slot[cm_router_of(w->chip, r->cores[i]) + 2]++;
  for (uint32_t at = 0; at < grid; at++)
    w->first_slot[at + 2] += w->first_slot[at + 1];
  for (uint32_t i = 0; i < r->core_count; i++)
    w->slot[w->first_slot[cm_router_of(w->chip, r->cores[i]) + 1]++] = i;
  return cm_way_trees_new(w->casts, w->chip, core, w->run, &w->ways, error);
}

static double looked(const cm_tree_walk *w)
{
  return w->ways->steps;
}

static int64_t sum(const cm_tree_walk *w)
{
  return w->ways->sum;
}

static cm_status cost_of(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                         cm_error *error)
{
  cm_way_trees *trees;
  CM_TRY(cm_way_trees_new(casts, chip, core, run, &trees, error));
  *cost = (uint64_t)trees->sum << trees->weight_shift;
  cm_way_trees_free(trees);
  return CM_OK;
}

const cm_tree_walk_kind cm_way_walk = {.cost = cost_of, .begin = begin, .typical = typical, .tried = SAMPLES, .visit = visit, .looked = looked,
                                       .sum = sum, .hot = 0.3, .cold = 0.01, .casts_min = 20, .starts_max = 1, .groups = true};
