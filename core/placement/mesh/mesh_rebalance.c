/* Bringing cells within their limits. */
#include "core/placement/mesh/mesh_anneal.h"

#define NONE UINT32_MAX

/* The member of `from` whose move to `to` costs least among those that are not larger than `room`; NONE: none. */
static uint32_t cheapest_member(const cm_mesh_state *s, uint32_t from, uint32_t to, uint64_t room)
{
  uint32_t best = NONE, v = s->head[from];
  int32_t least = INT32_MAX;
  if (v == NONE)
    return NONE;
  do {
    int32_t cost = cm_mesh_cost(s, v, to);
    if (s->graph->size[v] <= room && (cost < least || (cost == least && v < best))) {
      least = cost;
      best = v;
    }
    v = s->next[v];
  } while (v != s->head[from]);
  return best;
}

/* The nearest cell with room for `size`, by breadth first from `from`; before[] tells the way. NONE: none. */
static uint32_t find_room(const cm_mesh_state *s, uint32_t from, uint64_t size, uint32_t *before, uint32_t *queue)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t cells = g->columns * g->rows, tail = 0;
  for (uint32_t c = 0; c < cells; c++)
    before[c] = NONE;
  before[from] = from;
  queue[tail++] = from;
  for (uint32_t head = 0; head < tail; head++) {
    uint32_t c = queue[head], x = g->x[c], y = g->y[c];
    if (c != from && s->load[c] + size <= s->most[c])
      return c;
    uint32_t adjacent[] = {x > 0 ? c - 1 : c, x + 1 < g->columns ? c + 1 : c, y > 0 ? c - g->columns : c,
                           y + 1 < g->rows ? c + g->columns : c};
    for (int k = 0; k < 4; k++)
      if (before[adjacent[k]] == NONE) {
        before[adjacent[k]] = c;
        queue[tail++] = adjacent[k];
      }
  }
  return NONE;
}

/* The size of the smallest member. */
static uint64_t smallest_member(const cm_mesh_state *s, uint32_t cell)
{
  uint64_t least = UINT64_MAX;
  uint32_t v = s->head[cell];
  do {
    least = s->graph->size[v] < least ? s->graph->size[v] : least;
    v = s->next[v];
  } while (v != s->head[cell]);
  return least;
}

/* Relieves one overfull cell by one vertex, through cells that are passed on the way where they have members to send
 * on. */
static bool relieve(cm_mesh_state *s, uint32_t cell, uint32_t *before, uint32_t *queue)
{
  uint32_t room = find_room(s, cell, smallest_member(s, cell), before, queue);
  if (room == NONE)
    return false;
  uint32_t to = room; /* from the far end, so that each receiver has room */
  while (to != cell) {
    uint32_t from = before[to];
    while (from != cell && s->head[from] == NONE)
      from = before[from]; /* nobody lives there: step over it */
    uint32_t v = cheapest_member(s, from, to, s->most[to] > s->load[to] ? s->most[to] - s->load[to] : 0);
    if (v == NONE && from != cell) { /* none is small enough: from farther away then */
      before[to] = before[from];
      continue;
    }
    if (v == NONE)
      return false;
    bool overfull = s->load[from] > s->most[from];
    cm_mesh_move(s, v, to);
    if (overfull)
      return true; /* met on the way: it is the one relieved */
    to = from;
  }
  return true;
}

cm_status cm_mesh_rebalance(cm_mesh_state *s, cm_error *error)
{
  uint32_t cells = s->grid->columns * s->grid->rows, *before, *queue = NULL;
  cm_status status = CM_NEW_ALL(s->run->memory, error, CM_ARRAY(before, cells), CM_ARRAY(queue, cells));
  for (uint32_t c = 0; c < cells && status == CM_OK; c++)
    for (uint64_t moves = 0; s->load[c] > s->most[c] && status == CM_OK; moves++)
      if (moves > s->graph->vertex_count || !relieve(s, c, before, queue))
        status = cm_fail(error, CM_LIMIT_BROKEN,
                         "no way was found to fit all neurons: a core would hold %llu of at most %llu",
                         (unsigned long long)s->load[c], (unsigned long long)s->most[c]);
  CM_FREE(before, queue);
  return status;
}
