#include "core/deploy/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Units that the largest threshold of a population has: powers of the root of 2. */
enum { FINE = 3 };
static const double budget = 2e9; /* updates of neurons and events of all runs */

/* The real value that a group's words hold at least: its largest threshold, or, of neurons that never spike, its largest weight. */
static cm_status find_largest(const cm_integer_network *n, cm_memory *memory, double **largest, cm_error *error)
{
  double *most = NULL;
  CM_TRY(CM_NEW(memory, most, n->groups, error));
  for (uint32_t v = 0; v < n->neurons; v++)
    if (!n->input[v] && n->threshold[v] < HUGE_VALF)
      most[n->group[v]] = fmax(most[n->group[v]], fabs((double)n->threshold[v]));
  for (uint64_t i = 0; i < n->synapses; i++) {
    const uint32_t to = n->synapse[i].target;
    if (n->threshold[to] == HUGE_VALF)
      most[n->group[to]] = fmax(most[n->group[to]], fabs((double)n->synapse[i].real));
  }
  for (uint32_t g = 0; g < n->groups; g++)
    most[g] = most[g] > 0 ? most[g] : 1;
  *largest = most;
  return CM_OK;
}

uint64_t cm_spikes_differ(const cm_integer_network *n, const cm_spikes *a, const cm_spikes *b, uint64_t *by_group, uint32_t *first)
{
  uint64_t all = 0;
  *first = UINT32_MAX;
  for (uint32_t s = 0; s < a->steps; s++) {
    uint64_t i = a->first[s], j = b->first[s];
    while (i < a->first[s + 1] || j < b->first[s + 1]) {
      const uint32_t x = i < a->first[s + 1] ? a->neuron[i] : UINT32_MAX, y = j < b->first[s + 1] ? b->neuron[j] : UINT32_MAX, v = x < y ? x : y;
      i += x <= y;
      j += y <= x;
      if (x == y || n->input[v])
        continue;
      all++;
      if (by_group != NULL)
        by_group[n->group[v]]++;
      *first = *first == UINT32_MAX ? s : *first;
    }
  }
  return all;
}

typedef struct search {
  cm_integer_network *n;
  const cm_spikes *wanted;
  cm_run *run;
  const double *largest;
  double *best;     /* [groups] scales of the best so far */
  uint64_t fewest;  /* that differ with them */
  uint64_t least;   /* what they cost */
  int64_t *more;    /* [neurons] spikes more than wanted; zeroed */
  double work, one; /* done, and of one run */
  cm_quantised *q;
} search;

/* Spikes that one has more than the other, over all neurons: a neuron that never spikes differs in fewer than one whose spikes come a step late, and is
 * worse. */
static uint64_t count_off(const search *s, const cm_spikes *got)
{
  uint64_t off = 0;
  for (uint64_t i = 0; i < got->first[got->steps]; i++)
    s->more[got->neuron[i]]++;
  for (uint64_t i = 0; i < s->wanted->first[s->wanted->steps]; i++)
    s->more[s->wanted->neuron[i]]--;
  for (uint32_t v = 0; v < s->n->neurons; v++) {
    off += (uint64_t)llabs(s->more[v]);
    s->more[v] = 0;
  }
  return off;
}

/* Runs with the scales as they stand and keeps them where they cost less. */
static cm_status try(search *s, cm_error *error)
{
  uint32_t first;
  cm_integer_result r;
  const uint64_t clamped = cm_integer_scale(s->n, s->q->scale);
  CM_TRY(cm_integer_run(s->n, s->wanted, s->wanted->steps, s->run, &r, error));
  const uint64_t differing = cm_spikes_differ(s->n, s->wanted, &r.spikes, NULL, &first);
  const uint64_t cost = differing + 2 * count_off(s, &r.spikes);
  const bool better = s->q->runs == 0 || cost < s->least;
  s->q->runs++;
  s->work += s->one;
  if (better) {
    s->fewest = differing;
    s->least = cost;
    s->q->clamped = clamped;
    memcpy(s->best, s->q->scale, s->n->groups * sizeof *s->best);
    cm_integer_result_free(&s->q->result);
    s->q->result = r;
  } else
    cm_integer_result_free(&r);
  return CM_OK;
}

static bool affordable(const search *s)
{
  return s->fewest > 0 && s->work + s->one <= budget;
}

static cm_status search_all(search *s, cm_error *error)
{
  static const int from[] = {20, 18, 22, 16, 24, 14, 26, 12, 28, 10, 8, 6, 4, 19, 17, 21, 15, 23, 13, 25, 11, 27, 9, 7, 5};
  for (size_t k = 0; k < sizeof from / sizeof *from && (k == 0 || affordable(s)); k++) {
    for (uint32_t g = 0; g < s->n->groups; g++)
      s->q->scale[g] = exp2(from[k] / 2.0) / s->largest[g];
    CM_TRY(try(s, error));
  }
  return CM_OK;
}

static cm_status search_each(search *s, cm_error *error)
{
  const int wide = FINE;
  for (uint32_t g = 0; g < s->n->groups; g++)
    for (int step = -wide; step <= wide && affordable(s); step++) {
      memcpy(s->q->scale, s->best, s->n->groups * sizeof *s->best);
      s->q->scale[g] *= exp2(step / 2.0 + 0.25);
      CM_TRY(try(s, error));
    }
  return CM_OK;
}

cm_status cm_quantise(cm_integer_network *network, const cm_spikes *wanted, cm_run *run, cm_quantised *quantised, cm_error *error)
{
  cm_quantised q = {.clamped = 0};
  double *largest = NULL;
  search s = {.n = network, .wanted = wanted, .run = run, .q = &q};
  s.one = (double)wanted->steps * network->neurons;
  for (uint64_t i = 0; i < wanted->first[wanted->steps]; i++)
    s.one += (double)(network->first[wanted->neuron[i] + 1] - network->first[wanted->neuron[i]]);
  cm_status status = find_largest(network, run->memory, &largest, error);
  s.largest = largest;
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(q.scale, network->groups), CM_ARRAY(s.best, network->groups), CM_ARRAY(s.more, network->neurons)));
  CM_THEN(status, search_all(&s, error));
  CM_THEN(status, search_each(&s, error));
  if (status == CM_OK) {
    memcpy(q.scale, s.best, network->groups * sizeof *s.best);
    (void)cm_integer_scale(network, q.scale);
    q.differing = s.fewest;
    *quantised = q;
  } else
    cm_quantised_free(&q);
  CM_FREE(largest, s.best, s.more);
  return status;
}

void cm_quantised_free(cm_quantised *q)
{
  cm_free(q->scale);
  cm_integer_result_free(&q->result);
  *q = (cm_quantised){.runs = 0};
}
