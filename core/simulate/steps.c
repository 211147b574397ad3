/* One time step: every core goes through its neurons in order, sends what those that fire have to send, and processes
 * what comes in beside it. Where a chip does not do both at once, a core processes when it has sent. */
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "core/partition/options.h"
#include "core/simulate/outcomes.h"

/* A neuron's turn to send the spike of an axon; `net` NO_NET: it is looked at, and has nothing to send. */
typedef struct turn {
  double from_ns; /* not before */
  uint32_t place; /* of the neuron in its core's order */
  uint32_t neuron, net;
  bool first;     /* of the neuron: it is updated */
} turn;
enum { NO_NET = UINT32_MAX };

/* A packet to be sent. */
typedef struct planned {
  uint64_t ps, kind;
} planned;

typedef struct step {
  cm_fabric fabric;
  planned *plan;      /* by core, in the order of their times */
  uint64_t plan_count, plan_capacity;
  uint64_t *first;    /* [parts + 1] */
  uint64_t *next;     /* [parts] */
  turn *turn;         /* of one core */
  uint64_t turn_count, turn_room;
  cm_histogram *latency;
  uint32_t *fires;    /* [vertices] spikes of given trains; NULL: by rates */
  double free_ns;     /* of the busiest core without contention */
  double spikes, packets;
} step;

static void on_delivery(void *user, const cm_fabric_packet *packet, uint64_t now)
{
  step *s = user;
  cm_histogram_add(s->latency, now - packet->born_ps);
}

static cm_status schedule_next(step *s, uint32_t core, cm_error *error)
{
  uint32_t part = s->fabric.traffic->part_on[core];
  if (s->next[part] == s->first[part + 1])
    return CM_OK;
  return cm_events_put(&s->fabric.events, s->plan[s->next[part]].ps, CM_EVENT_INJECT, core, 0, error);
}

static cm_status on_inject(void *user, uint32_t core, cm_error *error)
{
  step *s = user;
  const cm_traffic *t = s->fabric.traffic;
  const planned *p = &s->plan[s->next[t->part_on[core]]++];
  CM_TRY(cm_fabric_inject(&s->fabric, core, p->kind, &t->target[t->first[p->kind]], error));
  return schedule_next(s, core, error);
}

/* Spikes of a net in a step: its rate on average, as evenly as whole spikes allow. */
static uint64_t spikes_of(double rate, cm_random *random)
{
  uint64_t whole = (uint64_t)rate; /* below 2^50, as weights are */
  return whole + (cm_random_unit(random) < rate - (double)whole);
}

/* Counts the spikes that are given for a step. */
static cm_status count_given(step *s, const cm_spikes *given, uint32_t number, cm_error *error)
{
  CM_TRY(CM_NEW(s->fabric.run->memory, s->fires, given->neurons, error));
  for (uint64_t i = given->first[number]; i < given->first[number + 1]; i++)
    s->fires[given->neuron[i]]++;
  return CM_OK;
}

enum { CHECK_EVERY = 1 << 16 };

static int by_time(const void *a, const void *b)
{
  const turn *x = a, *y = b;
  if (x->from_ns != y->from_ns)
    return x->from_ns < y->from_ns ? -1 : 1;
  return x->place != y->place ? cm_ascending(&x->place, &y->place) : y->first - x->first;
}

static cm_status add_turn(step *s, turn t, cm_error *error)
{
  if (s->turn_count % CHECK_EVERY == 0 && cm_run_check(s->fabric.run, error) != CM_OK) /* rates have no bound but that of weights */
    return error->status;
  CM_TRY(CM_ROOM(s->fabric.run->memory, s->turn, &s->turn_room, s->turn_count + 1, error));
  s->turn[s->turn_count++] = t;
  return CM_OK;
}

/* The turns of a part, in their order. */
static cm_status list_turns(step *s, uint32_t part, cm_random *random, cm_error *error)
{
  const cm_traffic *t = s->fabric.traffic;
  const uint32_t first = t->member_first[part], end = t->member_first[part + 1];
  const cm_pacing *pacing = t->pacing;
  const double length = pacing != NULL ? pacing->ns : 0;
  s->turn_count = 0;
  for (uint32_t i = first; i < end; i++) {
    const uint32_t v = t->member[i], place = pacing != NULL ? pacing->turn[v] : i - first;
    const double begin = length * (place + 0.5) / (end - first);
    const uint64_t before = s->turn_count;
    for (uint32_t e = t->out_first[v]; e < t->out_first[v + 1]; e++) {
      const uint64_t spikes = s->fires != NULL ? s->fires[v] : spikes_of(cm_traffic_rate(t, e), random);
      for (uint64_t k = 0; k < spikes; k++)
        CM_TRY(add_turn(s, (turn){(begin + length * (double)k) / (double)spikes, place, v, e, s->turn_count == before}, error));
    }
    if (s->turn_count == before && add_turn(s, (turn){begin, place, v, NO_NET, true}, error) != CM_OK)
      return error->status;
  }
  if (pacing != NULL && s->turn_count > 0)
    qsort(s->turn, s->turn_count, sizeof *s->turn, by_time);
  return CM_OK;
}

