/* Prefix tables of fewest entries. Happy path: the trie of the blocks with, at every node, the routes that an entry above may
 * have for the fewest entries below; then from the root down, an entry wherever the one above does not do. What can fail:
 * memory. */
#include "core/routing/minimise.h"
#include "base/order.h"

enum { NONE = UINT32_MAX };

/* A subtree: a block, or the least node above two. */
typedef struct node {
  uint64_t key;
  uint32_t left, right;  /* NONE: a leaf */
  uint32_t block;        /* of a leaf */
  uint32_t cost, bare;   /* entries inside when one above has a route of the set; when none is above */
  uint32_t routes;       /* size of its set */
  uint64_t route_first;
  unsigned span;         /* an entry here leaves so many bits open */
} node;

typedef struct maker {
  const cm_key_block *block;
  size_t count;
  cm_memory *memory;
  uint64_t *word;        /* [words] the distinct ones, ascending: a route is a number into them */
  uint32_t words;
  node *node;
  uint32_t nodes;
  uint32_t *route;       /* sets of routes, each ascending */
  uint64_t route_room, route_count;
  cm_ternary *entry;     /* [count] */
  uint32_t *owner;       /* [count] */
  uint32_t entries;
} maker;

static uint32_t route_of(const maker *m, uint64_t word)
{
  const uint64_t *at = bsearch(&word, m->word, m->words, sizeof *m->word, cm_ascending_long);
  return (uint32_t)(at - m->word);
}

static void list_words(maker *m)
{
  for (size_t b = 0; b < m->count; b++)
    m->word[b] = m->block[b].word;
  qsort(m->word, m->count, sizeof *m->word, cm_ascending_long);
  for (size_t b = 0; b < m->count; b++)
    if (m->words == 0 || m->word[m->words - 1] != m->word[b])
      m->word[m->words++] = m->word[b];
}

/* The routes that both sets have, else those that either has; whether they had one in common. */
static bool join(maker *m, node *n)
{
  const node *a = &m->node[n->left], *b = &m->node[n->right];
  const uint32_t *p = m->route + a->route_first, *q = m->route + b->route_first;
  uint32_t *to = m->route + m->route_count, both = 0;
  for (uint32_t i = 0, k = 0; i < a->routes && k < b->routes;) {
    if (p[i] == q[k])
      to[both++] = p[i];
    uint32_t x = p[i], y = q[k];
    i += x <= y;
    k += y <= x;
  }
  n->routes = both;
  for (uint32_t i = 0, k = 0; both == 0 && (i < a->routes || k < b->routes);)
    to[n->routes++] = k == b->routes || (i < a->routes && p[i] < q[k]) ? p[i++] : q[k++];
  n->route_first = m->route_count;
  m->route_count += n->routes;
  return both > 0;
}

/* The subtree of blocks [low, high). */
static cm_status build(maker *m, size_t low, size_t high, uint32_t *made, cm_error *error)
{
  node n = {.left = NONE, .right = NONE, .block = (uint32_t)low, .key = m->block[low].key};
  if (high - low > 1) {
    unsigned bit = 63 - (unsigned)__builtin_clzll(n.key ^ m->block[high - 1].key); /* above all that blocks leave open */
    size_t first = low, last = high;
    while (first < last) { /* where that bit becomes 1 */
      size_t middle = first + (last - first) / 2;
      if (m->block[middle].key >> bit & 1)
        last = middle;
      else
        first = middle + 1;
    }
    n.span = bit + 1;
    n.key = n.key >> n.span << n.span;
    CM_TRY(build(m, low, first, &n.left, error));
    CM_TRY(build(m, first, high, &n.right, error));
  }
  uint64_t most = n.left == NONE ? 1 : (uint64_t)m->node[n.left].routes + m->node[n.right].routes;
  CM_TRY(CM_ROOM(m->memory, m->route, &m->route_room, m->route_count + most, error));
  if (n.left == NONE) {
    n.bare = !m->block[low].straight;
    n.routes = 1;
    n.route_first = m->route_count;
    m->route[m->route_count++] = route_of(m, m->block[low].word);
  } else {
    const node *a = &m->node[n.left], *b = &m->node[n.right];
    n.cost = a->cost + b->cost + !join(m, &n);
    n.bare = a->bare + b->bare < n.cost + 1 ? a->bare + b->bare : n.cost + 1;
  }
  *made = m->nodes;
  m->node[m->nodes++] = n;
  return CM_OK;
}

