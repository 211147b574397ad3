/* Happy path: from each target back along its way until the tree is met, then the new routers in order, each with its virtual
 * channel. What can fail: memory, dead links that leave no way. */
#include "core/chip/interconnect/path_trees.h"

#include "core/chip/interconnect/internal.h"

struct cm_way_tracer {
  const cm_interconnect *net;
  cm_memory *memory;
  uint32_t *place; /* [routers] in the total order */
  uint32_t *slot;  /* [routers] number in `node`, if the node there is of this router */
  uint32_t *back;  /* [routers] links from a target to the tree */
  cm_way_node *node;
  uint64_t room;
  uint32_t count;
  cm_way_node *before; /* those of a tree that is hung anew */
  uint32_t *child;     /* [2 * count] the first child of each, then its next sibling; 0: none */
  uint64_t before_room, child_room;
};

/* ---- the order ---- */

uint32_t cm_interconnect_root(const cm_interconnect *net)
{
  if (net->kind == CM_GRID || net->kind == CM_HEXAGONAL)
    return CM_NO_WAY;
  if (net->kind == CM_TREE)
    return net->routers - 1;
  uint32_t root = 0;
  for (uint32_t r = 1; r < net->routers; r++)
    if (net->first[r + 1] - net->first[r] > net->first[root + 1] - net->first[root])
      root = r;
  return root;
}

/* Breadth first; routers of one level in the order of their numbers. `queue` is scratch. */
static void order_from(const cm_interconnect *net, uint32_t root, uint32_t *queue, uint32_t *level, uint32_t *place)
{
  uint32_t count = 0, end = 0, last = 0;
  for (uint32_t r = 0; r < net->routers; r++)
    level[r] = CM_NO_WAY;
  level[root] = 0;
  queue[end++] = root;
  for (uint32_t head = 0; head < end; head++) {
    last = level[queue[head]];
    for (uint32_t i = net->first[queue[head]]; i < net->first[queue[head] + 1]; i++)
      if (level[net->link[i].to] == CM_NO_WAY) {
        level[net->link[i].to] = last + 1;
        queue[end++] = net->link[i].to;
      }
  }
  uint32_t *at = queue; /* where the routers of a level begin: there are no more levels than routers */
  for (uint32_t l = 0; l <= last; l++)
    at[l] = 0;
  for (uint32_t r = 0; r < net->routers; r++)
    at[level[r]]++;
  for (uint32_t l = 0; l <= last; l++) {
    uint32_t here = at[l];
    at[l] = count;
    count += here;
  }
  for (uint32_t r = 0; r < net->routers; r++)
    place[r] = at[level[r]]++;
}

static bool is_up(const cm_way_tracer *t, uint32_t link)
{
  return t->place[t->net->link[link].to] < t->place[t->net->link[link].from];
}

/* The channel of a link after another one. */
static uint32_t channel_after(const cm_way_tracer *t, uint32_t link, uint32_t channel, uint32_t next)
{
  return channel + (!is_up(t, link) && is_up(t, next));
}

/* ---- trees ---- */

cm_status cm_way_tracer_new(const cm_interconnect *net, cm_memory *memory, cm_way_tracer **tracer, cm_error *error)
{
  cm_way_tracer *t;
  uint32_t root = cm_interconnect_root(net);
  CM_TRY(CM_NEW(memory, t, 1, error));
  t->net = net;
  t->memory = memory;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(t->place, net->routers), CM_ARRAY(t->slot, net->routers),
                       CM_ARRAY(t->back, net->routers)), cm_way_tracer_free(t));
  if (root != CM_NO_WAY)
    order_from(net, root, t->back, t->slot, t->place);
  for (uint32_t r = 0; r < net->routers && root == CM_NO_WAY; r++)
    t->place[r] = r;
  *tracer = t;
  return CM_OK;
}

void cm_way_tracer_free(cm_way_tracer *tracer)
{
  if (tracer == NULL)
    return;
  CM_FREE(tracer->place, tracer->slot, tracer->back, tracer->node, tracer->before, tracer->child, tracer);
}

static bool is_in(const cm_way_tracer *t, uint32_t router)
{
  uint32_t slot = t->slot[router];
  return slot < t->count && t->node[slot].router == router;
}

static void grow(cm_way_tracer *t, uint32_t link)
{
  const cm_link *k = &t->net->link[link];
  uint32_t parent = t->slot[k->from];
  const cm_way_node *before = &t->node[parent];
  uint32_t channel = before->link == CM_NO_WAY ? 0 : channel_after(t, before->link, before->channel, link);
  t->slot[k->to] = t->count;
  t->node[t->count++] = (cm_way_node){.router = k->to, .parent = parent, .link = link, .channel = (uint16_t)channel};
}

