#include "core/partition/counts.h"

#include "base/random.h"

cm_status cm_counts_tabulate(cm_counts *counts, uint32_t rows, uint32_t columns, cm_run *run, cm_error *error)
{
  CM_TRY(CM_NEW(run->memory, counts->count, (size_t)rows * columns, error));
  counts->columns = columns;
  return CM_OK;
}

static uint64_t slot_of(const cm_counts *counts, uint64_t key)
{
  return (key >> 32) * counts->columns + (uint32_t)key;
}

static uint64_t find(const cm_counts *counts, uint64_t key)
{
  uint64_t at = cm_mix(key) & (counts->slots - 1);
  while (counts->key[at] != 0 && counts->key[at] != key + 1)
    at = (at + 1) & (counts->slots - 1);
  return at;
}

cm_status cm_counts_reserve(cm_counts *counts, uint64_t more, cm_run *run, cm_error *error)
{
  if (counts->columns != 0 || (counts->slots >= 64 && 4 * (counts->used + more) <= 3 * counts->slots))
    return CM_OK;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < counts->slots; i++)
    kept += counts->count[i] > 0;
  cm_counts fresh = {.slots = 64};
  while (fresh.slots < 2 * (kept + more))
    fresh.slots *= 2;
  cm_status status = CM_NEW(run->memory, fresh.key, fresh.slots, error);
  CM_THEN(status, CM_NEW(run->memory, fresh.count, fresh.slots, error));
  CM_TRY_OR(status, cm_counts_free(&fresh));
  for (uint64_t i = 0; i < counts->slots; i++)
    if (counts->count[i] > 0)
      (void)cm_counts_add(&fresh, counts->key[i] - 1, (int32_t)counts->count[i]);
  cm_counts_free(counts);
  *counts = fresh;
  return CM_OK;
}

uint32_t cm_counts_add(cm_counts *counts, uint64_t key, int32_t by)
{
  if (counts->columns != 0)
    return counts->count[slot_of(counts, key)] += (uint32_t)by;
  uint64_t at = find(counts, key);
  if (counts->key[at] == 0) {
    counts->key[at] = key + 1;
    counts->used++;
  }
  return counts->count[at] += (uint32_t)by;
}

uint32_t cm_counts_of(const cm_counts *counts, uint64_t key)
{
  if (counts->columns != 0)
    return counts->count[slot_of(counts, key)];
  return counts->slots > 0 ? counts->count[find(counts, key)] : 0;
}

void cm_counts_free(cm_counts *counts)
{
  CM_FREE(counts->key, counts->count);
  *counts = (cm_counts){0};
}
