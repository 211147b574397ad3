#include "core/partition/axon/sketch.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"

#define NONE UINT32_MAX

void cm_sketches_free(cm_sketches *sketches)
{
  if (sketches == NULL)
    return;
  CM_FREE(sketches->rank, sketches->key, sketches);
}

static cm_status sketches_empty(uint32_t vertices, uint32_t bins, cm_run *run, cm_sketches **sketches, cm_error *error)
{
  cm_sketches *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  *s = (cm_sketches){.vertex_count = vertices, .bins = bins};
  size_t count = (size_t)vertices * bins, keys = (size_t)vertices * CM_SKETCH_KEYS;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(s->rank, count), CM_ARRAY(s->key, keys)), cm_sketches_free(s));
  memset(s->rank, 0xff, count * sizeof *s->rank);
  memset(s->key, 0xff, keys * sizeof *s->key);
  *sketches = s;
  return CM_OK;
}

typedef struct sketching {
  const cm_hypergraph *graph;
  cm_sketches *sketches;
  cm_run *run;
  uint64_t seed;
  uint32_t *begin; /* [bins + 1] where the nets of a bin begin */
  uint32_t *net;   /* [nets] by the bin that they fall into */
} sketching;

static uint64_t hash_of(const sketching *w, uint32_t e)
{
  return cm_mix(w->seed + e * UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t bin_of(const sketching *w, uint32_t e)
{
  return (uint32_t)((hash_of(w, e) >> 32) * w->sketches->bins >> 32);
}

static void sort_nets(sketching *w)
{
  uint32_t nets = w->graph->net_count, bins = w->sketches->bins, next[CM_SKETCH_BINS_MAX + 1] = {0};
  for (uint32_t e = 0; e < nets; e++)
    next[bin_of(w, e) + 1]++;
  for (uint32_t b = 0; b < bins; b++)
    w->begin[b + 1] = next[b + 1] += next[b];
  for (uint32_t e = 0; e < nets; e++)
    w->net[next[bin_of(w, e)]++] = e;
}

static void write_bin(const sketching *w, uint32_t bin, const uint32_t *least)
{
  const uint32_t *number = w->graph->number;
  uint32_t bins = w->sketches->bins;
  for (uint32_t i = 0; i < w->graph->vertex_count; i++) {
    uint32_t hash = least[i];
    size_t v = number != NULL ? number[i] : i;
    w->sketches->rank[v * bins + bin] =
        (uint16_t)(hash == NONE ? UINT16_MAX : hash >> 16 < UINT16_MAX ? hash >> 16 : UINT16_MAX - 1);
    if (bin < CM_SKETCH_KEYS)
      w->sketches->key[v * CM_SKETCH_KEYS + bin] = hash;
  }
}

/* Every net falls into one bin. `least` [vertices, as the graph keeps them]: the least hash of each. */
static cm_status sketch_bin(void *context, size_t bin, cm_error *error)
{
  const sketching *w = context;
  const cm_hypergraph *g = w->graph;
  uint32_t *least;
  CM_TRY(CM_NEW(w->run->memory, least, g->vertex_count, error));
  memset(least, 0xff, g->vertex_count * sizeof *least);
  for (uint32_t i = w->begin[bin]; i < w->begin[bin + 1]; i++) {
    uint32_t here = (uint32_t)hash_of(w, w->net[i]);
    for (cm_targets t = cm_targets_of(g, w->net[i]); t.left > 0;) {
      uint32_t *of = &least[cm_targets_next_kept(&t)];
      *of = here < *of ? here : *of;
    }
  }
  write_bin(w, (uint32_t)bin, least);
  cm_free(least);
  return cm_run_check(w->run, error);
}

static cm_status sketch_all(sketching *w, cm_error *error)
{
  uint32_t begin[CM_SKETCH_BINS_MAX + 1] = {0};
  w->begin = begin;
  CM_TRY(CM_NEW(w->run->memory, w->net, w->graph->net_count, error));
  sort_nets(w);
  cm_status status = cm_parallel(w->run, w->sketches->bins, sketch_bin, w, error);
  cm_free(w->net);
  return status;
}

cm_status cm_sketches_new(const cm_hypergraph *graph, uint64_t seed, cm_run *run, cm_sketches **sketches, cm_error *error)
{
  uint64_t mean = graph->vertex_count > 0 ? graph->pin_count / graph->vertex_count : 0;
  uint32_t bins = CM_SKETCH_BINS_MAX;
  while (bins > CM_SKETCH_LANES && bins > mean)
    bins -= CM_SKETCH_LANES;
  sketching w = {.graph = graph, .run = run, .seed = cm_mix(seed + 1)};
  CM_TRY(sketches_empty(graph->vertex_count, bins, run, &w.sketches, error));
  CM_TRY_OR(sketch_all(&w, error), cm_sketches_free(w.sketches));
  *sketches = w.sketches;
  return CM_OK;
}

cm_status cm_sketches_merge(const cm_sketches *sketches, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                            cm_sketches **coarse, cm_error *error)
{
  uint32_t bins = sketches->bins;
  CM_TRY(sketches_empty(coarse_count, bins, run, coarse, error));
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
