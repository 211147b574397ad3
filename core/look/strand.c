#include "core/look/strand.h"

#include <math.h>

#include "base/random.h"

enum { HASHES = 4, STRETCHES = 4 };

typedef struct mark {
  uint32_t least[HASHES]; /* of the axons into it, by each hash; UINT32_MAX: there is none */
  uint32_t neuron;
} mark;

static int by_mark(const void *a, const void *b)
{
  const mark *x = a, *y = b;
  for (int k = 0; k < HASHES; k++)
    if (x->least[k] != y->least[k])
      return x->least[k] < y->least[k] ? -1 : 1;
  return (x->neuron > y->neuron) - (x->neuron < y->neuron);
}

/* Of an axon of a high rate the hash is the smaller: the least of them is one in proportion to the rates. */
static uint32_t hash_of(uint64_t seed, uint32_t net, int number, double rate)
{
  double unit = cm_random_unit_of(seed + (uint64_t)number, net), drawn = -log1p(-unit) / (rate > 0 ? rate : 1e-9);
  return (uint32_t)((double)UINT32_MAX * (drawn / (1 + drawn)));
}

static cm_status mark_all(const cm_demand *demand, uint64_t seed, cm_run *run, mark *of, cm_error *error)
{
  const cm_topology *t = demand->network;
  double total = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    of[v].neuron = v;
    memset(of[v].least, 0xff, sizeof of[v].least);
  }
  for (uint32_t e = 0; e < t->net_count; e++)
    total += (double)cm_demand_net_weight(demand, e);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t hash[HASHES];
    for (int k = 0; k < HASHES; k++)
      hash[k] = hash_of(seed, e, k, total > 0 ? (double)cm_demand_net_weight(demand, e) / total * t->net_count : 1);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t *least = of[t->pin[i]].least;
      for (int k = 0; k < HASHES; k++)
        least[k] = hash[k] < least[k] ? hash[k] : least[k];
    }
    if (e % 1024 == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* The neurons in their order. */
static cm_status line_up(const cm_demand *demand, cm_strand_order order, cm_run *run, uint32_t *line, cm_error *error)
{
  uint32_t n = demand->network->vertex_count;
  mark *of;
  if (order == CM_STRAND_AS_NUMBERED) {
    for (uint32_t v = 0; v < n; v++)
      line[v] = v;
    return CM_OK;
  }
  CM_TRY(CM_NEW(run->memory, of, n, error));
  cm_status status = mark_all(demand, cm_mix(run->seed), run, of, error);
  if (status == CM_OK)
    qsort(of, n, sizeof *of, by_mark);
  for (uint32_t i = 0; status == CM_OK && i < n; i++)
    line[i] = of[i].neuron;
  cm_free(of);
  return status;
}

/* Keeps some stretches of the line where there would be too many synapses: their neurons, in order. */
static uint32_t take_stretches(uint32_t *line, uint32_t n, double share)
{
  uint32_t kept = 0;
  if (share >= 1)
    return n;
  for (uint64_t k = 0; k < STRETCHES; k++) {
    uint32_t begin = (uint32_t)(n * k / STRETCHES), end = begin + (uint32_t)(n * share / STRETCHES);
    memmove(line + kept, line + begin, (size_t)(end - begin) * sizeof *line);
    kept += end - begin;
  }
  return kept;
}

/* The places in the line of a net's targets, without a branch for those that are not here (UINT32_MAX). Returns how many. */
static uint32_t find_places(const cm_topology *t, uint32_t e, const uint32_t *place, uint32_t *found)
{
  uint32_t count = 0;
  for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
    found[count] = place[t->pin[i]];
    count += found[count] != UINT32_MAX;
  }
  return count;
}

/* Turns the network's lists round for the neurons of the strand; `place` [vertices], UINT32_MAX: not here; found [vertices + 1]. */
static cm_status gather(const cm_topology *t, const uint32_t *place, uint32_t *found, cm_run *run, cm_strand *s, cm_error *error)
{
  CM_TRY(CM_NEW(run->memory, s->first, (size_t)s->count + 2, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint32_t k = find_places(t, e, place, found); k-- > 0;)
      s->first[found[k] + 2]++;
  for (uint32_t i = 2; i < s->count + 2; i++)
    s->first[i] += s->first[i - 1];
  uint64_t pins = s->first[s->count + 1];
  s->share = t->pin_count > 0 ? (double)pins / (double)t->pin_count : 1;
  CM_TRY(CM_NEW(run->memory, s->net, pins + 1, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint32_t k = find_places(t, e, place, found); k-- > 0;)
      s->net[s->first[found[k] + 1]++] = e;
  return CM_OK;
}

static cm_status find_last(const cm_topology *t, cm_run *run, cm_strand *s, cm_error *error)
{
  uint32_t *last;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(s->after, s->first[s->count] + 1), CM_ARRAY(last, t->net_count)));
  for (uint32_t i = 0; i < s->count; i++) {
    for (uint64_t k = s->first[i]; k < s->first[i + 1]; k++)
      s->after[k] = last[s->net[k]];
    for (uint64_t k = s->first[i]; k < s->first[i + 1]; k++)
      last[s->net[k]] = i + 1;
  }
  cm_free(last);
  return CM_OK;
}

cm_status cm_strand_new(const cm_demand *demand, cm_strand_order order, uint64_t pins_max, cm_run *run, cm_strand *strand,
                        cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_strand s = {0};
  uint32_t *place = NULL, *found = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(s.neuron, t->vertex_count), CM_ARRAY(place, t->vertex_count),
                                CM_ARRAY(found, (size_t)t->vertex_count + 1));
  CM_THEN(status, line_up(demand, order, run, s.neuron, error));
  if (status == CM_OK) {
    s.count = take_stretches(s.neuron, t->vertex_count, t->pin_count > pins_max ? (double)pins_max / (double)t->pin_count : 1);
    memset(place, 0xff, t->vertex_count * sizeof *place);
    for (uint32_t i = 0; i < s.count; i++)
      place[s.neuron[i]] = i;
    status = gather(t, place, found, run, &s, error);
  }
  CM_THEN(status, find_last(t, run, &s, error));
  CM_FREE(place, found);
  CM_END(status, *strand = s, cm_strand_free(&s));
}

void cm_strand_free(cm_strand *strand)
{
  CM_FREE(strand->first, strand->net, strand->after, strand->neuron);
  *strand = (cm_strand){0};
}
