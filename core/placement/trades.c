#include "core/placement/trades.h"

#include <math.h>

#include "base/annealing.h"

enum { SAMPLE = 400, CHECK_EVERY = 1024 };

static double mean_cost(const cm_trades *t)
{
  double sum = 0, looked = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < SAMPLE; i++) {
    cm_trade trade;
    if (!t->propose(t->context, &trade, &looked))
      continue;
    sum += fabs(trade.cost);
    counted++;
  }
  return counted > 0 ? sum / counted : 0;
}

cm_status cm_anneal_trades(const cm_trades *t, cm_run *run, uint64_t *moves, cm_error *error)
{
  double mean = mean_cost(t), looked = 0, temperature = 0;
  for (uint64_t i = 0; looked < t->entries && mean > 0; i++) {
    cm_trade trade;
    if (i % CHECK_EVERY == 0) {
      double done = looked / t->entries;
      temperature = done > t->cooled ? 0 : cm_cooled(mean * t->hot, t->cold / t->hot, done / t->cooled);
      CM_TRY(cm_run_progress(run, done, t->level, t->things, NAN, error));
    }
    if (!t->propose(t->context, &trade, &looked) || !cm_metropolis(t->random, trade.cost, temperature, CM_HOPELESS))
      continue;
    cm_trade_places(t->at, t->occupant, trade.thing, trade.place);
    ++*moves;
  }
  return CM_OK;
}
