#include "core/fabric/fabric_routes.h"

#include "core/fabric/fabric_tree.h"

enum { LINK_BITS = (1 << CM_FABRIC_LINKS) - 1 };
#define NO_SENDER UINT32_MAX

typedef struct routing {
  const cm_chip_grid *f;
  const cm_flows *flows;
  const uint32_t *chip, *local; /* [vertices] */
  cm_run *run;
  cm_fabric_tree tree;
  uint32_t *want;      /* chips that a tree is to have */
  uint32_t want_count;
  uint64_t want_capacity;
  uint32_t *cores;     /* [chips]: bits of a route to what stands there, of the common targets and then of one sender; 0 between senders */
  uint32_t *walk;      /* [chips]: those of the tree from a sender's on */
  uint32_t *route;     /* [chips] */
  uint8_t *from;       /* [chips]: the link that packets come in by */
  uint64_t *first;     /* [chips]: where the entries of the family's last sender on this chip without targets of its own begin, plus 1; 0: none */
  uint32_t *head, *next; /* [chips], [senders]: the family's first sender on a chip, and the one behind each; NO_SENDER: none */
  cm_fabric_entry *entry;
  uint64_t count, capacity, links;
} routing;

static cm_status want_chips(routing *r, const uint32_t *vertex, uint64_t count, cm_error *error)
{
  CM_TRY(CM_ROOM(r->run->memory, r->want, &r->want_capacity, r->want_count + count, error));
  for (uint64_t i = 0; i < count; i++)
    r->want[r->want_count++] = r->chip[vertex[i]];
  return CM_OK;
}

/* The tree that senders of a family take in common; none without common targets. */
static cm_status common_tree(routing *r, uint32_t family, cm_error *error)
{
  const cm_flows *flows = r->flows;
  const uint64_t first = flows->common_first[family], count = flows->common_first[family + 1] - first;
  const uint32_t sender = flows->family_first[family];
  r->want_count = 0;
  if (count == 0)
    return CM_OK;
  CM_TRY(want_chips(r, flows->common + first, count, error));
  CM_TRY(want_chips(r, flows->sender + sender, flows->family_first[family + 1] - sender, error));
  uint32_t root = r->want[0];
  for (uint32_t i = 0; i < r->want_count; i++) /* families that reach alike are to have trees alike */
    root = r->want[i] < root ? r->want[i] : root;
  cm_fabric_tree_begin(&r->tree, root);
  return cm_fabric_tree_grow(&r->tree, r->want, r->want_count, error);
}

/* The chips of the tree from `root` on, each before what lies behind it. */
static uint32_t walk_from(routing *r, uint32_t root)
{
  uint32_t count = 1;
  r->walk[0] = root;
  r->from[root] = CM_FABRIC_LINKS;
  for (uint32_t i = 0; i < count; i++)
    for (unsigned link = 0; link < CM_FABRIC_LINKS; link++)
      if (r->tree.link[r->walk[i]] >> link & 1 && link != r->from[r->walk[i]]) {
        const uint32_t to = cm_fabric_neighbour(r->f, r->walk[i], link);
        r->from[to] = (uint8_t)((link + 3) % CM_FABRIC_LINKS);
        r->walk[count++] = to;
      }
  return count;
}

static unsigned link_of(uint32_t bit)
{
  unsigned link = 0;
  while (bit >> link > 1)
    link++;
  return link;
}

/* Entries of one sender along the tree, without the branches that lead to no target. */
static cm_status put_entries(routing *r, uint32_t family, uint32_t sender, cm_error *error)
{
  const uint32_t vertex = r->flows->sender[sender], root = r->chip[vertex], count = walk_from(r, root);
  CM_TRY(CM_ROOM(r->run->memory, r->entry, &r->capacity, r->count + count, error));
  for (uint32_t i = 0; i < count; i++)
    r->route[r->walk[i]] = r->cores[r->walk[i]];
  for (uint32_t i = count - 1; i > 0; i--) {
    const uint32_t chip = r->walk[i];
    const unsigned back = r->from[chip];
    if (r->route[chip] != 0)
      r->route[cm_fabric_neighbour(r->f, chip, back)] |= 1u << (back + 3) % CM_FABRIC_LINKS;
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t chip = r->walk[i];
    const bool outside = i == 0 && (r->local[vertex] & LINK_BITS) != 0; /* its packets come in by a link themselves */
    const uint32_t from = outside ? link_of(r->local[vertex]) : i == 0 ? CM_NO_CHIP : r->from[chip];
    if (i == 0 || r->route[chip] != 0)
      r->entry[r->count++] = (cm_fabric_entry){.chip = chip, .family = family, .sender = sender, .route = r->route[chip], .from = from};
  }
  return CM_OK;
}

