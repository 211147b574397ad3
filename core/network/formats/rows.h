/* Rows of pins: their order, without repeats. */
#pragma once

#include "base/run.h"

/* Scratch memory for sorting the pins of one net after another. Zero it before use. */
typedef struct cm_row_sorter {
  cm_memory *memory;
  uint64_t *bits; /* one per vertex */
  uint64_t bits_room;
  uint64_t *key; /* the row as vertex << 32 | position, twice */
  uint64_t key_room;
} cm_row_sorter;

void cm_row_sorter_free(cm_row_sorter *sorter);

/* Sorts `count` pins and drops repeats; *kept is the number that stays. O(count) for most rows. */
cm_status cm_row_sort(cm_row_sorter *sorter, uint32_t *pin, uint64_t count, uint64_t *kept, cm_error *error);

/* The same order as positions: fills *key with vertex << 32 | position in the row, sorted; valid until the
 * next call. The caller moves its weights along. */
cm_status cm_row_order(cm_row_sorter *sorter, const uint32_t *pin, uint64_t count, const uint64_t **key, cm_error *error);

/* True when the pins ascend without repeats. */
bool cm_row_ascends(const uint32_t *pin, uint64_t count);
