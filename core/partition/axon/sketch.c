#include "core/partition/axon/sketch.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"

enum { BINS_LEAST = 8, SLICES = 64, EMPTY = UINT16_MAX };
#define NONE UINT32_MAX

void cm_sketches_free(cm_sketches *sketches)
{
  if (sketches == NULL)
    return;
  cm_free(sketches->rank);
  cm_free(sketches->key);
  cm_free(sketches);
}

static cm_status sketches_empty(uint32_t vertices, uint32_t bins, cm_run *run, cm_sketches **sketches, cm_error *error)
{
  cm_sketches *s;
  if (CM_NEW(run->memory, s, 1, error) != CM_OK)
    return error->status;
  *s = (cm_sketches){.vertex_count = vertices, .bins = bins};
  size_t count = (size_t)vertices * bins, keys = (size_t)vertices * CM_SKETCH_KEYS;
  if (CM_NEW(run->memory, s->rank, count, error) != CM_OK || CM_NEW(run->memory, s->key, keys, error) != CM_OK) {
    cm_sketches_free(s);
    return error->status;
  }
  memset(s->rank, 0xff, count * sizeof *s->rank);
  memset(s->key, 0xff, keys * sizeof *s->key);
  *sketches = s;
  return CM_OK;
}

typedef struct sketching {
  const cm_hypergraph *graph;
  cm_sketches *sketches;
  uint64_t seed;
} sketching;

static cm_status sketch_slice(void *context, size_t slice, cm_error *error)
{
  (void)error;
  sketching *w = context;
  const cm_hypergraph *g = w->graph;
  uint64_t bins = w->sketches->bins, end = cm_slice_begin(g->vertex_count, slice + 1, SLICES);
  for (uint64_t v = cm_slice_begin(g->vertex_count, slice, SLICES); v < end; v++) {
    uint32_t least[CM_SKETCH_BINS_MAX];
    memset(least, 0xff, sizeof least);
    for (uint64_t j = g->in_first[v]; j < g->in_first[v + 1]; j++) {
      uint64_t hash = cm_mix(w->seed + g->in_net[j] * UINT64_C(0x9e3779b97f4a7c15));
      uint32_t here = (uint32_t)hash, *bin = &least[(hash >> 32) * bins >> 32];
      *bin = here < *bin ? here : *bin;
    }
    for (uint64_t b = 0; b < bins; b++)
      w->sketches->rank[v * bins + b] = (uint16_t)(least[b] == NONE ? EMPTY : least[b] >> 16 < EMPTY ? least[b] >> 16 : EMPTY - 1);
    for (uint64_t b = 0; b < CM_SKETCH_KEYS; b++)
      w->sketches->key[v * CM_SKETCH_KEYS + b] = b < bins ? least[b] : NONE;
  }
  return CM_OK;
}

cm_status cm_sketches_new(const cm_hypergraph *graph, uint32_t bins_max, uint64_t seed, cm_run *run,
                          cm_sketches **sketches, cm_error *error)
{
  uint64_t mean = graph->vertex_count > 0 ? graph->pin_count / graph->vertex_count : 0;
  uint32_t bins = bins_max;
  while (bins > BINS_LEAST && bins > mean)
    bins -= CM_SKETCH_LANES;
  if (sketches_empty(graph->vertex_count, bins, run, sketches, error) != CM_OK)
    return error->status;
  sketching w = {.graph = graph, .sketches = *sketches, .seed = cm_mix(seed + 1)};
  if (cm_parallel(run, SLICES, sketch_slice, &w, error) == CM_OK)
    return CM_OK;
  cm_sketches_free(*sketches);
  return error->status;
}

cm_status cm_sketches_merge(const cm_sketches *sketches, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_sketches **coarse, cm_error *error)
{
  uint32_t bins = sketches->bins;
  if (sketches_empty(coarse_count, bins, run, coarse, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < sketches->vertex_count; v++) {
    const uint16_t *from = sketches->rank + (size_t)v * bins;
    uint16_t *to = (*coarse)->rank + (size_t)map[v] * bins;
    for (uint32_t b = 0; b < bins; b++)
      to[b] = from[b] < to[b] ? from[b] : to[b];
    const uint32_t *key = sketches->key + (size_t)v * CM_SKETCH_KEYS;
    uint32_t *merged = (*coarse)->key + (size_t)map[v] * CM_SKETCH_KEYS;
    for (uint32_t b = 0; b < CM_SKETCH_KEYS; b++)
      merged[b] = key[b] < merged[b] ? key[b] : merged[b];
  }
  return CM_OK;
}
