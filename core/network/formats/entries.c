/* Edges in any order become rows: what the readers of tables, graphs and circuits have in common. */
#include "core/network/formats/entries.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"

cm_status cm_entries_add(cm_entries *l, uint32_t from, uint32_t to, double weight, double delay_ms, cm_error *error)
{
  if (l->count >= l->limit)
    return cm_over_limit("edges", l->count + 1, l->limit, error);
  if (CM_ROOM(l->memory, l->from, &l->from_room, l->count + 1, error) != CM_OK ||
      CM_ROOM(l->memory, l->to, &l->to_room, l->count + 1, error) != CM_OK ||
      cm_weights_keep(&l->weight, l->memory, l->count, l->from_room, weight, error) != CM_OK ||
      ((delay_ms >= 0 || l->weight.delay_ms != NULL) &&
       cm_weights_keep_delay(&l->weight, l->memory, l->count, l->from_room, delay_ms > 0 ? delay_ms : 0, error) != CM_OK))
    return error->status;
  l->from[l->count] = from;
  l->to[l->count++] = to;
  return CM_OK;
}

void cm_entries_free(cm_entries *l)
{
  CM_FREE(l->from, l->to);
  cm_weights_free(&l->weight);
  l->from = l->to = NULL;
}

uint64_t cm_entries_drop_loops(cm_entries *e)
{
  const uint64_t before = e->count;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < before; i++) {
    if (e->from[i] == e->to[i])
      continue;
    e->from[kept] = e->from[i];
    e->to[kept] = e->to[i];
    if (e->weight.value != NULL)
      e->weight.value[kept] = e->weight.value[i];
    if (e->weight.delay_ms != NULL)
      e->weight.delay_ms[kept] = e->weight.delay_ms[i];
    kept++;
  }
  e->count = kept;
  return before - kept;
}

static void swap(double *value, uint64_t a, uint64_t b)
{
  if (value == NULL)
    return;
  double kept = value[a];
  value[a] = value[b];
  value[b] = kept;
}

/* Groups the edges by source in place (American flag sort); first [vertex_count + 1] is filled. */
static cm_status group(cm_entries *l, uint32_t vertex_count, uint64_t *first, cm_error *error)
{
  uint64_t *next, steps = 0;
  CM_TRY(CM_NEW(l->memory, next, vertex_count, error));
  for (uint64_t e = 0; e < l->count; e++)
    first[l->from[e] + 1]++;
  for (uint32_t v = 0; v < vertex_count; v++) {
    first[v + 1] += first[v];
    next[v] = first[v];
  }
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < vertex_count && status == CM_OK; v++) {
    while (next[v] < first[v + 1] && status == CM_OK) {
      if (cm_run_due(&steps, 1))
        status = cm_run_check(l->run, error);
      uint64_t here = next[v], there = next[l->from[here]]++;
      if (here == there)
        continue;
      uint32_t from = l->from[here], to = l->to[here];
      l->from[here] = l->from[there];
      l->to[here] = l->to[there];
      l->from[there] = from;
      l->to[there] = to;
      swap(l->weight.value, here, there);
      swap(l->weight.delay_ms, here, there);
    }
  }
  cm_free(next);
  return status;
}

cm_status cm_entries_close(cm_entries *l, cm_topology *made, cm_error *error)
{
  CM_TRY(CM_NEW(l->memory, made->net_first, (size_t)made->vertex_count + 1, error));
  CM_TRY(group(l, made->vertex_count, made->net_first, error));
  CM_TRY_IF(l->to == NULL, CM_NEW(l->memory, l->to, 0, error));
  cm_free(l->from);
  l->from = NULL;
  made->pin = l->to;
  l->to = NULL;
  CM_TRY(cm_weighted_rows_close(made, &l->weight, l->run, error));
  CM_TRY(cm_weighted_rows_scale(made, &l->weight, l->run, error));
  CM_TRIM(l->memory, made->pin, made->pin_count);
  CM_TRIM(l->memory, made->net_first, (uint64_t)made->net_count + 1);
  if (made->net_source != NULL)
    CM_TRIM(l->memory, made->net_source, made->net_count);
  return CM_OK;
}
