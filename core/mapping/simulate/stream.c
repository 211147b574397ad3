/* A steady stream: every core sends packets at random times (Poisson), in proportion to the rates of its neurons; cores
 * take what comes at once. */
#include <math.h>

#include "core/base/random.h"
#include "core/mapping/simulate/internal.h"
#include "core/partition/options.h"

/* The first fifth of the packets warms the network up; then latencies count. */
static const double warm_share = 0.2;
/* Saturated: this many times the unhindered latency, or this share of all packets waiting in the end. */
static const double slow = 3, waiting_most = 0.05;

typedef struct stream {
  cm_fabric fabric;
  cm_random random;
  double *cumulative;   /* [packet kinds] rates summed up, core by core */
  uint64_t *kind;       /* [packet kinds] by core */
  uint64_t *first;      /* [parts + 1] */
  double load;
  uint64_t wanted, warm, injected;
  unsigned __int128 free_sum;
  cm_histogram *latency;
} stream;

static void on_delivery(void *user, const cm_fabric_packet *packet, uint64_t now)
{
  stream *s = user;
  if (s->fabric.delivered <= s->warm)
    return;
  cm_histogram_add(s->latency, now - packet->born_ps);
  s->free_sum += packet->free_ps;
}

static double rate_of(const stream *s, uint32_t part)
{
  uint64_t end = s->first[part + 1];
  return end > s->first[part] ? s->cumulative[end - 1] * s->load : 0;
}

static cm_status schedule_next(stream *s, uint32_t core, cm_error *error)
{
  double ns = -log(1 - cm_random_unit(&s->random)) / rate_of(s, s->fabric.traffic->part_on[core]);
  return cm_events_put(&s->fabric.events, s->fabric.now + cm_ps(ns), CM_EVENT_INJECT, core, 0, error);
}

static cm_status on_inject(void *user, uint32_t core, cm_error *error)
{
  stream *s = user;
  uint32_t part = s->fabric.traffic->part_on[core];
  uint64_t low = s->first[part], high = s->first[part + 1] - 1;
  double at = cm_random_unit(&s->random) * s->cumulative[high];
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (s->cumulative[middle] > at)
      high = middle;
    else
      low = middle + 1;
  }
  s->injected++;
  if (cm_fabric_inject(&s->fabric, core, s->kind[low], error) != CM_OK)
    return error->status;
  return s->injected < s->wanted ? schedule_next(s, core, error) : CM_OK;
}

/* Enough packets have gone in: what waits then is for the verdict. */
static bool enough(const cm_fabric *f)
{
  const stream *s = f->user;
  return s->injected >= s->wanted;
}

static cm_status gather(stream *s, const cm_traffic *t, cm_error *error)
{
  uint64_t count = 0;
  cm_memory *memory = s->fabric.run->memory;
  if (CM_NEW(memory, s->cumulative, t->packet_count, error) != CM_OK ||
      CM_NEW(memory, s->kind, t->packet_count, error) != CM_OK ||
      CM_NEW(memory, s->first, (size_t)t->parts + 1, error) != CM_OK ||
      CM_NEW(memory, s->latency, 1, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < t->parts; p++) {
    double sum = 0;
    for (uint32_t i = t->member_first[p]; i < t->member_first[p + 1]; i++)
      for (uint32_t e = t->out_first[t->member[i]]; e < t->out_first[t->member[i] + 1]; e++)
        for (uint64_t k = t->net_first[e]; k < t->net_first[e + 1]; k++) {
          sum += cm_traffic_rate(t, e);
          s->cumulative[count] = sum;
          s->kind[count++] = k;
        }
    s->first[p + 1] = count;
  }
  return CM_OK;
}

static void stream_free(stream *s)
{
  cm_free(s->cumulative);
  cm_free(s->kind);
  cm_free(s->first);
  cm_free(s->latency);
  cm_fabric_free(&s->fabric);
}

static void conclude(stream *s, uint64_t waiting, cm_stream_outcome *o)
{
  cm_fabric *f = &s->fabric;
  uint64_t measured = s->latency->count;
  o->load = s->load;
  o->free_mean_ns = measured > 0 ? (double)s->free_sum / (double)measured / 1000 : 0;
  o->saturated = (double)waiting > waiting_most * (double)s->wanted ||
                 cm_histogram_mean_ns(s->latency) > slow * o->free_mean_ns;
  o->packets = f->delivered;
  o->hops = f->hops;
  o->stuck = f->events.count == 0 ? f->under_way : 0;
  o->ns = (double)f->now / 1000;
  o->latency = s->latency;
  o->carried = f->carried;
  s->latency = NULL;
  f->carried = NULL;
}

cm_status cm_simulate_stream(const cm_traffic *t, const cm_simulate_options *options, double load, cm_run *run,
                             cm_stream_outcome *outcome, cm_error *error)
{
  stream s = {.load = load, .wanted = options->packets, .warm = (uint64_t)(warm_share * (double)options->packets)};
  cm_status status = cm_fabric_new(t, options->buffers, false, run, &s.fabric, error);
  if (status == CM_OK)
    status = gather(&s, t, error);
  s.fabric.on_delivery = on_delivery;
  s.fabric.on_inject = on_inject;
  s.fabric.user = &s;
  cm_random_init(&s.random, options->seed, CM_STREAM_SIMULATION, UINT64_C(1) << 32);
  for (uint32_t p = 0; p < t->parts && status == CM_OK; p++)
    if (rate_of(&s, p) > 0)
      status = schedule_next(&s, t->core[p], error);
  if (status == CM_OK)
    status = cm_fabric_run(&s.fabric, enough, error);
  if (status == CM_OK)
    conclude(&s, s.fabric.under_way, outcome);
  stream_free(&s);
  return status;
}