static bool has(const maker *m, const node *n, uint32_t route)
{
  for (uint32_t i = 0; i < n->routes; i++)
    if (m->route[n->route_first + i] == route)
      return true;
  return false;
}

/* Entries of a subtree under an entry with a route (NONE: under none). */
static void emit(maker *m, uint32_t number, uint32_t above, uint32_t route)
{
  const node *n = &m->node[number];
  bool leaf = n->left == NONE;
  bool leave = above != NONE ? has(m, n, route)
               : leaf        ? m->block[n->block].straight
                             : m->node[n->left].bare + m->node[n->right].bare <= n->cost + 1;
  if (!leave) {
    above = m->entries++;
    route = m->route[n->route_first];
    m->entry[above] = (cm_ternary){n->key, leaf ? m->block[n->block].open : (UINT64_C(1) << n->span) - 1, m->word[route]};
  }
  if (leaf) {
    m->owner[n->block] = above;
    return;
  }
  emit(m, n->left, above, route);
  emit(m, n->right, above, route);
}

typedef struct place {
  cm_ternary entry;
  uint32_t number;
} place;

static int by_open(const void *a, const void *b)
{
  const place *p = a, *q = b;
  int open = __builtin_popcountll(p->entry.open) - __builtin_popcountll(q->entry.open);
  return open != 0 ? open : p->entry.key < q->entry.key ? -1 : p->entry.key > q->entry.key;
}

/* Entries that are inside others come first. */
static cm_status order(maker *m, cm_error *error)
{
  place *list;
  uint32_t *moved;
  CM_TRY(CM_NEW(m->memory, list, m->entries, error));
  CM_TRY_OR(CM_NEW(m->memory, moved, m->entries, error), cm_free(list));
  for (uint32_t i = 0; i < m->entries; i++)
    list[i] = (place){m->entry[i], i};
  if (m->entries > 0)
    qsort(list, m->entries, sizeof *list, by_open);
  for (uint32_t i = 0; i < m->entries; i++) {
    m->entry[i] = list[i].entry;
    moved[list[i].number] = i;
  }
  for (size_t b = 0; b < m->count; b++)
    m->owner[b] = m->owner[b] == NONE ? NONE : moved[m->owner[b]];
  CM_FREE(list, moved);
  return CM_OK;
}

static cm_status make(maker *m, cm_error *error)
{
  uint32_t root;
  if (m->count == 0)
    return CM_OK;
  list_words(m);
  CM_TRY(build(m, 0, m->count, &root, error));
  emit(m, root, NONE, NONE);
  return order(m, error);
}

cm_status cm_minimise(const cm_key_blocks *blocks, cm_merging until, cm_memory *memory, cm_ternary_table *table, cm_error *error)
{
  size_t count = blocks->count;
  maker m = {.block = blocks->block, .count = count, .memory = memory};
  if (count >= NONE / 2)
    return cm_fail(error, CM_TOO_LARGE, "more than %u blocks of keys come to one router", NONE / 2);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(m.word, count), CM_ARRAY(m.node, 2 * count), CM_ARRAY(m.entry, count),
                                CM_ARRAY(m.owner, count));
  CM_THEN(status, make(&m, error));
  cm_ternary_table made = {m.entry, m.entries};
  CM_THEN(status, cm_merge_ternary(blocks, until, memory, &made, m.owner, error));
  CM_FREE(m.word, m.node, m.route, m.owner);
  CM_END(status, *table = made, cm_free(made.entry));
}
