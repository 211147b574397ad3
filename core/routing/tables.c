/* Routing tables, as SpiNNaker's routers have them: an entry is a key, a mask and a route; a packet that matches none
 * goes straight on (default routing), so a router that an axon passes straight needs no entry for it.
 *
 * A part's axons have consecutive keys. At each router those of its axons that come by are gathered and covered by
 * aligned blocks of keys with one route each: keys that do not come by may fall into any block. On meshes ways out are bits, on
 * interconnects, whose routers may have many links, numbers of sets (words.h). */
#include "core/routing/tables.h"
#include "core/routing/walk.h"

/* An axon at a router. */
typedef struct visit {
  uint64_t word;
  uint32_t rank;
  uint32_t next;  /* visit of the router's next axon, plus 1 */
  bool straight;  /* the packet would leave like this without an entry */
} visit;

typedef struct work {
  const cm_routes *r;
  cm_run *run;
  cm_walker walker;
  /* Of the routers in use, [router_count]: */
  uint64_t *local;    /* cores behind a router that the axon is for */
  uint32_t *first, *last; /* visits of the part under way, plus 1; 0: none */
  uint32_t *touched;  /* numbers from the first router in use, of those with visits, in order of the first */
  size_t touched_count, touched_room;
  visit *visit, *list;
  size_t visit_count, visit_room, list_room;
  uint32_t *child, *sibling; /* of a tree on an interconnect: first child of a node, its next one; 0: none */
  uint32_t *port;
  uint64_t *bit; /* [parts] of each part's core among those behind its router */
  uint64_t child_room, sibling_room, port_room;
  uint64_t key;    /* of the part under way */
  uint32_t router; /* under way */
  cm_table_visit emit;
  void *user;
  bool blocks; /* what goes straight on is emitted too */
} work;

