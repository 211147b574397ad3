/* Happy path, part by part: the trees of its flows say how each passes the routers that are over the limit -> for every aligned block
 * of its keys that leaves such a router in several ways, the entries that one way would save and the packets that it would cost ->
 * router by router the cheapest blocks are taken -> once more over the parts that have some, whose flows get the targets. What can
 * fail: memory, a stop. */
#include "core/routing/widen.h"

#include <math.h>

#include "base/order.h"
#include "base/random.h"

#define NONE UINT32_MAX
enum { ROUNDS_MEASURED = 12 /* from then on all that a router can save */ };

/* A flow's way to a target over a router that is over the limit. */
typedef struct crossing {
  uint32_t router, rank, target;
  uint32_t out;  /* the router that follows; the target's core: its own */
  bool straight; /* packets that leave only so need no entry */
} crossing;

/* All of them of one flow at one router. */
typedef struct visit {
  const crossing *first;
  uint32_t count, rank;
  uint64_t word, weight; /* digest of the ways out */
  bool straight, whole;  /* of a neuron with several flows: to be left as it is */
} visit;

/* An aligned block of keys that could leave a router in one way. */
typedef struct block {
  uint32_t router, part, base;
  uint32_t parent;       /* the block around it; NONE */
  uint32_t saving, done; /* entries; those that blocks inside have saved */
  double cost;           /* packets to cores that drop them */
  unsigned span;         /* it has 2^span keys */
  bool taken;
} block;

typedef struct widener {
  cm_routes *r;
  cm_walker *walker;
  cm_run *run;
  uint32_t *above, *over; /* [router_count] of the tree under way, the router before; entries above the limit */
  uint8_t *flows_of;      /* [vertices] flows of a neuron; 2: or more */
  crossing *crossing;
  visit *visit;
  block *block;
  uint64_t crossings, crossing_room, visits, visit_room, blocks, block_room;
  uint64_t *set; /* [rank_bits + 1][words] parts that a block's flows reach beyond the router */
  size_t words;
  uint32_t *order;                  /* blocks, the cheapest of a router first */
  uint64_t *pair, pairs, pair_room; /* rank and target of a part's flows */
} widener;

/* ---- how flows pass routers ---- */

static cm_status trace_ways(widener *w, uint32_t flow, cm_error *error)
{
  cm_way_tree ways;
  CM_TRY(cm_walk_ways(w->walker, flow, &ways, error));
  for (uint32_t i = 1; i < ways.count; i++)
    w->above[ways.node[i].router] = ways.node[ways.node[i].parent].router;
  return CM_OK;
}

static cm_status trace_turns(widener *w, uint32_t flow, cm_error *error)
{
  cm_routes *r = w->r;
  cm_tree turns;
  CM_TRY(cm_walk_flow(w->walker, flow, r->shapes[flow], &turns, error));
  for (size_t i = 0; i < turns.count; i++)
    if (turns.node[i].in != CM_NO_DIRECTION)
      w->above[turns.node[i].router - r->first_router] =
        cm_router_beyond(r->chip, turns.node[i].router, cm_direction_back((cm_direction)turns.node[i].in));
  return CM_OK;
}

static bool goes_on(CM_UNUSED const cm_chip *chip, uint32_t before, uint32_t at, uint32_t next)
{
  return at - before == next - at;
}

static bool goes_on_by_link(const cm_chip *chip, uint32_t before, uint32_t at, uint32_t next)
{
  const cm_interconnect *net = chip->interconnect;
  return cm_interconnect_straight(net, (uint32_t)cm_interconnect_link(net, before, at)) == cm_interconnect_link(net, at, next);
}

/* How flows are traced, and whether they go straight on, by geometry. */
static const struct {
  cm_status (*trace)(widener *w, uint32_t flow, cm_error *error);
  bool (*is_straight)(const cm_chip *chip, uint32_t before, uint32_t at, uint32_t next);
} forms[CM_GEOMETRIES] = {{trace_turns, goes_on}, {trace_ways, goes_on_by_link}};

