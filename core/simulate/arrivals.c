#include "core/simulate/arrivals.h"

#include <math.h>

#include "core/partition/options.h"

/* Picoseconds to the next packet of a part. */
static uint64_t gap_ps(cm_arrivals *a, uint32_t part)
{
  return (uint64_t)(-log(1 - cm_random_unit(&a->random)) / a->rate[part] * 1000 + 0.5);
}

/* A cell's guess is of the cell before it: a sum may fall into the wrong one of two by rounding. */
static void guess_senders(cm_arrivals *a, uint64_t first, uint64_t count)
{
  uint64_t i = 0;
  for (uint64_t cell = 0; cell < count; cell++) {
    double least = a->sender[first + count - 1].cumulative * ((double)cell - 1) / (double)count;
    while (i + 1 < count && a->sender[first + i].cumulative <= least)
      i++;
    a->guess[first + cell] = (uint32_t)i;
  }
}

static void gather(cm_arrivals *a, double load)
{
  const cm_traffic *t = a->traffic;
  uint64_t count = 0;
  for (uint32_t p = 0; p < t->parts; p++) {
    double sum = 0;
    for (uint32_t i = t->member_first[p]; i < t->member_first[p + 1]; i++)
      for (uint32_t e = t->out_first[t->member[i]]; e < t->out_first[t->member[i] + 1]; e++)
        for (uint64_t k = t->net_first[e]; k < t->net_first[e + 1]; k++) {
          sum += cm_traffic_rate(t, e);
          a->sender[count++] = (cm_sender){sum, k, t->first[k] < t->first[k + 1] ? t->target[t->first[k]] : (cm_packet_target){0}};
        }
    a->first[p + 1] = count;
    a->sum[p] = sum;
    a->rate[p] = sum * load;
    guess_senders(a, a->first[p], count - a->first[p]);
  }
}

/* Every core's first one. */
static cm_status begin(cm_arrivals *a, uint64_t seed, cm_error *error)
{
  const cm_traffic *t = a->traffic;
  cm_random_init(&a->random, seed, CM_STREAM_SIMULATION, UINT64_C(1) << 32);
  for (uint32_t p = 0; p < t->parts; p++) {
    a->first_ps[p] = a->rate[p] > 0 ? gap_ps(a, p) : CM_EVENT_NEVER;
    if (a->rate[p] > 0 && cm_events_put(&a->order, a->first_ps[p], CM_EVENT_INJECT, p, 0, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_arrivals_new(const cm_traffic *t, double load, uint64_t seed, cm_memory *memory, cm_arrivals *arrivals,
                          cm_error *error)
{
  cm_arrivals a = {.traffic = t, .next = CM_ARRIVALS_AHEAD};
  cm_status status = cm_events_new(memory, &a.order, error);
  if (status == CM_OK && (CM_NEW(memory, a.sender, t->packet_count, error) != CM_OK ||
                          CM_NEW(memory, a.guess, t->packet_count, error) != CM_OK ||
                          CM_NEW(memory, a.first, (size_t)t->parts + 1, error) != CM_OK ||
                          CM_NEW(memory, a.first_ps, t->parts, error) != CM_OK ||
                          CM_NEW(memory, a.sum, t->parts, error) != CM_OK || CM_NEW(memory, a.rate, t->parts, error) != CM_OK))
    status = error->status;
  if (status == CM_OK) {
    gather(&a, load);
    status = begin(&a, seed, error);
  }
  CM_END(status, *arrivals = a, cm_arrivals_free(&a));
}

void cm_arrivals_free(cm_arrivals *a)
{
  cm_events_free(&a->order);
  CM_FREE(a->sender, a->guess, a->first, a->first_ps, a->sum, a->rate);
  *a = (cm_arrivals){0};
}

/* Which kinds they are: of a core's kinds the first one whose sum is above the number drawn, else the last. Each pass touches what
 * the one before it has asked the memory for. */
static void find_kinds(cm_arrivals *a)
{
  for (uint32_t i = 0; i < CM_ARRIVALS_AHEAD; i++) {
    cm_arrival *one = &a->ahead[i];
    uint64_t first = a->first[one->part], count = a->first[one->part + 1] - first,
             cell = (uint64_t)(one->at / a->sum[one->part] * (double)count);
    one->place = first + (cell < count ? cell : count - 1);
    __builtin_prefetch(&a->guess[one->place]);
  }
  for (uint32_t i = 0; i < CM_ARRIVALS_AHEAD; i++) {
    cm_arrival *one = &a->ahead[i];
    one->place = a->first[one->part] + a->guess[one->place];
    __builtin_prefetch(&a->sender[one->place]);
    __builtin_prefetch(&a->sender[one->place + 1]);
  }
  for (uint32_t i = 0; i < CM_ARRIVALS_AHEAD; i++) {
    cm_arrival *one = &a->ahead[i];
    uint64_t last = a->first[one->part + 1] - 1;
    while (one->place < last && a->sender[one->place].cumulative <= one->at)
      one->place++;
    one->kind = a->sender[one->place].kind;
    one->to = a->sender[one->place].to;
  }
}

static cm_status draw_ahead(cm_arrivals *a, cm_error *error)
{
  for (uint32_t i = 0; i < CM_ARRIVALS_AHEAD; i++) {
    cm_arrival *one = &a->ahead[i];
    cm_timed_event event;
    cm_events_take(&a->order, &event);
    one->part = event.where;
    one->core = a->traffic->core[event.where];
    one->at = cm_random_unit(&a->random) * a->sum[event.where];
    one->next_ps = event.ps + gap_ps(a, event.where);
    CM_TRY(cm_events_put(&a->order, one->next_ps, CM_EVENT_INJECT, event.where, 0, error));
  }
  find_kinds(a);
  a->next = 0;
  return CM_OK;
}

cm_status cm_arrivals_next(cm_arrivals *a, const cm_arrival **arrival, cm_error *error)
{
  if (a->next == CM_ARRIVALS_AHEAD && draw_ahead(a, error) != CM_OK)
    return error->status;
  *arrival = &a->ahead[a->next++];
  return CM_OK;
}
