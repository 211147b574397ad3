#include "core/partition/axon/bands.h"

#include "base/order.h"
#include "base/random.h"
#include "base/threads.h"

#define NONE UINT32_MAX

typedef struct banding {
  const cm_sketches *sketches;
  cm_bands *bands;
  cm_run *run;
} banding;

static uint32_t *group_of(const banding *w, uint32_t v, size_t band)
{
  return &w->bands->group[(size_t)v * w->bands->count + band];
}

/* What the members of a group have in common, for now in place of the group. */
static void take_keys(const banding *w, size_t band)
{
  for (uint32_t v = 0; v < w->sketches->vertex_count; v++) {
    const uint32_t *key = w->sketches->key + (size_t)v * CM_SKETCH_KEYS + 2 * band;
    bool both = key[0] != NONE && key[1] != NONE;
    *group_of(w, v, band) = both ? (uint32_t)(cm_mix((uint64_t)key[0] << 32 | key[1]) >> 33) : NONE;
  }
}

static cm_status make_band(void *context, size_t band, cm_error *error)
{
  const banding *w = context;
  uint32_t n = w->sketches->vertex_count, *order = w->bands->order + band * n, *end = w->bands->end + band * n;
  uint64_t *keys;
  CM_TRY(CM_NEW(w->run->memory, keys, 2 * (size_t)n, error));
  take_keys(w, band);
  for (uint32_t v = 0; v < n; v++)
    keys[v] = (uint64_t)*group_of(w, v, band) << 32 | v;
  const uint64_t *sorted = cm_sort_by_upper_half(keys, keys + n, n, NONE);
  for (uint32_t i = 0; i < n; i++)
    order[i] = (uint32_t)sorted[i];
  cm_free(keys);
  for (uint32_t begin = 0, i; begin < n; begin = i) {
    uint32_t key = *group_of(w, order[begin], band);
    for (i = begin; i < n && *group_of(w, order[i], band) == key; i++)
      ;
    for (uint32_t j = begin; j < i && key != NONE; j++)
      *group_of(w, order[j], band) = begin;
    end[begin] = i;
  }
  return cm_run_check(w->run, error);
}

cm_status cm_bands_new(const cm_sketches *sketches, uint32_t count, cm_run *run, cm_bands *bands, cm_error *error)
{
  cm_bands made = {.count = count};
  banding w = {.sketches = sketches, .bands = &made, .run = run};
  size_t all = (size_t)count * sketches->vertex_count;
  if (CM_NEW(run->memory, made.group, all, error) == CM_OK && CM_NEW(run->memory, made.order, all, error) == CM_OK &&
      CM_NEW(run->memory, made.end, all, error) == CM_OK && cm_parallel(run, count, make_band, &w, error) == CM_OK) {
    *bands = made;
    return CM_OK;
  }
  cm_bands_free(&made);
  return error->status;
}

void cm_bands_free(cm_bands *bands)
{
  CM_FREE(bands->group, bands->order, bands->end);
  *bands = (cm_bands){0};
}
