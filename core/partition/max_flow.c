#include "core/partition/max_flow.h"

#include <string.h>

#define NONE UINT32_MAX

void cm_flow_free(cm_flow *f)
{
  CM_FREE(f->pair, f->first, f->arc, f->owner, f->end);
  for (int side = 0; side < 2; side++)
    CM_FREE(f->open[side], f->reach[side], f->reached[side]);
  CM_FREE(f->depth, f->alike, f->next, f->path);
  *f = (cm_flow){.memory = f->memory};
}

/* Arrays of all nodes. */
static cm_status make_room(cm_flow *f, uint32_t nodes, cm_error *error)
{
  if (nodes <= f->node_room)
    return CM_OK;
  cm_flow_pair *pair = f->pair;
  cm_flow_arc *arc = f->arc;
  cm_flow kept = {.memory = f->memory, .pair_capacity = f->pair_capacity, .arc_capacity = f->arc_capacity};
  f->pair = NULL;
  f->arc = NULL;
  cm_flow_free(f);
  *f = kept;
  f->pair = pair;
  f->arc = arc;
  uint64_t room = nodes + (uint64_t)nodes / 2;
  for (int side = 0; side < 2; side++)
    CM_TRY(CM_NEW_ALL(f->memory, error, CM_ARRAY(f->open[side], room), CM_ARRAY(f->reach[side], room), CM_ARRAY(f->reached[side], room)));
  CM_TRY(CM_NEW_ALL(f->memory, error, CM_ARRAY(f->first, room + 1), CM_ARRAY(f->owner, room), CM_ARRAY(f->end, room), CM_ARRAY(f->depth, room),
                    CM_ARRAY(f->alike, room), CM_ARRAY(f->next, room), CM_ARRAY(f->path, room)));
  f->node_room = room;
  return CM_OK;
}

cm_status cm_flow_begin(cm_flow *f, uint32_t nodes, cm_error *error)
{
  CM_TRY(make_room(f, nodes, error));
  f->nodes = nodes;
  f->pairs = 0;
  f->value = 0;
  f->looks = 0;
  memset(f->owner, CM_FLOW_NEITHER, nodes);
  memset(f->end, CM_FLOW_NEITHER, nodes);
  for (int side = 0; side < 2; side++) {
    f->open_count[side] = f->reach_count[side] = 0;
    memset(f->reached[side], 0, nodes * sizeof *f->reached[side]);
    f->stamp[side] = 1;
  }
  return CM_OK;
}

cm_status cm_flow_add(cm_flow *f, uint32_t from, uint32_t to, int64_t there, int64_t back, cm_error *error)
{
  CM_TRY(CM_ROOM(f->memory, f->pair, &f->pair_capacity, (uint64_t)f->pairs + 1, error));
  f->pair[f->pairs++] = (cm_flow_pair){there, back, from, to};
  return CM_OK;
}

cm_status cm_flow_ready(cm_flow *f, cm_error *error)
{
  uint64_t arcs = 2 * (uint64_t)f->pairs;
  if (arcs >= NONE)
    return cm_fail(error, CM_TOO_LARGE, "a flow network of %llu arcs is beyond this method", (unsigned long long)arcs);
  CM_TRY(CM_ROOM(f->memory, f->arc, &f->arc_capacity, arcs, error));
  memset(f->first, 0, ((size_t)f->nodes + 1) * sizeof *f->first);
  for (uint32_t i = 0; i < f->pairs; i++) {
    f->first[f->pair[i].from + 1]++;
    f->first[f->pair[i].to + 1]++;
  }
  for (uint32_t v = 0; v < f->nodes; v++) {
    f->first[v + 1] += f->first[v];
    f->next[v] = f->first[v];
  }
  for (uint32_t i = 0; i < f->pairs; i++) {
    cm_flow_pair p = f->pair[i];
    uint32_t a = f->next[p.from]++, b = f->next[p.to]++;
    f->arc[a] = (cm_flow_arc){p.there, p.to, b};
    f->arc[b] = (cm_flow_arc){p.back, p.from, a};
  }
  return CM_OK;
}

void cm_flow_take(cm_flow *f, unsigned side, uint32_t node)
{
  f->open[side][f->open_count[side]++] = node;
  f->end[node] = (uint8_t)side;
}

void cm_flow_close(cm_flow *f, unsigned side)
{
  for (uint32_t i = 0; i < f->reach_count[side]; i++) {
    f->owner[f->reach[side][i]] = (uint8_t)side;
    f->end[f->reach[side][i]] = CM_FLOW_NEITHER;
  }
  f->open_count[side] = f->reach_count[side] = 0;
}