/* Adds what a flow does at routers over the limit on its way to a target. */
static cm_status cross(widener *w, uint32_t rank, uint32_t source, uint32_t target, cm_error *error)
{
  const cm_routes *r = w->r;
  uint32_t at = w->walker->router_of[target], next = at;
  for (bool more = true; more;) {
    uint32_t here = at - r->first_router, before = w->above[here];
    more = at != source;
    if (w->over[here] > 0) {
      CM_TRY(CM_ROOM(w->run->memory, w->crossing, &w->crossing_room, w->crossings + 1, error));
      w->crossing[w->crossings++] = (crossing){.router = here, .rank = rank, .target = target, .out = next == at ? r->router_count + target : next,
                                               .straight = more && next != at && forms[cm_geometry_of(r->chip)].is_straight(r->chip, before, at, next)};
    }
    next = at;
    at = before;
  }
  return CM_OK;
}

CM_ORDER(by_router_and_rank, crossing, CM_RISING(router) CM_RISING(rank) CM_RISING(out) CM_RISING(target))

/* The visits of sorted crossings, by router and rank. */
static cm_status list_visits(widener *w, uint32_t part, cm_error *error)
{
  const cm_routes *r = w->r;
  w->visits = 0;
  for (uint64_t i = 0, end; i < w->crossings; i = end) {
    const crossing *c = &w->crossing[i];
    uint32_t flow = r->part_first[part] + c->rank, outs = 0;
    visit v = {.first = c, .rank = c->rank, .weight = r->weight[flow],
               .whole = w->flows_of[cm_topology_source(r->demand->network, r->net[flow])] > 1};
    for (end = i; end < w->crossings && w->crossing[end].router == c->router && w->crossing[end].rank == c->rank; end++)
      if (end == i || w->crossing[end].out != w->crossing[end - 1].out) {
        v.word += cm_mix(w->crossing[end].out + UINT64_C(1));
        outs++;
      }
    v.count = (uint32_t)(end - i);
    v.straight = outs == 1 && c->straight;
    CM_TRY(CM_ROOM(w->run->memory, w->visit, &w->visit_room, w->visits + 1, error));
    w->visit[w->visits++] = v;
  }
  return CM_OK;
}

static cm_status visit_part(widener *w, uint32_t part, cm_error *error)
{
  const cm_routes *r = w->r;
  uint32_t first = r->part_first[part];
  w->crossings = 0;
  for (uint32_t f = first; f < r->part_first[part + 1]; f++) {
    if (forms[cm_geometry_of(r->chip)].trace(w, f, error) != CM_OK)
      return error->status;
    for (uint64_t i = r->first[f]; i < r->first[f + 1]; i++)
      CM_TRY(cross(w, f - first, w->walker->router_of[part], r->target[i], error));
  }
  if (w->crossings > 0)
    qsort(w->crossing, w->crossings, sizeof *w->crossing, by_router_and_rank);
  return list_visits(w, part, error);
}

/* ---- what blocks of keys would save and cost ---- */

static void reach(uint64_t *set, const visit *v)
{
  for (uint32_t i = 0; i < v->count; i++)
    set[v->first[i].target / 64] |= UINT64_C(1) << v->first[i].target % 64;
}

static void unite(const widener *w, uint64_t *set, const uint64_t *inside)
{
  for (size_t i = 0; i < w->words; i++)
    set[i] |= inside[i];
}

static double price(const widener *w, const uint64_t *set, size_t low, size_t high)
{
  uint64_t all = 0;
  double cost = 0;
  for (size_t i = 0; i < w->words; i++)
    all += (uint64_t)__builtin_popcountll(set[i]);
  for (size_t i = low; i < high; i++)
    cost += w->visit[i].whole && w->visit[i].count < all ? INFINITY : (double)w->visit[i].weight * (double)(all - w->visit[i].count);
  return cost;
}

/* The entries of visits [low, high) in the block of 2^span keys from `base`, as tables are covered before they are minimised. */
static cm_status weigh(widener *w, size_t low, size_t high, block b, uint32_t *entries, cm_error *error)
{
  uint64_t *set = w->set + (w->r->rank_bits - b.span) * w->words, *inside = set + w->words;
  bool alike = true;
  for (size_t i = low + 1; i < high; i++)
    alike = alike && w->visit[i].word == w->visit[low].word;
  *entries = 0;
  memset(set, 0, w->words * sizeof *set);
  for (size_t i = low; alike && i < high; i++)
    reach(set, &w->visit[i]);
  if (alike) {
    *entries = low < high && !w->visit[low].straight;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(w->run->memory, w->block, &w->block_room, w->blocks + 1, error));
  uint32_t number = (uint32_t)w->blocks++, more;
  if (number >= NONE - 1)
    return cm_fail(error, CM_TOO_LARGE, "more than %u blocks of keys pass routers whose tables are full", NONE - 2);
  size_t middle = low;
  block left = {.router = b.router, .part = b.part, .base = b.base, .parent = number, .span = b.span - 1}, right = left;
  right.base += UINT32_C(1) << right.span;
  while (middle < high && w->visit[middle].rank < right.base)
    middle++;
  CM_TRY(weigh(w, low, middle, left, entries, error));
  unite(w, set, inside);
  CM_TRY(weigh(w, middle, high, right, &more, error));
  unite(w, set, inside);
  *entries += more;
  b.saving = *entries > 1 ? *entries - 1 : 0;
  b.cost = b.saving > 0 ? price(w, set, low, high) / b.saving : INFINITY;
  w->block[number] = b;
  return CM_OK;
}

