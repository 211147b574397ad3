#include "core/chip/dependency.h"

cm_status cm_dependencies_new(const cm_chip *chip, cm_memory *memory, cm_dependencies *graph, cm_error *error)
{
  cm_dependencies g = {.routers_x = cm_chip_routers_x(chip), .routers_y = cm_chip_routers_y(chip), .low = UINT32_MAX};
  size_t routers = (size_t)g.routers_x * g.routers_y;
  if ((g.used = cm_reserve(memory, routers, sizeof *g.used, error)) == NULL ||
      (g.next = cm_reserve(memory, routers * CM_DIRECTIONS, sizeof *g.next, error)) == NULL) {
    cm_dependencies_free(&g);
    return error->status;
  }
  *graph = g;
  return CM_OK;
}

void cm_dependencies_free(cm_dependencies *graph)
{
  CM_FREE(graph->used, graph->next);
  *graph = (cm_dependencies){0};
}

void cm_dependencies_add_tree(cm_dependencies *graph, const cm_chip *chip, const cm_tree *tree)
{
  for (size_t i = 0; i < tree->count; i++) {
    const cm_tree_node *node = &tree->node[i];
    if (node->in == CM_NO_DIRECTION)
      continue;
    uint32_t before = cm_router_beyond(chip, node->router, cm_direction_back((cm_direction)node->in));
    uint32_t link = before * CM_DIRECTIONS + node->in;
    cm_dependencies_use(graph, link);
    for (unsigned out = node->out; out != 0; out &= out - 1)
      cm_dependencies_add(graph, link, (cm_direction)__builtin_ctz(out));
  }
}

void cm_dependencies_count(const cm_dependencies *graph, uint64_t *channels, uint64_t *arcs)
{
  *channels = *arcs = 0;
  for (size_t r = graph->low / CM_DIRECTIONS; r * CM_DIRECTIONS < graph->high; r++)
    *channels += (uint64_t)__builtin_popcount(graph->used[r]);
  for (size_t l = graph->low; l < graph->high; l++)
    *arcs += (uint64_t)__builtin_popcount(graph->next[l]);
}

/* The router that a link leads to, around the edge where it leaves the array. */
static uint32_t beyond(const cm_dependencies *g, uint32_t link)
{
  uint32_t router = link / CM_DIRECTIONS, x = router % g->routers_x, y = router / g->routers_x;
  switch ((cm_direction)(link % CM_DIRECTIONS)) {
    case CM_EAST: x = x + 1 < g->routers_x ? x + 1 : 0; break;
    case CM_WEST: x = x > 0 ? x - 1 : g->routers_x - 1; break;
    case CM_SOUTH: y = y + 1 < g->routers_y ? y + 1 : 0; break;
    default: y = y > 0 ? y - 1 : g->routers_y - 1; break;
  }
  return y * g->routers_x + x;
}

enum { UNSEEN, OPEN, DONE };

/* A search, all arrays from the first noted link on. */
typedef struct search {
  uint8_t *state, *turn;
  uint32_t *path; /* [depth] the way under way */
  size_t depth;
} search;

/* Depth first from one link. True when the way closed a cycle, at *closing. */
static bool descend(const cm_dependencies *g, uint32_t from, search *s, uint32_t *closing)
{
  uint8_t *state = s->state;
  s->path[s->depth++] = from;
  state[from - g->low] = OPEN;
  while (s->depth > 0) {
    uint32_t link = s->path[s->depth - 1];
    uint8_t *way = &s->turn[link - g->low];
    while (*way < CM_DIRECTIONS && !(g->next[link] >> *way & 1))
      ++*way;
    if (*way == CM_DIRECTIONS) {
      state[link - g->low] = DONE;
      s->depth--;
      continue;
    }
    uint32_t next = beyond(g, link) * CM_DIRECTIONS + (*way)++;
    if (next < g->low || next >= g->high) /* nothing was noted of it: no way goes on from there */
      continue;
    if (state[next - g->low] == OPEN) {
      *closing = next;
      return true;
    }
    if (state[next - g->low] == UNSEEN) {
      state[next - g->low] = OPEN;
      s->path[s->depth++] = next;
    }
  }
  return false;
}

cm_status cm_dependencies_cycle(const cm_dependencies *graph, cm_memory *memory, uint32_t **cycle, size_t *length,
                                cm_error *error)
{
  size_t links = graph->high > graph->low ? graph->high - graph->low : 0, found = 0;
  search s = {0};
  uint32_t *list = NULL, closing;
  CM_TRY(cm_book_reserved(graph->next, links + links / CM_DIRECTIONS, error));
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(s.state, links), CM_ARRAY(s.turn, links), CM_ARRAY(s.path, links));
  for (uint32_t link = graph->low; status == CM_OK && link < graph->high && found == 0; link++) {
    if (s.state[link - graph->low] != UNSEEN || graph->next[link] == 0 || !descend(graph, link, &s, &closing))
      continue;
    size_t first = s.depth - 1;
    while (s.path[first] != closing)
      first--;
    found = s.depth - first;
    status = CM_NEW(memory, list, found, error);
    for (size_t i = 0; status == CM_OK && i < found; i++)
      list[i] = s.path[first + i];
  }
  CM_FREE(s.state, s.turn, s.path);
  CM_TRY(status);
  *cycle = list;
  *length = found;
  return CM_OK;
}

static cm_status tell_cycle(const cm_dependencies *g, const uint32_t *cycle, size_t length, cm_error *error)
{
  char text[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < length && used + 60 < sizeof text; i++) {
    uint32_t router = cycle[i] / CM_DIRECTIONS;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s(%u, %u) %s", i > 0 ? ", " : "", router % g->routers_x,
                             router / g->routers_x, cm_direction_name((cm_direction)(cycle[i] % CM_DIRECTIONS)));
  }
  return cm_fail(error, CM_INTERNAL, "the routes could block each other: a ring of %zu links wait for each other: %s",
                 length, text);
}

cm_status cm_dependencies_check(const cm_dependencies *graph, cm_memory *memory, cm_error *error)
{
  uint32_t *cycle = NULL;
  size_t length = 0;
  cm_status status = cm_dependencies_cycle(graph, memory, &cycle, &length, error);
  CM_THEN_IF(status, length > 0, tell_cycle(graph, cycle, length, error));
  cm_free(cycle);
  return status;
}
