#include "core/simulate/turn_order.h"

#include "base/heap.h"
#include "base/random.h"
#include "core/partition/options.h"

typedef struct turns {
  const cm_traffic *traffic;
  cm_run *run;
  uint32_t *left;      /* [vertices] of every part those that have no turn yet, from member_first on */
  uint32_t *left_count; /* [parts] */
  double *total, *got; /* [parts] ns of work in the whole step; so far */
  cm_heap next;        /* parts by when their next turn comes */
} turns;

enum { FRACTION = 1 << 30, LOOKS_LEAST = 2, CHECK_EVERY = 1 << 12 };

/* When a part of `count` takes its turn i, as a share of FRACTION. */
static uint64_t due(uint32_t i, uint32_t count)
{
  return (2 * (uint64_t)i + 1) * FRACTION / (2 * (uint64_t)count);
}

/* What beyond an even flow a packet brings at once: spikes of a neuron that fires several times are spread over the step by themselves. */
static double burst_ns(const cm_traffic *t, double rate, uint32_t synapses)
{
  const cm_charge_cost *c = t->chip->costs.charge;
  return (rate < 1 ? rate : 1 / rate) * (c[CM_CHARGE_PACKET_RECEIVED].ns + c[CM_CHARGE_SYNAPSE].ns * synapses);
}

/* Adds what neuron v brings to each part it reaches. */
static void give(turns *s, uint32_t v, double *to)
{
  const cm_traffic *t = s->traffic;
  for (uint32_t e = t->out_first[v]; e < t->out_first[v + 1]; e++) {
    double rate = cm_traffic_rate(t, e);
    for (uint64_t k = t->first[t->net_first[e]]; k < t->first[t->net_first[e + 1]]; k++)
      to[t->part_on[t->target[k].core]] += burst_ns(t, rate, t->target[k].synapses);
  }
}

/* By how much the sum of squares grows if v's turn is at `at` of the step. */
static double growth(const turns *s, uint32_t v, double at)
{
  const cm_traffic *t = s->traffic;
  double sum = 0;
  for (uint32_t e = t->out_first[v]; e < t->out_first[v + 1]; e++) {
    double rate = cm_traffic_rate(t, e);
    for (uint64_t k = t->first[t->net_first[e]]; k < t->first[t->net_first[e + 1]]; k++) {
      uint32_t part = t->part_on[t->target[k].core];
      double ns = burst_ns(t, rate, t->target[k].synapses);
      sum += ns * (2 * (s->got[part] - at * s->total[part]) + ns);
    }
  }
  return sum;
}

/* The next turn of a part. */
static void take(turns *s, uint32_t part, uint32_t looks, uint32_t *turn)
{
  const cm_traffic *t = s->traffic;
  uint32_t *left = &s->left[t->member_first[part]], count = s->left_count[part], all = t->member_first[part + 1] - t->member_first[part];
  uint32_t best = 0;
  double at = (double)due(all - count, all) / FRACTION, least = 0;
  for (uint32_t i = 0; i < count && i < looks; i++) {
    double g = growth(s, left[i], at);
    if (i == 0 || g < least) {
      least = g;
      best = i;
    }
  }
  uint32_t v = left[best];
  turn[v] = all - count;
  give(s, v, s->got);
  left[best] = left[count - 1];
  s->left_count[part]--;
  if (--count > 0)
    cm_heap_sink(&s->next, s->next.count, 0, (cm_heap_item){due(all - count, all), part});
  else if (--s->next.count > 0)
    cm_heap_sink(&s->next, s->next.count, 0, s->next.item[s->next.count]);
}

static cm_status prepare(turns *s, uint64_t seed, cm_error *error)
{
  const cm_traffic *t = s->traffic;
  uint32_t vertices = t->demand->network->vertex_count;
  cm_random random;
  if (CM_NEW(s->run->memory, s->left, vertices, error) != CM_OK || CM_NEW(s->run->memory, s->left_count, t->parts, error) != CM_OK ||
      CM_NEW(s->run->memory, s->total, t->parts, error) != CM_OK || CM_NEW(s->run->memory, s->got, t->parts, error) != CM_OK ||
      CM_NEW(s->run->memory, s->next.item, t->parts, error) != CM_OK)
    return error->status;
  cm_random_init(&random, seed, CM_STREAM_TURNS, 0);
  for (uint32_t p = 0; p < t->parts; p++) {
    uint32_t first = t->member_first[p], count = t->member_first[p + 1] - first;
    s->left_count[p] = count;
    for (uint32_t i = 0; i < count; i++) { /* in random order: as numbered, neurons that are alike stand side by side */
      uint32_t j = (uint32_t)cm_random_below(&random, i + 1);
      s->left[first + i] = s->left[first + j];
      s->left[first + j] = t->member[first + i];
      give(s, t->member[first + i], s->total);
    }
    if (count > 0)
      cm_heap_rise(&s->next, s->next.count++, (cm_heap_item){due(0, count), p});
  }
  return CM_OK;
}

cm_status cm_turns_choose(const cm_traffic *t, uint64_t seed, uint64_t looks, cm_run *run, uint32_t *turn, cm_error *error)
{
  turns s = {.traffic = t, .run = run};
  uint64_t each = looks / (t->target_count + 1);
  uint32_t most = each < LOOKS_LEAST ? LOOKS_LEAST : each > UINT32_MAX ? UINT32_MAX : (uint32_t)each;
  cm_status status = prepare(&s, seed, error);
  for (uint64_t i = 0; status == CM_OK && s.next.count > 0; i++) {
    take(&s, s.next.item[0].number, most, turn);
    if (i % CHECK_EVERY == 0)
      status = cm_run_check(run, error);
  }
  CM_FREE(s.left, s.left_count, s.total, s.got, s.next.item);
  return status;
}