/* The same entries as of an earlier sender of the family on the same chip. */
static cm_status repeat_entries(routing *r, uint64_t first, uint32_t sender, cm_error *error)
{
  const uint32_t as = r->entry[first].sender;
  uint64_t count = 0;
  while (first + count < r->count && r->entry[first + count].sender == as)
    count++;
  CM_TRY(CM_ROOM(r->run->memory, r->entry, &r->capacity, r->count + count, error));
  memcpy(r->entry + r->count, r->entry + first, count * sizeof *r->entry);
  for (uint64_t i = 0; i < count; i++)
    r->entry[r->count++].sender = sender;
  return CM_OK;
}

/* Entries of one sender along the tree of its chip. */
static cm_status route_sender(routing *r, uint32_t family, uint32_t sender, cm_error *error)
{
  const cm_flows *flows = r->flows;
  const uint32_t vertex = flows->sender[sender];
  const uint32_t *own = flows->own + flows->own_first[sender];
  const uint64_t count = flows->own_first[sender + 1] - flows->own_first[sender];
  const bool plain = count == 0 && (r->local[vertex] & LINK_BITS) == 0;
  if (plain && r->first[r->chip[vertex]] > 0)
    return repeat_entries(r, r->first[r->chip[vertex]] - 1, sender, error);
  if (plain)
    r->first[r->chip[vertex]] = r->count + 1;
  for (uint64_t i = 0; i < count; i++)
    r->cores[r->chip[own[i]]] |= r->local[own[i]];
  cm_status status = put_entries(r, family, sender, error);
  for (uint64_t i = 0; i < count; i++)
    r->cores[r->chip[own[i]]] = 0;
  for (uint64_t i = flows->common_first[family]; count > 0 && i < flows->common_first[family + 1]; i++)
    r->cores[r->chip[flows->common[i]]] |= r->local[flows->common[i]];
  return status;
}

/* The senders of a family on a chip, from this one on, by one tree to all that any of them reaches: where some go the same way, they leave alike. */
static cm_status route_chip(routing *r, uint32_t family, uint32_t sender, cm_error *error)
{
  const cm_flows *flows = r->flows;
  const uint32_t common = r->tree.size;
  const bool shared = flows->common_first[family + 1] > flows->common_first[family];
  if (!shared)
    cm_fabric_tree_begin(&r->tree, r->chip[flows->sender[sender]]);
  r->want_count = 0;
  for (uint32_t s = sender; s != NO_SENDER; s = r->next[s])
    CM_TRY(want_chips(r, flows->own + flows->own_first[s], flows->own_first[s + 1] - flows->own_first[s], error));
  cm_status status = cm_fabric_tree_grow(&r->tree, r->want, r->want_count, error);
  for (uint32_t s = sender; status == CM_OK && s != NO_SENDER; s = r->next[s])
    status = route_sender(r, family, s, error);
  if (shared)
    cm_fabric_tree_cut(&r->tree, common);
  return status;
}

/* Strings the senders of a family together by their chips. */
static void string_senders(routing *r, uint32_t begin, uint32_t end)
{
  for (uint32_t s = end; s-- > begin;) {
    const uint32_t chip = r->chip[r->flows->sender[s]];
    r->next[s] = r->head[chip];
    r->head[chip] = s;
  }
}

static cm_status route_family(routing *r, uint32_t family, cm_error *error)
{
  const cm_flows *flows = r->flows;
  const uint32_t begin = flows->family_first[family], end = flows->family_first[family + 1];
  cm_status status = common_tree(r, family, error);
  for (uint64_t i = flows->common_first[family]; i < flows->common_first[family + 1]; i++)
    r->cores[r->chip[flows->common[i]]] |= r->local[flows->common[i]];
  string_senders(r, begin, end);
  for (uint32_t s = begin; status == CM_OK && s < end; s++)
    if (r->head[r->chip[flows->sender[s]]] == s)
      status = route_chip(r, family, s, error);
  for (uint64_t i = flows->common_first[family]; i < flows->common_first[family + 1]; i++)
    r->cores[r->chip[flows->common[i]]] = 0;
  for (uint32_t s = begin; s < end; s++) {
    r->first[r->chip[flows->sender[s]]] = 0;
    r->head[r->chip[flows->sender[s]]] = NO_SENDER;
  }
  return status;
}

