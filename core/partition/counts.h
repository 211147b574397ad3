/* Counts by 64-bit key, most of them small and many gone to zero: open addressing with linear probing. */
#pragma once

#include "base/run.h"

typedef struct cm_counts {
  uint64_t *key;   /* [slots] key + 1; 0: free */
  uint32_t *count; /* [slots] */
  uint64_t slots;  /* a power of two */
  uint64_t used;   /* slots that have a key, at count 0 too */
  uint64_t columns; /* 0: slots have keys; else a table, whose slots stand for keys row << 32 | column, row by row */
} cm_counts;

/* Makes a zeroed one a table for all keys row << 32 | column, which needs no room made. Where most of the keys come up, it takes
 * a quarter of the memory, and one look in place of several. O(rows * columns). */
cm_status cm_counts_tabulate(cm_counts *counts, uint32_t rows, uint32_t columns, cm_run *run, cm_error *error);

/* Makes room for `more` further keys; must precede the calls of cm_counts_add that bring them. Amortised O(1) a key. */
cm_status cm_counts_reserve(cm_counts *counts, uint64_t more, cm_run *run, cm_error *error);

/* Adds `by` to a key's count and returns the new one. */
uint32_t cm_counts_add(cm_counts *counts, uint64_t key, int32_t by);

/* A key's count; 0 where it has none. */
uint32_t cm_counts_of(const cm_counts *counts, uint64_t key);

void cm_counts_free(cm_counts *counts); /* harmless on a zeroed one */
