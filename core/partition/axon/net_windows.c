#include "core/partition/axon/net_windows.h"

static uint64_t places_of(const cm_hypergraph *g, uint32_t net, uint32_t least)
{
  return g->net_targets[net] > least ? (g->net_targets[net] + CM_WINDOWS_APART - UINT64_C(1)) / CM_WINDOWS_APART : 0;
}

static void pass(cm_targets *targets, uint32_t count)
{
  for (; count > 0 && targets->left > 0; count--)
    (void)cm_targets_next_kept(targets);
}

static void fill(cm_net_windows *w, uint32_t net)
{
  cm_targets at = cm_targets_of(w->graph, net);
  for (uint64_t i = w->first[net]; i < w->first[net + 1]; i++) {
    w->place[i] = at;
    pass(&at, CM_WINDOWS_APART);
  }
}

cm_targets cm_net_windows_of(const cm_net_windows *w, uint32_t net, uint32_t v)
{
  if (w->first == NULL || w->first[net] == w->first[net + 1])
    return cm_targets_of(w->graph, net);
  const uint32_t target = (uint32_t)((uint64_t)v * w->graph->net_targets[net] / w->graph->vertex_count);
  cm_targets some = w->place[w->first[net] + target / CM_WINDOWS_APART];
  pass(&some, target % CM_WINDOWS_APART / CM_WINDOW_TARGETS * CM_WINDOW_TARGETS);
  some.left = some.left < CM_WINDOW_TARGETS ? some.left : CM_WINDOW_TARGETS;
  return some;
}

cm_status cm_net_windows_new(const cm_hypergraph *graph, uint32_t least, cm_run *run, cm_net_windows *windows, cm_error *error)
{
  cm_net_windows made = {.graph = graph};
  uint64_t all = 0;
  for (uint32_t e = 0; e < graph->net_count; e++)
    all += places_of(graph, e, least);
  if (all > 0 && (CM_NEW(run->memory, made.first, (size_t)graph->net_count + 1, error) != CM_OK ||
                  CM_NEW(run->memory, made.place, all, error) != CM_OK)) {
    cm_net_windows_free(&made);
    return error->status;
  }
  for (uint32_t e = 0; all > 0 && e < graph->net_count; e++) {
    made.first[e + 1] = made.first[e] + places_of(graph, e, least);
    fill(&made, e);
  }
  *windows = made;
  return CM_OK;
}

void cm_net_windows_free(cm_net_windows *windows)
{
  CM_FREE(windows->first, windows->place);
  *windows = (cm_net_windows){0};
}