static cm_status weigh_part(widener *w, uint32_t part, cm_error *error)
{
  uint32_t entries;
  CM_TRY(visit_part(w, part, error));
  for (size_t i = 0, end; i < w->visits; i = end) {
    uint32_t router = w->visit[i].first->router;
    for (end = i; end < w->visits && w->visit[end].first->router == router;)
      end++;
    CM_TRY(weigh(w, i, end, (block){.router = router, .part = part, .parent = NONE, .span = w->r->rank_bits}, &entries, error));
  }
  return cm_run_check(w->run, error);
}

/* ---- which are taken ---- */

static int by_price(const void *a, const void *b, void *context)
{
  const block *list = context, *p = &list[*(const uint32_t *)a], *q = &list[*(const uint32_t *)b];
  CM_RISING(router) CM_RISING(cost) CM_FALLING(saving)
  return p < q ? -1 : p > q;
}

static bool is_inside_taken(const widener *w, const block *b)
{
  for (uint32_t n = b->parent; n != NONE; n = w->block[n].parent)
    if (w->block[n].taken)
      return true;
  return false;
}

/* Takes blocks of one router until `need` entries are saved; whether some were. */
static bool take(widener *w, uint64_t low, uint64_t high, uint64_t need)
{
  bool some = false;
  for (uint64_t i = low; i < high && need > 0; i++) {
    block *b = &w->block[w->order[i]];
    if (isinf(b->cost) || b->done >= b->saving || is_inside_taken(w, b))
      continue;
    uint32_t gain = b->saving - b->done;
    b->taken = some = true;
    b->done += gain;
    for (uint32_t n = b->parent; n != NONE; n = w->block[n].parent)
      w->block[n].done += gain;
    need -= gain < need ? gain : need;
  }
  return some;
}

static cm_status choose(widener *w, uint32_t round, bool *some, cm_error *error)
{
  *some = false;
  CM_TRY(CM_NEW(w->run->memory, w->order, w->blocks, error));
  for (uint32_t i = 0; i < w->blocks; i++)
    w->order[i] = i;
  if (w->blocks > 0)
    qsort_r(w->order, w->blocks, sizeof *w->order, by_price, w->block);
  for (uint64_t i = 0, end; i < w->blocks; i = end) {
    uint32_t router = w->block[w->order[i]].router;
    for (end = i; end < w->blocks && w->block[w->order[end]].router == router;)
      end++;
    uint64_t need = round < ROUNDS_MEASURED ? (uint64_t)w->over[router] * (4 + round) / 4 : UINT64_MAX;
    *some = take(w, i, end, need) || *some;
  }
  return CM_OK;
}

/* ---- flows with more targets ---- */

static cm_status pair(widener *w, uint32_t rank, uint32_t target, cm_error *error)
{
  CM_TRY(CM_ROOM(w->run->memory, w->pair, &w->pair_room, w->pairs + 1, error));
  w->pair[w->pairs++] = (uint64_t)rank << 32 | target;
  return CM_OK;
}

/* Gives all flows of a block that pass its router what any of them reaches beyond it. */
static cm_status widen_block(widener *w, const block *b, cm_error *error)
{
  uint64_t end = b->base + (UINT64_C(1) << b->span);
  memset(w->set, 0, w->words * sizeof *w->set);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < w->visits; i++) {
      const visit *v = &w->visit[i];
      if (v->first->router != b->router || v->rank < b->base || v->rank >= end)
        continue;
      if (pass == 0)
        reach(w->set, v);
      for (size_t k = 0; pass == 1 && k < w->words; k++)
        for (uint64_t bits = w->set[k]; bits != 0; bits &= bits - 1)
          CM_TRY(pair(w, v->rank, (uint32_t)(k * 64) + (uint32_t)__builtin_ctzll(bits), error));
    }
  return CM_OK;
}