cm_status cm_way_trace(cm_way_tracer *t, const cm_ends *ends, cm_way_tree *tree, uint32_t *lost, cm_error *error)
{
  const uint32_t source = ends->source;
  CM_TRY(CM_ROOM(t->memory, t->node, &t->room, 1, error));
  t->node[0] = (cm_way_node){.router = source, .link = CM_NO_WAY};
  t->slot[source] = 0;
  t->count = 1;
  for (size_t i = 0; i < ends->count; i++) {
    uint32_t at = ends->target[i], links = 0;
    if (!is_in(t, at) && cm_interconnect_hops(t->net, source, at) == CM_NO_WAY) {
      char from[CM_ROUTER_NAME_MAX], to[CM_ROUTER_NAME_MAX];
      cm_router_name(t->net->columns, t->net->rows, source, from);
      cm_router_name(t->net->columns, t->net->rows, at, to);
      *lost = at;
      return cm_fail(error, CM_NO_ROUTE, "dead links leave no way from %s to %s", from, to);
    }
    for (; !is_in(t, at); at = t->net->link[t->back[links - 1]].from)
      t->back[links++] = cm_interconnect_last(t->net, source, at);
    CM_TRY(CM_ROOM(t->memory, t->node, &t->room, (uint64_t)t->count + links, error));
    while (links > 0)
      grow(t, t->back[--links]);
    t->node[t->slot[ends->target[i]]].target = true;
  }
  *tree = (cm_way_tree){t->node, t->count};
  return CM_OK;
}

/* Copies the tree with its new links, and lists who hangs on whom. */
static cm_status prepare_anew(cm_way_tracer *t, const cm_rehung *hung, size_t count, cm_error *error)
{
  uint32_t nodes = t->count;
  CM_TRY(CM_ROOM(t->memory, t->before, &t->before_room, nodes, error));
  CM_TRY(CM_ROOM(t->memory, t->child, &t->child_room, 2 * (uint64_t)nodes, error));
  memcpy(t->before, t->node, nodes * sizeof *t->node);
  for (size_t i = 0; i < count; i++) {
    cm_way_node *n = &t->before[t->slot[hung[i].router]];
    n->link = hung[i].link;
    n->parent = t->slot[t->net->link[hung[i].link].from];
  }
  memset(t->child, 0, 2 * (size_t)nodes * sizeof *t->child);
  for (uint32_t i = nodes; i-- > 1;) {
    uint32_t *first = &t->child[t->before[i].parent];
    t->child[nodes + i] = *first;
    *first = i;
  }
  return CM_OK;
}

cm_status cm_way_rehang(cm_way_tracer *t, const cm_rehung *hung, size_t count, cm_way_tree *tree, cm_error *error)
{
  uint32_t nodes = t->count;
  CM_TRY(prepare_anew(t, hung, count, error));
  t->count = 1;
  t->back[0] = 0; /* numbers before, in the new order */
  for (uint32_t at = 0; at < t->count; at++)
    for (uint32_t i = t->child[t->back[at]]; i != 0; i = t->child[nodes + i]) {
      t->back[t->count] = i;
      grow(t, t->before[i].link);
      t->node[t->count - 1].target = t->before[i].target;
    }
  *tree = (cm_way_tree){t->node, t->count};
  return CM_OK;
}

int64_t cm_interconnect_straight(const cm_interconnect *net, uint32_t link)
{
  const cm_link *k = &net->link[link];
  if (net->kind != CM_GRID && net->kind != CM_HEXAGONAL)
    return CM_NO_LINK;
  int64_t columns = net->columns, rows = net->rows, x = k->to % columns, y = k->to / columns;
  int64_t step_x = x - k->from % columns, step_y = y - k->from / columns; /* more than 1: round a ring, one the other way */
  x += step_x > 1 ? -1 : step_x < -1 ? 1 : step_x;
  y += step_y > 1 ? -1 : step_y < -1 ? 1 : step_y;
  if ((!net->ring_x && (x < 0 || x >= columns)) || (!net->ring_y && (y < 0 || y >= rows)))
    return CM_NO_LINK;
  return cm_interconnect_link(net, k->to, (uint32_t)((y + rows) % rows * columns + (x + columns) % columns));
}

/* ---- the channel dependency graph ---- */

