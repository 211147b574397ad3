/* What it takes all lanes to tell all others: for the bound (docs/explanation/program-bound.md). Internal to core/machine. */
#pragma once

#include "core/machine/bound_reach.h"

/* Of a kind of lanes. */
typedef struct cm_exchange {
  uint32_t count;          /* stations with such lanes; 0: nothing is known */
  double share;            /* of all lanes' weights, of one station at most */
  double hop_ns, first_ns; /* of a result: for every hop, and once where there is any */
  double *apart;           /* [k - 1]: hops on the mean to what lies in the middle of k stations, the least of any k */
} cm_exchange;

/* The caller frees made->apart with cm_free. Errors: memory. O(stations^2.5), of up to 64 on a grid. */
cm_status cm_exchange_make(const cm_reach_of *of, cm_memory *memory, cm_exchange *made, cm_error *error);

/* What `work` nanoseconds of all lanes take on whatever lanes do it, with the ways from or to them on `sides` sides (1 or 2):
 * the mean over these lanes. O(stations). */
double cm_exchange_ns(const cm_exchange *of, double work, int sides);