/* Pairs of what a part's flows reach now, ascending; some are there twice. */
static cm_status pair_part(widener *w, uint32_t part, uint64_t *at, cm_error *error)
{
  const cm_routes *r = w->r;
  uint32_t first = r->part_first[part];
  bool seen = false;
  w->pairs = 0;
  for (uint32_t f = first; f < r->part_first[part + 1]; f++)
    for (uint64_t i = r->first[f]; i < r->first[f + 1]; i++)
      CM_TRY(pair(w, f - first, r->target[i], error));
  for (; *at < w->blocks && w->block[*at].part == part; ++*at) {
    const block *b = &w->block[*at];
    if (!b->taken)
      continue;
    if (!seen && visit_part(w, part, error) != CM_OK)
      return error->status;
    seen = true;
    CM_TRY(widen_block(w, b, error));
  }
  if (seen)
    qsort(w->pair, w->pairs, sizeof *w->pair, cm_ascending_long);
  return cm_run_check(w->run, error);
}

static cm_status widen_parts(widener *w, uint64_t *first, uint32_t **target, cm_error *error)
{
  const cm_routes *r = w->r;
  uint64_t at = 0, count = 0, room = 0;
  for (uint32_t p = 0; p < r->parts; p++) {
    CM_TRY(pair_part(w, p, &at, error));
    CM_TRY(CM_ROOM(w->run->memory, *target, &room, count + w->pairs + 1, error));
    for (uint64_t i = 0; i < w->pairs; i++) {
      if (i > 0 && w->pair[i] == w->pair[i - 1])
        continue;
      (*target)[count++] = (uint32_t)w->pair[i];
      first[r->part_first[p] + (w->pair[i] >> 32) + 1] = count;
    }
  }
  return CM_OK;
}

/* Notes what flows need, once, and gives them more. */
static cm_status widen(widener *w, cm_error *error)
{
  cm_routes *r = w->r;
  uint64_t *first;
  uint32_t *target = NULL, *needed = NULL;
  CM_TRY(CM_NEW(w->run->memory, first, (size_t)r->flow_count + 1, error));
  cm_status status = r->needed == NULL ? CM_NEW(w->run->memory, needed, r->flow_count, error) : CM_OK;
  for (uint32_t f = 0; needed != NULL && f < r->flow_count; f++)
    needed[f] = (uint32_t)(r->first[f + 1] - r->first[f]);
  CM_THEN(status, widen_parts(w, first, &target, error));
  CM_TRY_OR(status, CM_FREE(first, target, needed));
  CM_FREE(r->first, r->target);
  r->first = first;
  r->target = target;
  r->needed = needed != NULL ? needed : r->needed;
  return CM_OK;
}

/* ---- all ---- */

static cm_status prepare(widener *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  const cm_routes *r = w->r;
  w->words = ((size_t)r->parts + 63) / 64;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->above, r->router_count), CM_ARRAY(w->over, r->router_count),
                    CM_ARRAY(w->flows_of, r->demand->network->vertex_count), CM_ARRAY(w->set, (r->rank_bits + 1) * w->words)));
  for (uint32_t i = 0; i < r->router_count; i++)
    w->over[i] = r->entries[i] > r->chip->table_entries ? r->entries[i] - r->chip->table_entries : 0;
  for (uint32_t f = 0; f < r->flow_count; f++) {
    uint8_t *flows = &w->flows_of[cm_topology_source(r->demand->network, r->net[f])];
    *flows = *flows == 0 ? 1 : 2;
  }
  return CM_OK;
}

cm_status cm_routes_widen(cm_routes *routes, cm_walker *walker, uint32_t round, cm_run *run, bool *wider, cm_error *error)
{
  widener w = {.r = routes, .walker = walker, .run = run};
  cm_status status = prepare(&w, error);
  for (uint32_t p = 0; p < routes->parts && status == CM_OK; p++)
    status = weigh_part(&w, p, error);
  CM_THEN(status, choose(&w, round, wider, error));
  CM_THEN_IF(status, *wider, widen(&w, error));
  CM_FREE(w.above, w.over, w.flows_of, w.crossing, w.visit, w.block, w.set, w.order, w.pair);
  return status;
}