/* What a core sends, and when; the time when it has done so. */
static cm_status plan_core(step *s, uint32_t part, cm_random *random, double *received, double *end_ns, cm_error *error)
{
  const cm_traffic *t = s->fabric.traffic;
  const cm_charge_cost *c = t->chip->costs.charge;
  double now = 0;
  CM_TRY(list_turns(s, part, random, error));
  for (uint64_t i = 0; i < s->turn_count; i++) {
    const turn *u = &s->turn[i];
    now = now > u->from_ns ? now : u->from_ns;
    if (u->first)
      now += c[CM_CHARGE_NEURON].ns * cm_demand_size(t->demand, u->neuron) * (t->copies != NULL ? t->copies[u->neuron] : 1);
    if (u->net == NO_NET)
      continue;
    now += c[CM_CHARGE_SPIKE].ns;
    s->spikes++;
    for (uint64_t k = t->net_first[u->net]; k < t->net_first[u->net + 1]; k++) {
      now += c[CM_CHARGE_PACKET_SENT].ns * (double)(t->first[k + 1] - t->first[k]);
      s->packets += (double)(t->first[k + 1] - t->first[k]);
      CM_TRY(CM_ROOM(s->fabric.run->memory, s->plan, &s->plan_capacity, s->plan_count + 1, error));
      s->plan[s->plan_count++] = (planned){cm_ps(now), k};
      for (uint64_t j = t->first[k]; j < t->first[k + 1]; j++)
        received[t->part_on[t->target[j].core]] += c[CM_CHARGE_PACKET_RECEIVED].ns + c[CM_CHARGE_SYNAPSE].ns * t->target[j].synapses;
    }
  }
  *end_ns = now;
  return CM_OK;
}

/* Plans all cores, and counts what the busiest has to do. */
static cm_status plan(step *s, const cm_traffic *t, uint64_t seed, uint32_t number, double *sent_ns, cm_error *error)
{
  cm_memory *memory = s->fabric.run->memory;
  cm_random random;
  double *received = NULL, *ends = NULL;
  cm_status status = CM_NEW(memory, received, t->parts, error);
  CM_THEN(status, CM_NEW(memory, ends, t->parts, error));
  cm_random_init(&random, seed, CM_STREAM_SIMULATION, number);
  for (uint32_t p = 0; p < t->parts && status == CM_OK; p++) {
    status = plan_core(s, p, &random, received, &ends[p], error);
    s->next[p] = s->first[p];
    s->first[p + 1] = s->plan_count;
    if (p + 1 < t->parts)
      s->next[p + 1] = s->plan_count;
  }
  for (uint32_t p = 0; p < t->parts && status == CM_OK; p++) {
    double ns = cm_core_ns(&t->chip->costs, received[p], ends[p]);
    s->free_ns = ns > s->free_ns ? ns : s->free_ns;
    *sent_ns = ends[p] > *sent_ns ? ends[p] : *sent_ns;
    if (!t->chip->costs.side_by_side)
      s->fabric.core[t->core[p]].process_from = cm_ps(ends[p]);
    status = schedule_next(s, t->core[p], error);
  }
  CM_FREE(received, ends);
  return status;
}

static void step_free(step *s)
{
  CM_FREE(s->plan, s->turn, s->fires, s->first, s->next, s->latency);
  cm_fabric_free(&s->fabric);
}

static cm_status step_new(const cm_traffic *t, uint32_t buffers, cm_run *run, step *s, cm_error *error)
{
  cm_memory *memory = run->memory;
  *s = (step){0};
  CM_TRY(cm_fabric_new(t, buffers, true, run, &s->fabric, error));
  CM_TRY(CM_NEW(memory, s->first, (size_t)t->parts + 1, error));
  CM_TRY(CM_NEW(memory, s->next, t->parts, error));
  CM_TRY(CM_NEW(memory, s->latency, 1, error));
  s->fabric.on_delivery = on_delivery;
  s->fabric.on_inject = on_inject;
  s->fabric.user = s;
  return CM_OK;
}

static void conclude(step *s, double sent_ns, cm_step_outcome *o)
{
  cm_fabric *f = &s->fabric;
  o->ns = sent_ns;
  for (uint32_t core = 0; core < f->cores; core++)
    o->ns = (double)f->core[core].end / 1000 > o->ns ? (double)f->core[core].end / 1000 : o->ns;
  o->free_ns = s->free_ns;
  o->between_ns = cm_between_ns(&f->traffic->chip->costs.barrier, f->traffic->parts, s->spikes, s->packets);
  o->packets = f->delivered;
  o->hops = f->hops;
  o->stuck = f->under_way;
  o->latency = s->latency;
  o->carried = cm_fabric_take_carried(f);
  o->frames = f->frames;
  s->latency = NULL;
  f->frames = (cm_frames){0};
}

cm_status cm_simulate_step(const cm_traffic *t, const cm_simulate_options *options, uint32_t number, cm_run *run,
                           cm_step_outcome *outcome, cm_error *error)
{
  step s;
  double sent_ns = 0;
  cm_status status = step_new(t, options->buffers, run, &s, error);
  if (status == CM_OK && number == 0 && options->frames > 0)
    status = cm_frames_new(s.fabric.routers, options->frames, run->memory, &s.fabric.frames, error);
  CM_THEN_IF(status, options->spikes != NULL, count_given(&s, options->spikes, number, error));
  CM_THEN(status, plan(&s, t, options->seed, number, &sent_ns, error));
  CM_THEN(status, cm_fabric_run(&s.fabric, error));
  if (status == CM_OK)
    conclude(&s, sent_ns, outcome);
  step_free(&s);
  return status;
}
