/* Happy path: every target books the routers of its way -> looks compare booked ways with wanted ones -> swaps book anew. What can
 * fail: memory. */
#include "core/placement/trees/way_state.h"

#include <math.h>
#include <string.h>

#include "core/chip/turns.h"
#include "core/placement/trees/tree_state.h"

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
  uint32_t from = t->router[t->sender[cast]], mark = next_mark(t);
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
  uint32_t from = t->router[t->sender[cast]];
  while (at != from) {
    if (cm_counts_reserve(&t->reached, 1, t->run, error) != CM_OK)
      return error->status;
    (void)cm_counts_add(&t->reached, key_of(t, cast, at), by);
    at = link_to(t, from, at)->from;
  }
  return CM_OK;
}

static cm_status book_all(cm_way_trees *t, uint32_t cast, int32_t by, cm_error *error)
{
  const cm_casts *c = t->casts;
  for (uint64_t i = c->first[cast]; i < c->first[cast + 1]; i++)
    if (book(t, cast, t->router[c->target[i]], by, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* ---- swaps ---- */

/* Where a walk through the casts that reach u and those that reach v has come to. */
typedef struct walk {
  uint64_t u, u_end, v, v_end;
} walk;

static walk walk_of(const cm_way_trees *t, uint32_t u, uint32_t v)
{
  walk w = {.u = t->in_first[u], .u_end = t->in_first[u + 1]};
  if (v != CM_NO_PART) {
    w.v = t->in_first[v];
    w.v_end = t->in_first[v + 1];
  }
  return w;
}

/* The next cast, of neither of both, that reaches one of them, of which *is_u tells; those that reach both stay as they are. */
static bool next(cm_way_trees *t, walk *w, uint32_t u, uint32_t v, uint32_t *cast, bool *is_u)
{
  while (w->u < w->u_end || w->v < w->v_end) {
    t->steps++;
    if (w->u < w->u_end && w->v < w->v_end && t->in_cast[w->u] == t->in_cast[w->v]) {
      w->u++;
      w->v++;
      continue;
    }
    *is_u = w->v == w->v_end || (w->u < w->u_end && t->in_cast[w->u] < t->in_cast[w->v]);
    *cast = t->in_cast[*is_u ? w->u++ : w->v++];
    if (t->sender[*cast] != u && t->sender[*cast] != v)
      return true;
  }
  return false;
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
  for (walk w = walk_of(t, u, v); next(t, &w, u, v, &e, &is_u);)
    sum += is_u ? change_of(t, e, here, to) : change_of(t, e, to, here);
  return sum;
}

static cm_status book_own(cm_way_trees *t, uint32_t u, int32_t by, cm_error *error)
{
  for (uint32_t e = u != CM_NO_PART ? t->casts->of_part[u] : 0; u != CM_NO_PART && e < t->casts->of_part[u + 1]; e++)
    if (book_all(t, e, by, error) != CM_OK)
      return error->status;
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
  for (walk w = walk_of(t, u, v); next(t, &w, u, v, &e, &is_u);) {
    uint32_t a = is_u ? here : to, b = is_u ? to : here;
    t->cost[e] += change_of(t, e, a, b);
    if (book(t, e, a, -1, error) != CM_OK || book(t, e, b, 1, error) != CM_OK)
      return error->status;
  }
  if (book_own(t, u, -1, error) != CM_OK || book_own(t, v, -1, error) != CM_OK)
    return error->status;
  t->router[u] = to;
  if (v != CM_NO_PART)
    t->router[v] = here;
  if (book_own(t, u, 1, error) != CM_OK || book_own(t, v, 1, error) != CM_OK)
    return error->status;
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

/* The casts that reach each part, ascending. */
static void gather_inbound(cm_way_trees *t)
{
  const cm_casts *c = t->casts;
  for (uint64_t i = 0; i < c->first[c->count]; i++)
    t->in_first[c->target[i] + 1]++;
  for (uint32_t p = 0; p < c->parts; p++)
    t->in_first[p + 1] += t->in_first[p];
  for (uint32_t e = c->count; e-- > 0;)
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      t->in_cast[--t->in_first[c->target[i] + 1]] = e;
  /* Filled from the back, each entry p + 1 has come down to where part p begins. */
  memmove(t->in_first, t->in_first + 1, c->parts * sizeof *t->in_first);
  t->in_first[c->parts] = c->first[c->count];
}

static cm_status fill(cm_way_trees *t, const uint32_t *core, cm_error *error)
{
  const cm_casts *c = t->casts;
  for (uint32_t p = 0; p < c->parts; p++)
    t->router[p] = cm_router_of(t->chip, core[p]);
  gather_inbound(t);
  for (uint32_t p = 0; p < c->parts; p++) {
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      t->sender[e] = p;
      t->cost[e] = cost_from(t, e, t->router[p], CM_NO_PART, 0);
      t->sum += t->cost[e];
    }
    if (book_own(t, p, 1, error) != CM_OK || cm_run_check(t->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_way_trees_new(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_way_trees **trees,
                           cm_error *error)
{
  cm_way_trees *t;
  cm_memory *memory = run->memory;
  if (CM_NEW(memory, t, 1, error) != CM_OK)
    return error->status;
  *t = (cm_way_trees){.casts = casts, .chip = chip, .net = chip->interconnect, .run = run};
  t->weight_shift = weight_shift_of(t);
  if (CM_NEW(memory, t->router, casts->parts, error) != CM_OK || CM_NEW(memory, t->sender, casts->count, error) != CM_OK ||
      CM_NEW(memory, t->in_first, (size_t)casts->parts + 1, error) != CM_OK ||
      CM_NEW(memory, t->in_cast, casts->first[casts->count], error) != CM_OK ||
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
  cm_free(t->sender);
  cm_free(t->in_first);
  cm_free(t->in_cast);
  cm_free(t->cost);
  cm_free(t->stamp);
  cm_counts_free(&t->reached);
  cm_free(t);
}
