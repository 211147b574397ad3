/* Trees that share entries. Happy path: every way out of a router that some tree takes is counted -> tree by tree, routers are hung on
 * others beside them where fewer ways out are left, or rarer ones become rarer -> again, while something changes. What can fail:
 * memory, a stop. */
#include <math.h>

#include "base/random.h"
#include "core/partition/counts.h"
#include "core/routing/walk.h"

enum { ROUNDS_MAX = 6, CHECK_EVERY = 1024, LATER = 1 /* hops */ };

/* What a way out costs: an entry for the first tree, little for each doubling of them, so that trees leave rare ways for common ones;
 * and what a hop more costs. */
static const double entry = 1, doubling = 0.25, hop = 0.03;

/* A router of the tree under way. */
typedef struct branch {
  uint32_t router, parent, link, depth;
  uint32_t spare; /* hops by which all that hangs on it may come later */
  uint32_t outs;
  uint64_t out, links; /* sums over the links that leave: of digests, of numbers */
  uint64_t cores;      /* digest of those reached here; 0: none */
} branch;

typedef struct sharer {
  cm_routes *r;
  const cm_interconnect *net;
  cm_walker *walker;
  cm_run *run;
  cm_counts ways; /* trees by router and way out */
  branch *branch;
  uint64_t room;
  uint32_t count;
  uint32_t *at, *stamp; /* [routers] branch of a router, where the stamp is the flow's number plus 1 */
  cm_rehung *hung;      /* of the round under way, as in the routes */
  uint64_t *hung_first, hung_count, hung_room, moves;
} sharer;

/* ---- ways out ---- */

/* The number of a way out among all; 0: straight on, which needs no entry. */
static uint64_t way_of(const sharer *s, const branch *b)
{
  if (b->cores == 0 && b->outs == 1 && b->link != CM_NO_WAY && cm_interconnect_straight(s->net, b->link) == (int64_t)b->links)
    return 0;
  return cm_mix(b->out + cm_mix(b->cores + b->router + 1)) >> 1 | 1;
}

static double cost_of(uint32_t trees)
{
  return trees == 0 ? 0 : entry + doubling * log2(trees);
}

/* What it costs more when the tree takes another way out of a router. */
static double change_of(const sharer *s, const branch *before, const branch *after)
{
  uint64_t old = way_of(s, before), new = way_of(s, after);
  if (old == new)
    return 0;
  uint32_t left = old != 0 ? cm_counts_of(&s->ways, old) : 0, joined = new != 0 ? cm_counts_of(&s->ways, new) : 0;
  return (old != 0 ? cost_of(left - 1) - cost_of(left) : 0) + (new != 0 ? cost_of(joined + 1) - cost_of(joined) : 0);
}

static cm_status book(sharer *s, const branch *b, int32_t by, cm_error *error)
{
  uint64_t way = way_of(s, b);
  if (way == 0)
    return CM_OK;
  if (by > 0 && cm_counts_reserve(&s->ways, 1, s->run, error) != CM_OK)
    return error->status;
  (void)cm_counts_add(&s->ways, way, by);
  return CM_OK;
}

static void leave_by(branch *b, uint32_t link)
{
  b->out += cm_mix(link + UINT64_C(1));
  b->links += link;
  b->outs++;
}

static void leave_no_more_by(branch *b, uint32_t link)
{
  b->out -= cm_mix(link + UINT64_C(1));
  b->links -= link;
  b->outs--;
}

/* ---- trees ---- */

/* Depths, and how much later all that hangs on each router may come. */
static void find_spare(sharer *s)
{
  uint32_t source = s->branch[0].router;
  for (uint32_t i = 0; i < s->count; i++)
    s->branch[i].spare = UINT32_MAX;
  for (uint32_t i = 1; i < s->count; i++) {
    uint32_t depth = 0;
    for (uint32_t k = i; k != 0; k = s->branch[k].parent)
      depth++;
    uint32_t spare = cm_interconnect_hops(s->net, source, s->branch[i].router) + LATER - depth;
    s->branch[i].depth = depth;
    for (uint32_t k = i; k != 0; k = s->branch[k].parent)
      s->branch[k].spare = spare < s->branch[k].spare ? spare : s->branch[k].spare;
  }
}

static cm_status walk(sharer *s, uint32_t flow, cm_error *error)
{
  const cm_routes *r = s->r;
  cm_way_tree tree;
  CM_TRY(cm_walk_ways(s->walker, flow, &tree, error));
  CM_TRY(CM_ROOM(s->run->memory, s->branch, &s->room, tree.count, error));
  s->count = tree.count;
  for (uint32_t i = 0; i < tree.count; i++) {
    const cm_way_node *n = &tree.node[i];
    s->branch[i] = (branch){.router = n->router, .parent = n->parent, .link = n->link};
    s->at[n->router] = i;
    s->stamp[n->router] = flow + 1;
    if (i > 0)
      leave_by(&s->branch[n->parent], n->link);
  }
  for (uint64_t i = r->first[flow]; i < r->first[flow + 1]; i++)
    s->branch[s->at[s->walker->router_of[r->target[i]]]].cores += cm_mix(r->target[i] + UINT64_C(1)) | 1;
  return CM_OK;
}

static bool hangs_on(const sharer *s, uint32_t i, uint32_t above)
{
  while (i != 0 && i != above)
    i = s->branch[i].parent;
  return i == above;
}

