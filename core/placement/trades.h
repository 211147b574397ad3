/* Annealing of what stands where by trades: one thing goes to a place, and what stood there comes to where it was. Which trades are
 * drawn, and what they cost, is each method's own. */
#pragma once

#include <stdint.h>

#include "base/random.h"
#include "base/run.h"

#define CM_NOBODY UINT32_MAX

typedef struct cm_trade {
  uint32_t thing, place, other; /* other: what stands at the place; CM_NOBODY */
  double cost;                  /* below 0: it gains */
} cm_trade;

typedef struct cm_trades {
  void *context;
  /* Draws a trade, and adds to *looked how many entries of neighbours' lists it took; false: nothing to trade. */
  bool (*propose)(void *context, cm_trade *trade, double *looked);
  uint32_t *at, *occupant; /* place of a thing; thing at a place, or CM_NOBODY */
  cm_random *random;       /* propose draws from it too */
  double hot, cold;        /* temperatures at first and at last, in mean costs of a trade, either sign */
  double cooled;           /* share of the work at which it is at `cold`; after that only what costs nothing is taken */
  double entries;          /* the work: it ends when so many entries have been looked at */
  int level;               /* for the progress; -1: none */
  uint32_t things;
} cm_trades;

/* Thing u goes to `there`, and what stands there, if anything, to where u was. */
static inline void cm_trade_places(uint32_t *at, uint32_t *occupant, uint32_t u, uint32_t there)
{
  uint32_t here = at[u], other = occupant[there];
  at[u] = there;
  occupant[there] = u;
  occupant[here] = other;
  if (other != CM_NOBODY)
    at[other] = here;
}

/* Adds to *moves how many were taken. The failures are a stop's. O(entries). */
cm_status cm_anneal_trades(const cm_trades *trades, cm_run *run, uint64_t *moves, cm_error *error);
