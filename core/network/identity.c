#include "core/network/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"

enum { RUN_MAX = 4096, WINDOW = 24, ALIKE = 15, CHECK_EVERY = 1 << 12 };
/* What is seen of a neuron: the rate of its axons, and how many targets and sources it has, on a logarithmic scale. */
enum { COUNT_BITS = 18, STEPS_PER_OCTAVE = 2048, ALIKE_STEPS = 400 };

static uint64_t hash_text(const char *text)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (; *text != '\0'; text++)
    h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return cm_mix(h) >> (64 - CM_KEY_BITS);
}

/* A rate in the network's own unit, so that another scale does not matter. */
static uint64_t hash_rate(const cm_topology *t, uint64_t scaled)
{
  double value = (double)scaled / (double)t->weight_scale;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return cm_mix(bits);
}

static uint64_t on_scale(uint64_t count)
{
  return (uint64_t)lround(STEPS_PER_OCTAVE * log2(1 + (double)count));
}

static cm_status look_at_neurons(const cm_demand *demand, cm_run *run, uint64_t *key, uint64_t *targets, uint64_t *sources,
                                 cm_error *error)
{
  const cm_topology *t = demand->network;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    targets[source] += t->net_first[e + 1] - t->net_first[e];
    key[source] += hash_rate(t, cm_demand_net_weight(demand, e));
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      sources[t->pin[i]]++;
    CM_TRY_IF(e % CHECK_EVERY == 0, cm_run_check(run, error));
  }
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    uint64_t kind = cm_mix(key[v] + cm_demand_size(demand, v)) >> (64 - CM_KEY_BITS + 2 * COUNT_BITS);
    key[v] = (kind << COUNT_BITS | on_scale(targets[v])) << COUNT_BITS | on_scale(sources[v]);
  }
  return CM_OK;
}

cm_status cm_identify(const cm_demand *demand, cm_run *run, uint64_t *key, cm_error *error)
{
  const cm_topology *t = demand->network;
  if (t->label_text != NULL) {
    for (uint32_t v = 0; v < t->vertex_count; v++)
      key[v] = hash_text(cm_topology_label(t, v));
    return CM_OK;
  }
  uint64_t *targets, *sources = NULL;
  memset(key, 0, t->vertex_count * sizeof *key);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(targets, t->vertex_count), CM_ARRAY(sources, t->vertex_count));
  CM_THEN(status, look_at_neurons(demand, run, key, targets, sources, error));
  CM_FREE(targets, sources);
  return status;
}

/* ---- by names ---- */

typedef struct keyed {
  uint64_t key;
  uint32_t number;
} keyed;

CM_ORDER(by_key, keyed, CM_RISING(key) CM_RISING(number))

static cm_status sorted(const uint64_t *key, uint32_t count, cm_run *run, keyed **list, cm_error *error)
{
  CM_TRY(CM_NEW(run->memory, *list, count, error));
  for (uint32_t i = 0; i < count; i++)
    (*list)[i] = (keyed){key[i], i};
  qsort(*list, count, sizeof **list, by_key);
  return CM_OK;
}

static cm_status match_names(const cm_versions *s, cm_run *run, uint32_t *old_of, cm_error *error)
{
  keyed *before, *now = NULL;
  cm_status status = sorted(s->old_key, s->old_count, run, &before, error);
  CM_THEN(status, sorted(s->key, s->count, run, &now, error));
  for (uint32_t i = 0, j = 0; status == CM_OK && i < s->old_count && j < s->count;) {
    if (before[i].key == now[j].key)
      old_of[now[j++].number] = before[i++].number;
    else if (before[i].key < now[j].key)
      i++;
    else
      j++;
  }
  CM_FREE(before, now);
  return status;
}

/* ---- by what can be seen ---- */

static uint64_t apart(uint64_t a, uint64_t b)
{
  return a > b ? a - b : b - a;
}

/* Whether two could be the same neuron that lost or got a few synapses. */
static bool alike(const cm_versions *s, uint32_t i, uint32_t j)
{
  uint64_t a = s->old_key[i], b = s->key[j], mask = (UINT64_C(1) << COUNT_BITS) - 1;
  return a >> 2 * COUNT_BITS == b >> 2 * COUNT_BITS && apart(a & mask, b & mask) <= ALIKE_STEPS &&
         apart(a >> COUNT_BITS & mask, b >> COUNT_BITS & mask) <= ALIKE_STEPS;
}

/* Whether most of those from these two on are alike. */
static bool goes_on(const cm_versions *s, uint32_t i, uint32_t j)
{
  uint32_t same = 0, length = 0;
  for (; length < WINDOW && i + length < s->old_count && j + length < s->count; length++)
    same += alike(s, i + length, j + length);
  return same * WINDOW >= length * ALIKE;
}

static bool goes_on_after(const cm_versions *s, uint32_t i, uint32_t j)
{
  return i < s->old_count && j < s->count && alike(s, i, j) && goes_on(s, i, j);
}

static cm_status match_sequences(const cm_versions *s, cm_run *run, uint32_t *old_of, cm_error *error)
{
  uint32_t i = 0, j = 0, steps = 0;
  while (i < s->old_count && j < s->count) {
    uint32_t skip = 1;
    bool lost = false, here = goes_on(s, i, j);
    CM_TRY_IF(++steps % CHECK_EVERY == 0, cm_run_check(run, error));
    for (; !here && skip <= RUN_MAX; skip++) {
      lost = goes_on_after(s, i + skip, j);
      if (lost || goes_on_after(s, i, j + skip))
        break;
    }
    if (here || skip > RUN_MAX) {
      old_of[j++] = i++;
      continue;
    }
    i += lost ? skip : 0;
    j += lost ? 0 : skip;
  }
  return CM_OK;
}

static uint32_t count_alike(const cm_versions *s, const uint32_t *old_of)
{
  uint32_t sum = 0;
  for (uint32_t v = 0; v < s->count; v++)
    sum += old_of[v] != CM_NOBODY && alike(s, old_of[v], v);
  return sum;
}

static void match_numbers(const cm_versions *s, uint32_t *old_of)
{
  for (uint32_t v = 0; v < s->count; v++)
    old_of[v] = v < s->old_count ? v : CM_NOBODY;
}

cm_status cm_match_neurons(const cm_versions *versions, bool named, cm_run *run, uint32_t *old_of, cm_error *error)
{
  const cm_versions *s = versions;
  for (uint32_t v = 0; v < s->count; v++)
    old_of[v] = CM_NOBODY;
  if (named)
    return match_names(s, run, old_of, error);
  if (s->old_count != s->count) {
    uint32_t found;
    CM_TRY(match_sequences(s, run, old_of, error));
    found = count_alike(s, old_of);
    for (uint32_t v = 0; v < s->count && v < s->old_count; v++)
      found -= found > 0 && alike(s, v, v);
    if (found > 0)
      return CM_OK;
  }
  match_numbers(s, old_of);
  return CM_OK;
}