cm_status cm_channels_new(const cm_way_tracer *tracer, uint32_t channels, cm_memory *memory, cm_channels *graph, cm_error *error)
{
  const cm_interconnect *net = tracer->net;
  cm_channels g = {.net = net, .tracer = tracer, .channels = channels};
  CM_TRY(CM_NEW(memory, g.offset, (size_t)net->link_count + 1, error));
  for (uint32_t l = 0; l < net->link_count; l++) {
    uint32_t to = net->link[l].to;
    g.offset[l + 1] = g.offset[l] + net->first[to + 1] - net->first[to];
  }
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(g.used, (size_t)channels * net->link_count),
                       CM_ARRAY(g.next, (size_t)channels * g.offset[net->link_count] / 64 + 1)), cm_channels_free(&g));
  *graph = g;
  return CM_OK;
}

void cm_channels_free(cm_channels *graph)
{
  CM_FREE(graph->offset, graph->used, graph->next);
  *graph = (cm_channels){0};
}

static uint32_t capped(const cm_channels *g, uint32_t channel)
{
  return channel < g->channels ? channel : g->channels - 1;
}

static uint64_t bit_of(const cm_channels *g, uint32_t channel, uint32_t link, uint32_t next)
{
  return channel * g->offset[g->net->link_count] + g->offset[link] + next;
}

void cm_channels_add(cm_channels *g, cm_way_tree tree)
{
  for (uint32_t i = 1; i < tree.count; i++) {
    const cm_way_node *node = &tree.node[i], *before = &tree.node[node->parent];
    g->used[(size_t)capped(g, node->channel) * g->net->link_count + node->link] = 1;
    if (before->link == CM_NO_WAY)
      continue;
    uint64_t bit = bit_of(g, capped(g, before->channel), before->link, node->link - g->net->first[before->router]);
    g->next[bit / 64] |= UINT64_C(1) << bit % 64;
  }
}

void cm_channels_count(const cm_channels *g, uint64_t *channels, uint64_t *arcs)
{
  uint64_t words = g->channels * g->offset[g->net->link_count] / 64 + 1;
  *channels = *arcs = 0;
  for (size_t i = 0; i < (size_t)g->channels * g->net->link_count; i++)
    *channels += g->used[i];
  for (uint64_t i = 0; i < words; i++)
    *arcs += (uint64_t)__builtin_popcountll(g->next[i]);
}

enum { UNSEEN, OPEN, DONE };

typedef struct search {
  const cm_channels *g;
  uint8_t *state;  /* [channels * links] */
  uint32_t *turn;  /* [channels * links] the next way on to look at */
  uint32_t *path;  /* channels under way, by channel * links + link */
  size_t depth;
} search;

/* Depth first from one channel; true when it closed a cycle. */
static bool descend(search *s, uint32_t from)
{
  const cm_interconnect *net = s->g->net;
  s->path[s->depth++] = from;
  s->state[from] = OPEN;
  while (s->depth > 0) {
    uint32_t at = s->path[s->depth - 1], link = at % net->link_count, channel = at / net->link_count, to = net->link[link].to;
    uint32_t ways = net->first[to + 1] - net->first[to], *turn = &s->turn[at];
    for (; *turn < ways; ++*turn) {
      uint64_t bit = bit_of(s->g, channel, link, *turn);
      if (s->g->next[bit / 64] >> bit % 64 & 1)
        break;
    }
    if (*turn == ways) {
      s->state[at] = DONE;
      s->depth--;
      continue;
    }
    uint32_t out = net->first[to] + (*turn)++;
    uint32_t next = capped(s->g, channel_after(s->g->tracer, link, channel, out)) * net->link_count + out;
    if (s->state[next] == OPEN)
      return true;
    if (s->state[next] == UNSEEN) {
      s->state[next] = OPEN;
      s->path[s->depth++] = next;
    }
  }
  return false;
}

cm_status cm_channels_ring(const cm_channels *graph, cm_memory *memory, bool *ring, cm_error *error)
{
  size_t count = (size_t)graph->channels * graph->net->link_count;
  search s = {.g = graph};
  bool found = false;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(s.state, count), CM_ARRAY(s.turn, count), CM_ARRAY(s.path, count));
  for (size_t i = 0; i < count && status == CM_OK && !found; i++)
    found = graph->used[i] && s.state[i] == UNSEEN && descend(&s, (uint32_t)i);
  CM_FREE(s.state, s.turn, s.path);
  CM_END(status, *ring = found, );
}
