#include "core/partition/nets/net_fm.h"
#include "core/partition/unload.h"

static uint32_t target(const cm_unload *u, void *state, uint32_t v, int64_t *gain)
{
  const cm_net_state *s = state;
  const cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t own = s->part[v], size = s->graph->size[v], emptiest = cm_unload_emptiest(u);
  uint32_t best = emptiest != own && cm_unload_room(u, emptiest) >= size ? emptiest : CM_UNLOAD_NOWHERE;
  int64_t tied = best != CM_UNLOAD_NOWHERE ? 0 : -1;
  for (uint32_t i = 0; i < s->tie_count[v]; i++) {
    uint32_t p = row[i].part;
    uint64_t room = cm_unload_room(u, p);
    if (p == own || room < size || row[i].weight < tied)
      continue;
    if (row[i].weight > tied || best == CM_UNLOAD_NOWHERE || room > cm_unload_room(u, best) ||
        (room == cm_unload_room(u, best) && p < best)) {
      tied = row[i].weight;
      best = p;
    }
  }
  *gain = s->alone[v] - s->degree[v] + tied;
  return best;
}

static void move(void *state, uint32_t v, uint32_t to, const uint32_t **affected, uint64_t *count)
{
  cm_net_state *s = state;
  cm_net_forget_touched(s);
  cm_net_move(s, v, to);
  *affected = s->touched;
  *count = s->touched_count;
}

cm_status cm_net_rebalance(cm_net_state *state, const uint64_t *most, cm_run *run, int64_t *gain, cm_error *error)
{
  cm_unload_view view = {.state = state, .vertices = state->graph->vertex_count, .parts = state->parts,
                         .size = state->graph->size, .part = state->part, .load = state->load, .most = most,
                         .target = target, .move = move};
  return cm_unload_parts(&view, run, gain, error);
}