/* Whether a router may be reached by a link instead. One that nothing hangs on any more, and that is no target, would be left over. */
static bool may_hang(const sharer *s, uint32_t flow, uint32_t i, uint32_t link)
{
  const branch *b = &s->branch[i], *left = &s->branch[b->parent];
  const cm_link *new = &s->net->link[link];
  if (new->dead || s->stamp[new->from] != flow + 1 || link == b->link || new->units != s->net->link[b->link].units ||
      (left->cores == 0 && left->outs == 1) || s->r->load[link] + s->r->weight[flow] > s->r->load_max)
    return false;
  uint32_t on = s->at[new->from];
  return s->branch[on].depth + 1 <= b->depth + b->spare && !hangs_on(s, on, i);
}

static double change_by(const sharer *s, uint32_t i, uint32_t link)
{
  const branch *b = &s->branch[i], *old = &s->branch[b->parent], *new = &s->branch[s->at[s->net->link[link].from]];
  branch left = *old, joined = *new, turned = *b;
  leave_no_more_by(&left, b->link);
  leave_by(&joined, link);
  turned.link = link;
  return change_of(s, old, &left) + change_of(s, new, &joined) + change_of(s, b, &turned) +
         hop * ((double)new->depth + 1 - b->depth);
}

static cm_status book_three(sharer *s, const uint32_t number[3], int32_t by, cm_error *error)
{
  for (uint32_t k = 0; k < 3; k++)
    CM_TRY(book(s, &s->branch[number[k]], by, error));
  return CM_OK;
}

static cm_status hang(sharer *s, uint32_t flow, uint32_t i, uint32_t link, cm_error *error)
{
  branch *b = &s->branch[i];
  uint32_t on = s->at[s->net->link[link].from], touched[3] = {b->parent, on, i};
  CM_TRY(book_three(s, touched, -1, error));
  s->r->load[b->link] -= s->r->weight[flow];
  s->r->load[link] += s->r->weight[flow];
  leave_no_more_by(&s->branch[b->parent], b->link);
  leave_by(&s->branch[on], link);
  b->link = link;
  b->parent = on;
  s->moves++;
  find_spare(s);
  return book_three(s, touched, 1, error);
}

/* Hangs each router where it costs least. */
static cm_status improve(sharer *s, uint32_t flow, cm_error *error)
{
  const cm_interconnect *net = s->net;
  find_spare(s);
  for (uint32_t i = 1; i < s->count; i++) {
    uint32_t router = s->branch[i].router, best = CM_NO_WAY;
    double least = -1e-9;
    for (uint32_t k = net->first[router]; k < net->first[router + 1]; k++) {
      uint32_t link = net->link[k].twin;
      double change = may_hang(s, flow, i, link) ? change_by(s, i, link) : 0;
      if (change < least) {
        least = change;
        best = link;
      }
    }
    if (best != CM_NO_WAY && hang(s, flow, i, best, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Lists what hangs elsewhere than the ways say. */
static cm_status keep(sharer *s, uint32_t flow, cm_error *error)
{
  for (uint32_t i = 1; i < s->count; i++) {
    const branch *b = &s->branch[i];
    if (b->link == cm_interconnect_last(s->net, s->branch[0].router, b->router))
      continue;
    CM_TRY(CM_ROOM(s->run->memory, s->hung, &s->hung_room, s->hung_count + 1, error));
    s->hung[s->hung_count++] = (cm_rehung){b->router, b->link};
  }
  s->hung_first[flow + 1] = s->hung_count;
  return CM_OK;
}

static cm_status make_round(sharer *s, cm_error *error)
{
  cm_routes *r = s->r;
  s->moves = s->hung_count = s->hung_room = 0;
  memset(s->stamp, 0, r->router_count * sizeof *s->stamp);
  CM_TRY(CM_NEW(s->run->memory, s->hung_first, (size_t)r->flow_count + 1, error));
  for (uint32_t f = 0; f < r->flow_count; f++)
    if (walk(s, f, error) != CM_OK || improve(s, f, error) != CM_OK || keep(s, f, error) != CM_OK ||
        (f % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK))
      return error->status;
  CM_FREE(r->rehung, r->rehung_first);
  r->rehung = s->hung;
  r->rehung_first = s->hung_first;
  s->hung = NULL;
  s->hung_first = NULL;
  return CM_OK;
}

static cm_status book_all(sharer *s, cm_error *error)
{
  for (uint32_t f = 0; f < s->r->flow_count; f++) {
    CM_TRY(walk(s, f, error));
    for (uint32_t i = 0; i < s->count; i++)
      CM_TRY(book(s, &s->branch[i], 1, error));
  }
  return CM_OK;
}

cm_status cm_routes_share(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error)
{
  sharer s = {.r = routes, .net = routes->chip->interconnect, .walker = walker, .run = run, .moves = 1};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(s.at, routes->router_count),
                                CM_ARRAY(s.stamp, routes->router_count));
  CM_THEN(status, book_all(&s, error));
  for (uint32_t round = 0; round < ROUNDS_MAX && s.moves > 0 && status == CM_OK; round++)
    status = make_round(&s, error);
  CM_FREE(s.at, s.stamp, s.branch, s.hung, s.hung_first);
  cm_counts_free(&s.ways);
  return status;
}
