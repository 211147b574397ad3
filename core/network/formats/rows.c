/* What importers do with rows once they are read: sort, merge, scale. */
#include <string.h>

#include "base/order.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"

enum { INSERTION_MAX = 40 };

void cm_row_sorter_free(cm_row_sorter *sorter)
{
  CM_FREE(sorter->bits, sorter->key);
  *sorter = (cm_row_sorter){.memory = sorter->memory};
}

bool cm_row_ascends(const uint32_t *pin, uint64_t count)
{
  for (uint64_t i = 1; i < count; i++)
    if (pin[i - 1] >= pin[i])
      return false;
  return true;
}

static void sort_by_insertion(uint64_t *key, uint64_t count)
{
  for (uint64_t i = 1; i < count; i++) {
    uint64_t held = key[i], j = i;
    for (; j > 0 && key[j - 1] > held; j--)
      key[j] = key[j - 1];
    key[j] = held;
  }
}

cm_status cm_row_order(cm_row_sorter *sorter, const uint32_t *pin, uint64_t count, const uint64_t **key, cm_error *error)
{
  if (count > UINT32_MAX)
    return cm_over_limit("targets of one axon", count, UINT32_MAX, error);
  CM_TRY(CM_ROOM(sorter->memory, sorter->key, &sorter->key_room, 2 * count, error));
  uint32_t largest = 0;
  for (uint64_t i = 0; i < count; i++) {
    sorter->key[i] = (uint64_t)pin[i] << 32 | i;
    if (pin[i] > largest)
      largest = pin[i];
  }
  *key = sorter->key;
  if (count <= INSERTION_MAX)
    sort_by_insertion(sorter->key, count);
  else /* of one vertex, positions ascend already */
    *key = cm_sort_by_upper_half(sorter->key, sorter->key + count, count, largest);
  return CM_OK;
}

/* A bit per vertex sorts and merges at once; worth it when the row is dense enough. */
static cm_status sort_by_bits(cm_row_sorter *sorter, uint32_t *pin, uint64_t count, uint32_t smallest,
                              uint32_t largest, uint64_t *kept, cm_error *error)
{
  uint64_t words = (largest - smallest) / 64 + 1, before = sorter->bits_room;
  CM_TRY(CM_ROOM(sorter->memory, sorter->bits, &sorter->bits_room, words, error));
  memset(sorter->bits + before, 0, (sorter->bits_room - before) * sizeof *sorter->bits);
  for (uint64_t i = 0; i < count; i++)
    sorter->bits[(pin[i] - smallest) / 64] |= UINT64_C(1) << (pin[i] - smallest) % 64;
  uint64_t used = 0;
  for (uint64_t word = 0; word < words; word++) {
    for (uint64_t bits = sorter->bits[word]; bits != 0; bits &= bits - 1)
      pin[used++] = smallest + (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
    sorter->bits[word] = 0;
  }
  *kept = used;
  return CM_OK;
}

cm_status cm_row_sort(cm_row_sorter *sorter, uint32_t *pin, uint64_t count, uint64_t *kept, cm_error *error)
{
  if (cm_row_ascends(pin, count)) {
    *kept = count;
    return CM_OK;
  }
  uint32_t smallest = pin[0], largest = pin[0];
  for (uint64_t i = 1; i < count; i++) {
    smallest = pin[i] < smallest ? pin[i] : smallest;
    largest = pin[i] > largest ? pin[i] : largest;
  }
  if ((largest - smallest) / 64 <= 4 * count)
    return sort_by_bits(sorter, pin, count, smallest, largest, kept, error);
  const uint64_t *key;
  CM_TRY(cm_row_order(sorter, pin, count, &key, error));
  uint64_t used = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t vertex = (uint32_t)(key[i] >> 32);
    if (used == 0 || pin[used - 1] != vertex)
      pin[used++] = vertex;
  }
  *kept = used;
  return CM_OK;
}

cm_status cm_weight_scale(double sum, double maximum, double value_max, bool whole, uint64_t *scale, cm_error *error)
{
  if (sum > (double)CM_WEIGHT_SUM_MAX || maximum > value_max) {
    bool by_sum = sum > (double)CM_WEIGHT_SUM_MAX;
    cm_fail(error, CM_TOO_LARGE, "the %s is %.17g; at most %.17g can be counted exactly: divide all weights",
            by_sum ? "sum of the weights" : "largest weight", by_sum ? sum : maximum,
            by_sum ? (double)CM_WEIGHT_SUM_MAX : value_max);
    cm_error_figure(error, "limit", by_sum ? CM_WEIGHT_SUM_MAX : (uint64_t)value_max);
    return error->status;
  }
  uint64_t best = 1;
  /* One below the maximum, so that rounding up cannot pass it. */
  while (!whole && best < CM_WEIGHT_SCALE_MAX && sum * (double)(2 * best) <= (double)CM_WEIGHT_SUM_MAX &&
         maximum * (double)(2 * best) <= value_max - 1)
    best *= 2;
  *scale = best;
  return CM_OK;
}

cm_status cm_over_limit(const char *what, uint64_t count, uint64_t limit, cm_error *error)
{
  cm_fail(error, CM_TOO_LARGE, "the network has %llu %s; the limit is %llu", (unsigned long long)count, what,
          (unsigned long long)limit);
  cm_error_figure(error, "limit", limit);
  cm_error_figure(error, "found", count);
  return error->status;
}