/* Puts entries in the order of chips or, before that, of senders; those alike stay as they are. */
static cm_status sort_entries(routing *r, bool by_chip, uint32_t keys, cm_error *error)
{
  uint64_t *at;
  cm_fabric_entry *sorted;
  CM_TRY(CM_NEW(r->run->memory, at, (size_t)keys + 1, error));
  CM_TRY_OR(CM_NEW(r->run->memory, sorted, r->count, error), cm_free(at));
  for (uint64_t i = 0; i < r->count; i++)
    at[(by_chip ? r->entry[i].chip : r->entry[i].sender) + 1]++;
  for (uint32_t k = 0; k < keys; k++)
    at[k + 1] += at[k];
  for (uint64_t i = 0; i < r->count; i++)
    sorted[at[by_chip ? r->entry[i].chip : r->entry[i].sender]++] = r->entry[i];
  CM_FREE(at, r->entry);
  r->entry = sorted;
  return CM_OK;
}

/* Where all senders of a family that come by a chip leave it alike, one entry is for all. */
static void merge_families(routing *r)
{
  uint64_t kept = 0;
  for (uint64_t i = 0, end; i < r->count; i = end) {
    cm_fabric_entry all = r->entry[i];
    bool alike = true;
    all.sender = CM_NO_CHIP;
    for (end = i; end < r->count && r->entry[end].chip == all.chip && r->entry[end].family == all.family; end++) {
      alike = alike && r->entry[end].route == all.route;
      all.from = r->entry[end].from == all.from ? all.from : CM_NO_CHIP;
      r->links += (uint64_t)__builtin_popcount(r->entry[end].route & r->f->links[all.chip]);
    }
    if (alike)
      r->entry[kept++] = all;
    for (uint64_t k = i; !alike && k < end; k++)
      r->entry[kept++] = r->entry[k];
  }
  r->count = kept;
}

static cm_status route_all(routing *r, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(r->f);
  cm_memory *memory = r->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(r->cores, chips), CM_ARRAY(r->walk, chips), CM_ARRAY(r->route, chips),
                    CM_ARRAY(r->from, chips), CM_ARRAY(r->first, chips), CM_ARRAY(r->head, chips),
                    CM_ARRAY(r->next, r->flows->senders)));
  memset(r->head, 0xFF, chips * sizeof *r->head);
  cm_run_phase(r->run, "route");
  for (uint32_t k = 0; k < r->flows->families; k++)
    if (route_family(r, k, error) != CM_OK || ((k & 63) == 0 && cm_run_progress(r->run, (double)k / r->flows->families, -1, 0, 0, error) != CM_OK))
      return error->status;
  CM_TRY(sort_entries(r, false, r->flows->senders, error));
  CM_TRY(sort_entries(r, true, chips, error));
  merge_families(r);
  return CM_OK;
}

cm_status cm_fabric_route(const cm_flows *flows, const uint32_t *chip, cm_run *run, cm_fabric_routes *routes, cm_error *error)
{
  const cm_chip_grid *f = flows->fabric;
  routing r = {.f = f, .flows = flows, .chip = chip, .local = flows->local, .run = run};
  CM_TRY(cm_flows_check(flows, error));
  for (uint32_t v = 0; v < flows->vertices; v++)
    if (chip[v] >= cm_fabric_chips(f))
      return cm_fail(error, CM_BAD_NETWORK, "vertex %u is on chip number %u, and there are %u", v, chip[v], cm_fabric_chips(f));
  cm_status status = cm_fabric_tree_new(f, run->memory, &r.tree, error);
  CM_THEN(status, route_all(&r, error));
  cm_fabric_tree_free(&r.tree);
  CM_FREE(r.want, r.cores, r.walk, r.route, r.from, r.first, r.head, r.next);
  CM_END(status, (*routes = (cm_fabric_routes){.entry = r.entry, .count = r.count, .links = r.links}), cm_free(r.entry));
}

void cm_fabric_routes_clear(cm_fabric_routes *routes)
{
  cm_free(routes->entry);
}
