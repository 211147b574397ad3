/* A coarser level: each thread merges the targets of a range of nets, to where they would stand if nothing merged; then
 * the gaps between ranges are closed. */
#include <string.h>

#include "base/threads.h"
#include "core/partition/axon/hypergraph_internal.h"

typedef struct merging {
  const cm_hypergraph *fine;
  const uint32_t *map; /* by what the finer graph keeps */
  cm_hypergraph *coarse;
  cm_run *run;
  uint32_t ranges;
  uint32_t width; /* bits of a target */
  uint64_t place[CM_RANGES_MAX + 1]; /* first byte of a range if nothing merged */
  uint64_t used[CM_RANGES_MAX];      /* bytes that it has */
  uint64_t pins[CM_RANGES_MAX];
} merging;

static uint32_t first_net(const merging *w, size_t range)
{
  return (uint32_t)cm_slice_begin(w->coarse->net_count, range, w->ranges);
}

/* The net's targets as coarse vertices, each once, in the order in which they first appear; returns where they end. */
static unsigned char *merge_net(const merging *w, uint32_t e, uint32_t *seen, unsigned char *to)
{
  cm_hypergraph *g = w->coarse;
  uint32_t targets = 0;
  for (cm_targets t = cm_targets_of(w->fine, e); t.left > 0;) {
    uint32_t c = w->map[cm_targets_next_kept(&t)];
    if (seen[c] == e + 1)
      continue;
    seen[c] = e + 1;
    cm_list_put_low(to, (uint64_t)targets++ * w->width, w->width, c);
  }
  g->net_targets[e] = targets;
  return to + cm_list_low_bytes(targets, w->width);
}

static cm_status merge_range(void *context, size_t range, cm_error *error)
{
  merging *w = context;
  cm_hypergraph *g = w->coarse;
  uint32_t *seen;
  CM_TRY(CM_NEW(w->run->memory, seen, g->vertex_count, error));
  unsigned char *begin = g->own_code + w->place[range], *to = begin;
  uint64_t pins = 0;
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++) {
    g->net_begin[e] = (uint64_t)(to - begin);
    to = merge_net(w, e, seen, to);
    pins += g->net_targets[e];
  }
  w->pins[range] = pins;
  w->used[range] = (uint64_t)(to - begin);
  cm_free(seen);
  return cm_run_check(w->run, error);
}

static cm_status close_gaps(merging *w, cm_error *error)
{
  cm_hypergraph *g = w->coarse;
  uint64_t total = 0;
  g->pin_count = 0;
  for (uint32_t range = 0; range < w->ranges; range++) {
    memmove(g->own_code + total, g->own_code + w->place[range], w->used[range]);
    for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
      g->net_begin[e] += total;
    total += w->used[range];
    g->pin_count += w->pins[range];
  }
  total += CM_LIST_BEYOND;
  CM_TRY(cm_book_reserved(g->own_code, total, error));
  unsigned char *code = cm_reallocate(w->run->memory, g->own_code, total, sizeof *code, error);
  if (code == NULL)
    return error->status;
  g->code = g->own_code = code;
  return CM_OK;
}

static cm_status merge_pins(merging *w, cm_error *error)
{
  const cm_hypergraph *fine = w->fine;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->coarse->net_begin, w->coarse->net_count),
                    CM_ARRAY(w->coarse->net_targets, w->coarse->net_count)));
  w->width = cm_list_bits(w->coarse->vertex_count);
  w->ranges = w->run->threads < CM_RANGES_MAX ? w->run->threads : CM_RANGES_MAX;
  for (uint32_t range = 0; range < w->ranges; range++) {
    w->place[range + 1] = w->place[range] + CM_LIST_BEYOND;
    for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
      w->place[range + 1] += cm_list_low_bytes(fine->net_targets[e], w->width);
  }
  w->coarse->own_code = cm_reserve(w->run->memory, w->place[w->ranges], sizeof *w->coarse->own_code, error);
  if (w->coarse->own_code == NULL)
    return error->status;
  CM_TRY(cm_parallel(w->run, w->ranges, merge_range, w, error));
  return close_gaps(w, error);
}

/* The map by what the finer graph keeps: NULL where that is the vertices themselves. */
static cm_status map_kept(const cm_hypergraph *fine, const uint32_t *map, cm_run *run, uint32_t **made, cm_error *error)
{
  *made = NULL;
  if (fine->number == NULL)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, *made, fine->vertex_count, error));
  for (uint32_t v = 0; v < fine->vertex_count; v++)
    (*made)[v] = map[fine->number[v]];
  return CM_OK;
}

cm_status cm_hypergraph_merge_targets(const cm_hypergraph *fine, const uint32_t *map, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  uint32_t *kept;
  CM_TRY(map_kept(fine, map, run, &kept, error));
  merging w = {.fine = fine, .map = kept != NULL ? kept : map, .coarse = g, .run = run};
  cm_status status = merge_pins(&w, error);
  cm_free(kept);
  CM_END(status, (void)0, cm_hypergraph_drop_targets(g));
}

static cm_status contract(const cm_hypergraph *fine, const uint32_t *map, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  g->net_count = fine->net_count;
  g->net_weight = fine->net_weight;
  g->reach_max = fine->reach_max;
  g->net_size = fine->net_size;
  CM_TRY(cm_hypergraph_arrays(g, run, error));
  for (uint32_t v = 0; v < fine->vertex_count; v++) {
    g->size[map[v]] += fine->size[v];
    g->synapses[map[v]] += fine->synapses[v];
  }
  for (uint32_t e = 0; e < g->net_count; e++)
    g->net_source[e] = map[fine->net_source[e]];
  CM_TRY(cm_hypergraph_merge_targets(fine, map, g, run, error));
  return cm_hypergraph_list_outbound(g, run, error);
}

cm_status cm_hypergraph_contract(const cm_hypergraph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                 cm_hypergraph **coarse, cm_error *error)
{
  cm_hypergraph *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->vertex_count = coarse_count;
  cm_status status = contract(graph, map, made, run, error);
  CM_END(status, *coarse = made, cm_hypergraph_free(made));
}
