#include "core/partition/edge/kway_fm.h"
#include "core/partition/unload.h"

uint64_t cm_kway_excess(const cm_kway *s, uint64_t most)
{
  uint64_t sum = 0;
  for (uint32_t p = 0; p < s->parts; p++)
    sum += s->load[p] > most ? s->load[p] - most : 0;
  return sum;
}

static uint32_t target(const cm_unload *u, void *state, uint32_t v, int64_t *gain)
{
  const cm_kway *s = state;
  uint32_t own = s->part[v], size = s->graph->size[v], count = cm_kway_ties(s, v), emptiest = cm_unload_emptiest(u);
  uint32_t best = emptiest != own && cm_unload_room(u, emptiest) >= size ? emptiest : CM_UNLOAD_NOWHERE;
  int64_t tied = best != CM_UNLOAD_NOWHERE ? 0 : -1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t p;
    int64_t tie = cm_kway_tie_at(s, v, i, &p);
    uint64_t room = cm_unload_room(u, p);
    if (p == own || room < size || tie < tied)
      continue;
    if (tie > tied || best == CM_UNLOAD_NOWHERE || room > cm_unload_room(u, best) ||
        (room == cm_unload_room(u, best) && p < best)) {
      tied = tie;
      best = p;
    }
  }
  *gain = tied - s->vertex[v].inner;
  return best;
}

static void move(void *state, uint32_t v, uint32_t to, const uint32_t **affected, uint64_t *count)
{
  cm_kway *s = state;
  const cm_csr_graph *g = s->graph;
  cm_kway_move(s, v, to);
  *affected = g->neighbour + g->first[v];
  *count = g->first[v + 1] - g->first[v];
}

cm_status cm_kway_relieve(cm_kway *state, uint64_t most, int64_t *gain, cm_error *error)
{
  cm_unload_view view = {.state = state, .vertices = state->graph->vertex_count, .parts = state->parts,
                         .size = state->graph->size, .part = state->part, .load = state->load, .most_of_all = most,
                         .target = target, .move = move};
  return cm_unload_parts(&view, state->run, gain, error);
}
