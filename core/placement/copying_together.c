/* Happy path: whose sources cannot serve a copy is copied together with those, and with their sources, on the core where these are fewest. */
#include "core/placement/copying.h"

enum { TOGETHER_MOST = 4096 };
static const double work_most = 1e9; /* inputs and cores looked at */

/* Instances that need copies on a part so that one of them can have one there: itself, and sources that could not serve all of these from where they stand.
 * 0: they are too many, or have no room. */
static uint32_t closure(cm_copying *s, uint32_t v, uint32_t part)
{
  const cm_limits *l = s->t->limits;
  uint64_t neurons = s->neurons[part], synapses = s->synapses[part];
  uint32_t count = 1;
  s->stamp++;
  s->set[0] = v;
  s->in_set[v] = s->stamp;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t neuron = s->of[s->set[i]];
    neurons += cm_demand_size(s->t->demand, neuron);
    synapses += s->in_first[neuron + 1] - s->in_first[neuron];
    s->work += (double)(s->in_first[neuron + 1] - s->in_first[neuron]);
    if ((l->neurons != 0 && neurons > l->neurons) || (l->synapses != 0 && synapses > l->synapses))
      return 0;
    for (uint64_t k = s->in_first[neuron]; k < s->in_first[neuron + 1]; k++) {
      int64_t ignored;
      const uint32_t u = cm_copying_cheapest(s, s->source[k], part, &ignored);
      const int w = cm_copying_way(s, s->part[u], part);
      if (w == CM_COPY_OWN || s->in_set[u] == s->stamp || cm_demand_is_outside(s->t->demand, s->of[u]))
        continue;
      if (s->needed[u] != s->stamp)
        s->need[u] = 0;
      s->needed[u] = s->stamp;
      if (cm_copying_leaves(s, u, w) + ++s->need[u] <= cm_copying_limit(s, w))
        continue;
      if (count == TOGETHER_MOST || s->count + count >= s->most)
        return 0;
      s->in_set[u] = s->stamp;
      s->set[count++] = u;
    }
  }
  return s->count + count <= s->most ? count : 0;
}

/* The best part for that: *least [of instances], CM_NO_COPY at first. */
static bool is_smaller(cm_copying *s, uint32_t v, uint32_t part, uint32_t *least)
{
  cm_copy_takes t = cm_copying_takes(s, v);
  cm_copying_take_over(s, v, part, CM_NO_COPY, &t);
  const uint32_t size = t.moved > 0 ? closure(s, v, part) : 0;
  if (size == 0 || size >= *least)
    return false;
  *least = size;
  return true;
}

static void stand(cm_copying *s, uint32_t core)
{
  s->core[s->parts] = core;
  s->cluster[s->parts] = cm_chip_cluster_of(s->t->chip, core);
}

/* The same on cores that may open, one of each cluster and the nearest of all: the core, CM_NO_COPY where none is better. */
static uint32_t find_core(cm_copying *s, uint32_t v, uint32_t *least)
{
  uint32_t best = CM_NO_COPY, last = CM_NO_COPY;
  if (s->t->parts_max != 0 && s->parts >= s->t->parts_max)
    return CM_NO_COPY;
  for (uint32_t p = 0; p <= s->parts; p++) {
    const uint32_t cluster = p == s->parts ? CM_NO_COPY : s->cluster[p];
    if (cluster == last && p < s->parts)
      continue;
    const uint32_t core = cm_copying_free_core(s, v, cluster);
    s->work += cm_chip_cores(s->t->chip);
    last = cluster;
    if (core == CM_NO_COPY)
      continue;
    stand(s, core);
    best = is_smaller(s, v, s->parts, least) ? core : best;
  }
  return best;
}

/* A copy for one of which none mends anything by itself, with copies of its sources: as few as there can be. */
static cm_status mend_one(cm_copying *s, uint32_t v, bool *made, cm_error *error)
{
  uint32_t best = CM_NO_COPY, least = CM_NO_COPY;
  for (uint32_t p = 0; p < s->parts; p++)
    best = is_smaller(s, v, p, &least) ? p : best;
  const uint32_t core = find_core(s, v, &least);
  *made = best != CM_NO_COPY || core != CM_NO_COPY;
  if (!*made)
    return cm_run_check(s->t->run, error);
  if (core != CM_NO_COPY) {
    stand(s, core);
    s->usable[core] = 0;
    best = s->parts++;
  }
  (void)closure(s, v, best);
  for (uint32_t i = 0; i < least; i++)
    CM_TRY(cm_copying_make(s, s->set[i], best, error));
  return cm_run_check(s->t->run, error);
}

cm_status cm_copying_mend_together(cm_copying *s, cm_error *error)
{
  for (bool gained = true; gained && s->excess > 0;) {
    gained = false;
    for (uint32_t v = 0; v < s->count && s->excess > 0; v++) {
      bool made = true;
      while (made && cm_copying_excess(s, v) > 0 && s->work < work_most) {
        CM_TRY(mend_one(s, v, &made, error));
        gained = gained || made;
      }
    }
    CM_TRY(cm_copying_mend(s, error));
  }
  return CM_OK;
}