static cm_status enlarge(work *w, void *array, size_t *room, size_t size, cm_error *error)
{
  void **pointer = array;
  size_t more_room = *room == 0 ? 1024 : *room * 2;
  if (more_room > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the axons of one part pass more than %u routers", UINT32_MAX / 2);
  void *more = cm_reallocate(w->run->memory, *pointer, more_room, size, error);
  if (more == NULL)
    return error->status;
  *pointer = more;
  *room = more_room;
  return CM_OK;
}

static cm_status add_visit(work *w, uint32_t router, visit v, cm_error *error)
{
  if (w->visit_count == w->visit_room && enlarge(w, &w->visit, &w->visit_room, sizeof *w->visit, error) != CM_OK)
    return error->status;
  uint32_t number = (uint32_t)++w->visit_count;
  w->visit[number - 1] = v;
  if (w->first[router] != 0)
    w->visit[w->last[router] - 1].next = number;
  else {
    if (w->touched_count == w->touched_room &&
        enlarge(w, &w->touched, &w->touched_room, sizeof *w->touched, error) != CM_OK)
      return error->status;
    w->touched[w->touched_count++] = router;
    w->first[router] = number;
  }
  w->last[router] = number;
  return CM_OK;
}

/* The word of a node, and whether it only goes straight on. */
static cm_status word_of(work *w, cm_way_tree tree, uint32_t number, visit *v, cm_error *error)
{
  const cm_interconnect *net = w->r->chip->interconnect;
  const cm_way_node *node = &tree.node[number];
  uint64_t cores = node->target ? w->local[node->router] : 0;
  uint32_t count = 0, last = 0;
  for (uint32_t i = w->child[number]; i != 0; i = w->sibling[i]) {
    CM_TRY(CM_ROOM(w->run->memory, w->port, &w->port_room, (uint64_t)count + 1, error));
    last = tree.node[i].link;
    w->port[count++] = last - net->first[node->router];
  }
  if (count > 1)
    qsort(w->port, count, sizeof *w->port, cm_ascending);
  v->straight = node->link != CM_NO_WAY && cores == 0 && count == 1 && cm_interconnect_straight(net, node->link) == (int64_t)last;
  return cm_words_number(w->r->words, cores, w->port, count, &v->word, error);
}

static cm_status visit_ways(work *w, uint32_t flow, uint32_t rank, bool alone, cm_error *error)
{
  cm_way_tree tree;
  CM_TRY(cm_walk_ways(&w->walker, flow, &tree, error));
  CM_TRY(CM_ROOM(w->run->memory, w->child, &w->child_room, tree.count, error));
  CM_TRY(CM_ROOM(w->run->memory, w->sibling, &w->sibling_room, tree.count, error));
  CM_TRY(CM_ROOM(w->run->memory, w->port, &w->port_room, 1, error));
  for (uint32_t i = tree.count; i-- > 0;) { /* children come after their parents */
    w->child[i] = 0;
    w->sibling[i] = 0;
  }
  for (uint32_t i = tree.count; i-- > 1;) {
    w->sibling[i] = w->child[tree.node[i].parent];
    w->child[tree.node[i].parent] = i;
  }
  for (uint32_t i = 0; i < tree.count; i++) {
    visit v = {.rank = rank};
    CM_TRY(word_of(w, tree, i, &v, error));
    if (v.straight && alone && !w->blocks)
      continue;
    CM_TRY(add_visit(w, tree.node[i].router, v, error));
  }
  return CM_OK;
}

static cm_status visit_turns(work *w, uint32_t flow, uint32_t rank, bool alone, cm_error *error)
{
  const cm_routes *r = w->r;
  cm_tree tree;
  cm_status status = CM_OK;
  CM_TRY(cm_walk_flow(&w->walker, flow, r->shapes[flow], &tree, error));
  for (size_t i = 0; i < tree.count && status == CM_OK; i++) {
    const cm_tree_node *node = &tree.node[i];
    uint64_t word = node->out;
    if (node->target)
      word |= w->local[node->router - r->first_router] << CM_DIRECTIONS;
    bool straight = node->in != CM_NO_DIRECTION && word == UINT64_C(1) << node->in;
    if (straight && alone && !w->blocks) /* no entry, and no other axon's entry to keep clear of */
      continue;
    status = add_visit(w, node->router - r->first_router, (visit){.word = word, .rank = rank, .straight = straight}, error);
  }
  return status;
}

static cm_status visit_flow(work *w, uint32_t flow, uint32_t rank, bool alone, cm_error *error)
{
  const cm_routes *r = w->r;
  const uint32_t *router = w->walker.router_of;
  for (uint64_t i = r->first[flow]; i < r->first[flow + 1]; i++)
    w->local[router[r->target[i]] - r->first_router] |= w->bit[r->target[i]];
  static cm_status (*const add[CM_GEOMETRIES])(work *, uint32_t, uint32_t, bool, cm_error *) = {visit_turns, visit_ways};
  cm_status status = add[cm_geometry_of(r->chip)](w, flow, rank, alone, error);
  for (uint64_t i = r->first[flow]; i < r->first[flow + 1]; i++)
    w->local[router[r->target[i]] - r->first_router] = 0;
  return status;
}

/* Leaves open only bits in which keys of the block differ. */
static void tighten(cm_table_entry *entry, uint64_t key, const visit *list, size_t count)
{
  uint64_t all = list[0].rank, any = 0;
  for (size_t i = 0; i < count; i++) {
    all &= list[i].rank;
    any |= list[i].rank;
  }
  entry->key = key | all;
  entry->open = any & ~all;
}

/* Covers visits (ascending ranks inside the block of 2^span keys from `base`) with as few aligned blocks as can be. */
static cm_status cover(work *w, uint64_t base, unsigned span, const visit *list, size_t count, cm_error *error)
{
  bool straight = true, same = true;
  for (size_t i = 0; i < count; i++) {
    straight = straight && list[i].straight;
    same = same && list[i].word == list[0].word;
  }
  if (count == 0 || (straight && !w->blocks))
    return CM_OK;
  if (same) {
    cm_table_entry entry = {w->key | base, (UINT64_C(1) << span) - 1, list[0].word, w->router, straight};
    if (w->blocks)
      tighten(&entry, w->key, list, count);
    return w->emit(w->user, &entry, error);
  }
  uint64_t middle = base + (UINT64_C(1) << (span - 1));
  size_t left = 0;
  while (left < count && list[left].rank < middle)
    left++;
  cm_status status = cover(w, base, span - 1, list, left, error);
  return status == CM_OK ? cover(w, middle, span - 1, list + left, count - left, error) : status;
}

static cm_status cover_part(work *w, uint32_t part, cm_error *error)
{
  cm_status status = CM_OK;
  w->key = cm_routes_key(w->r, part);
  for (size_t t = 0; t < w->touched_count && status == CM_OK; t++) {
    uint32_t router = w->touched[t];
    size_t count = 0;
    for (uint32_t v = w->first[router]; v != 0 && status == CM_OK; v = w->visit[v - 1].next) {
      if (count == w->list_room)
        status = enlarge(w, &w->list, &w->list_room, sizeof *w->list, error);
      if (status == CM_OK)
        w->list[count++] = w->visit[v - 1];
    }
    w->router = w->r->first_router + router;
    CM_THEN(status, cover(w, 0, w->r->rank_bits, w->list, count, error));
    w->first[router] = w->last[router] = 0;
  }
  w->touched_count = w->visit_count = 0;
  return status;
}

static cm_status walk(const cm_routes *routes, cm_run *run, bool blocks, cm_table_visit emit, void *user, cm_error *error)
{
  work w = {.r = routes, .run = run, .emit = emit, .user = user, .blocks = blocks};
  cm_memory *memory = run->memory;
  size_t routers = routes->router_count;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(w.local, routers), CM_ARRAY(w.first, routers), CM_ARRAY(w.last, routers), CM_ARRAY(w.bit, routes->parts));
  CM_THEN(status, cm_walker_new(routes, memory, &w.walker, error));
  for (uint32_t p = 0; p < routes->parts && status == CM_OK; p++)
    w.bit[p] = UINT64_C(1) << cm_core_behind(routes->chip, routes->core[p]);
  for (uint32_t p = 0; p < routes->parts && status == CM_OK; p++) {
    uint32_t first = routes->part_first[p], last = routes->part_first[p + 1];
    for (uint32_t f = first; f < last && status == CM_OK; f++)
      status = visit_flow(&w, f, f - first, last - first == 1, error);
    CM_THEN(status, cover_part(&w, p, error));
    CM_THEN_IF(status, p % 64 == 0, cm_run_check(run, error));
  }
  cm_walker_free(&w.walker);
  CM_FREE(w.local, w.first, w.last, w.touched, w.child, w.sibling, w.port, w.bit, w.visit, w.list);
  return status;
}

cm_status cm_blocks_walk(const cm_routes *routes, cm_run *run, cm_table_visit emit, void *user, cm_error *error)
{
  return walk(routes, run, true, emit, user, error);
}

cm_status cm_tables_walk(const cm_routes *routes, cm_run *run, cm_table_visit emit, void *user, cm_error *error)
{
  if (routes->table == NULL)
    return walk(routes, run, false, emit, user, error);
  cm_status status = CM_OK;
  for (uint64_t i = 0; i < routes->entries_total && status == CM_OK; i++)
    status = emit(user, &routes->table[i], error);
  return status;
}
