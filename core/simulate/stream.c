/* A steady stream: every core sends packets at random times (Poisson), in proportion to the rates of its neurons; cores
 * take what comes at once. */
#include "core/simulate/arrivals.h"
#include "core/simulate/outcomes.h"

/* The first fifth of the packets warms the network up; then latencies count. */
static const double warm_share = 0.2;
/* Saturated: this many times the unhindered latency, or this share of all packets waiting in the end. */
static const double slow = 3, waiting_most = 0.05;

typedef struct stream {
  cm_fabric fabric;
  cm_arrivals arrivals;
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

static cm_status on_inject(void *user, uint32_t core, cm_error *error)
{
  stream *s = user;
  const cm_arrival *arrival;
  CM_TRY(cm_arrivals_next(&s->arrivals, &arrival, error));
  CM_TRY(cm_fabric_inject(&s->fabric, core, arrival->kind, &arrival->to, error));
  /* Enough packets have gone in: what waits then is for the verdict. */
  s->fabric.ended = ++s->injected >= s->wanted;
  return s->fabric.ended ? CM_OK : cm_events_put(&s->fabric.events, arrival->next_ps, CM_EVENT_INJECT, core, 0, error);
}

static void stream_free(stream *s)
{
  cm_arrivals_free(&s->arrivals);
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
  o->carried = cm_fabric_take_carried(f);
  s->latency = NULL;
}

cm_status cm_simulate_stream(const cm_traffic *t, const cm_simulate_options *options, double load, cm_run *run,
                             cm_stream_outcome *outcome, cm_error *error)
{
  stream s = {.load = load, .wanted = options->packets, .warm = (uint64_t)(warm_share * (double)options->packets)};
  cm_status status = cm_fabric_new(t, options->buffers, false, run, &s.fabric, error);
  CM_THEN(status, cm_arrivals_new(t, load, options->seed, run->memory, &s.arrivals, error));
  CM_THEN(status, CM_NEW(run->memory, s.latency, 1, error));
  s.fabric.on_delivery = on_delivery;
  s.fabric.on_inject = on_inject;
  s.fabric.user = &s;
  for (uint32_t p = 0; p < t->parts && status == CM_OK; p++)
    if (s.arrivals.first_ps[p] != CM_EVENT_NEVER)
      status = cm_events_put(&s.fabric.events, s.arrivals.first_ps[p], CM_EVENT_INJECT, t->core[p], 0, error);
  CM_THEN(status, cm_fabric_run(&s.fabric, error));
  if (status == CM_OK)
    conclude(&s, s.fabric.under_way, outcome);
  stream_free(&s);
  return status;
}
