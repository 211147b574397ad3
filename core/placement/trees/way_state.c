/* Happy path: every target books the routers of its way -> looks compare booked ways with wanted ones -> swaps book anew. What can
 * fail: memory. */
#include "core/placement/trees/way_state.h"

#include <math.h>
#include <string.h>

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
  if (++t->mark == 0) {
    memset(t->stamp, 0, t->net->routers * sizeof *t->stamp);
    t->mark = 1;
  }
  return t->mark;
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

/* The next cast, of neither of both, that reaches one of them, of which *is_u tells. */
static bool next(cm_way_trees *t, cm_cast_walk *w, uint32_t u, uint32_t v, uint32_t *cast, bool *is_u)
{
  uint64_t met = w->met;
  bool there;
  do
    there = cm_cast_walk_next(&t->inbound, w, cast, is_u);
  while (there && (t->inbound.sender[*cast] == u || t->inbound.sender[*cast] == v));
  t->steps += (double)(w->met - met);
  return there;
}

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
  uint32_t here = t->router[u], e;
  bool is_u;
  if (here == to)
    return 0;
  int64_t sum = change_of_own(t, u, to, v);
  if (v != CM_NO_PART)
    sum += change_of_own(t, v, here, u);
  for (cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v); next(t, &w, u, v, &e, &is_u);)
    sum += is_u ? change_of(t, e, here, to) : change_of(t, e, to, here);
  return sum;
}

static cm_status book_own(cm_way_trees *t, uint32_t u, int32_t by, cm_error *error)
{
  for (uint32_t e = u != CM_NO_PART ? t->casts->of_part[u] : 0; u != CM_NO_PART && e < t->casts->of_part[u + 1]; e++)
    CM_TRY(book_all(t, e, by, error));
  return CM_OK;
}

static void count_own(cm_way_trees *t, uint32_t u)
{
  for (uint32_t e = u != CM_NO_PART ? t->casts->of_part[u] : 0; u != CM_NO_PART && e < t->casts->of_part[u + 1]; e++)
    t->cost[e] = cost_from(t, e, t->router[u], CM_NO_PART, 0);
}

cm_status cm_way_trees_swap(cm_way_trees *t, uint32_t u, uint32_t v, uint32_t to, int64_t change, cm_error *error)
{
  uint32_t here = t->router[u], e;
  bool is_u;
  if (here == to)
    return CM_OK;
  for (cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v); next(t, &w, u, v, &e, &is_u);) {
    uint32_t a = is_u ? here : to, b = is_u ? to : here;
    t->cost[e] += change_of(t, e, a, b);
    CM_TRY(book(t, e, a, -1, error));
    CM_TRY(book(t, e, b, 1, error));
  }
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
  if (CM_NEW(memory, t->router, casts->parts, error) != CM_OK || cm_inbound_casts_new(casts, memory, &t->inbound, error) != CM_OK ||
      CM_NEW(memory, t->cost, casts->count, error) != CM_OK || CM_NEW(memory, t->stamp, t->net->routers, error) != CM_OK ||
      fill(t, core, error) != CM_OK) {
    cm_way_trees_free(t);
    return error->status;
  }
  *trees = t;
  return CM_OK;
}

void cm_way_trees_free(cm_way_trees *t)
{
  if (t == NULL)
    return;
  cm_free(t->router);
  cm_inbound_casts_free(&t->inbound);
  CM_FREE(t->cost, t->stamp);
  cm_counts_free(&t->reached);
  cm_free(t);
}