/* What an arc can still carry away from a side: forwards for the source's, backwards for the sink's. */
static inline int64_t rest_of(const cm_flow *f, unsigned side, const cm_flow_arc *arc)
{
  return side == 0 ? arc->rest : f->arc[arc->reverse].rest;
}

void cm_flow_search(cm_flow *f, unsigned side)
{
  uint32_t *queue = f->reach[side], *reached = f->reached[side], stamp = ++f->stamp[side], count = 0;
  for (uint32_t i = 0; i < f->open_count[side]; i++) {
    uint32_t v = f->open[side][i];
    queue[count++] = v;
    reached[v] = stamp;
    f->depth[v] = 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = queue[i];
    f->looks += f->first[v + 1] - f->first[v];
    for (uint32_t a = f->first[v]; a < f->first[v + 1]; a++) {
      uint32_t to = f->arc[a].to;
      if (reached[to] == stamp || f->owner[to] != CM_FLOW_NEITHER || rest_of(f, side, &f->arc[a]) == 0)
        continue;
      reached[to] = stamp;
      f->depth[to] = f->depth[v] + 1;
      queue[count++] = to;
    }
  }
  f->reach_count[side] = count;
}

/* Carries as much as the path can; returns how much of it is left before the first arc that is full now. */
static uint32_t carry(cm_flow *f, unsigned side, uint32_t length)
{
  int64_t most = INT64_MAX;
  uint32_t left = 0;
  for (uint32_t i = length; i > 0; i--) {
    int64_t rest = rest_of(f, side, &f->arc[f->path[i - 1]]);
    if (rest <= most) {
      most = rest;
      left = i - 1;
    }
  }
  for (uint32_t i = 0; i < length; i++) {
    cm_flow_arc *arc = &f->arc[f->path[i]], *back = &f->arc[arc->reverse];
    arc->rest += side == 0 ? -most : most;
    back->rest += side == 0 ? most : -most;
  }
  f->value += most;
  return left;
}

/* How far nodes are at least from the open nodes of the other side, and how many are so far. NONE: no way leads there. */
static void find_depths(cm_flow *f, unsigned side)
{
  cm_flow_search(f, 1 - side);
  memset(f->alike, 0, f->nodes * sizeof *f->alike);
  for (uint32_t v = 0; v < f->nodes; v++) {
    f->next[v] = f->first[v];
    if (f->reached[1 - side][v] != f->stamp[1 - side])
      f->depth[v] = NONE;
    else
      f->alike[f->depth[v]]++;
  }
}

/* A node whose arcs lead no nearer is farther away than was known. False: no node is as far as it was, and none behind it finds a way. */
static bool put_back(cm_flow *f, unsigned side, uint32_t v)
{
  uint32_t least = NONE, before = f->depth[v];
  f->looks += f->first[v + 1] - f->first[v];
  for (uint32_t a = f->first[v]; a < f->first[v + 1]; a++) {
    const cm_flow_arc *arc = &f->arc[a];
    if (f->depth[arc->to] < least && f->owner[arc->to] == CM_FLOW_NEITHER && rest_of(f, side, arc) > 0) {
      least = f->depth[arc->to];
      f->next[v] = a;
    }
  }
  f->depth[v] = least < f->nodes ? least + 1 : NONE;
  if (f->depth[v] < f->nodes)
    f->alike[f->depth[v]]++;
  return --f->alike[before] > 0;
}

/* As much as an open node can send, by shortest ways, while the flow is less than `enough`. */
static void send_from(cm_flow *f, unsigned side, uint32_t start, int64_t enough)
{
  uint32_t length = 0, v = start;
  while (f->value < enough && f->depth[start] < f->nodes) {
    if (f->end[v] == 1 - side) {
      length = carry(f, side, length);
      v = f->arc[f->arc[f->path[length]].reverse].to;
      continue;
    }
    uint32_t a = f->next[v], end = f->first[v + 1];
    f->looks += end - a;
    while (a < end) {
      const cm_flow_arc *arc = &f->arc[a];
      if (f->depth[arc->to] + 1 == f->depth[v] && f->owner[arc->to] == CM_FLOW_NEITHER && rest_of(f, side, arc) > 0)
        break;
      a++;
    }
    f->next[v] = a;
    f->looks -= end - a;
    if (a < end) {
      f->path[length++] = a;
      v = f->arc[a].to;
    } else if (!put_back(f, side, v))
      return;
    else if (length > 0)
      v = f->arc[f->arc[f->path[--length]].reverse].to;
  }
}

void cm_flow_maximise(cm_flow *f, unsigned side, int64_t enough)
{
  for (uint32_t i = 0; i < f->open_count[side]; i++) {
    find_depths(f, side);
    send_from(f, side, f->open[side][i], enough);
  }
  cm_flow_search(f, side);
  cm_flow_search(f, 1 - side);
}
