/* Flows of needs into buckets, kept from one look to the next and mended where domains shrank (Regin, AAAI 1994; Ford and Fulkerson, 1956). */
#include <string.h>

#include "core/constraints/domains.h"

/* The buckets that a variable's tiles lie in. */
static const uint64_t *buckets_of(cm_state *s, const cm_packing *p, cm_booking *b, uint32_t v)
{
  const cm_place_model *m = s->model;
  const uint64_t *domain = cm_state_domain(s, v);
  s->work += m->words;
  if (p->scope == CM_SCOPE_CORE)
    return domain;
  memset(b->project, 0, (p->buckets + 63) / 64 * sizeof *b->project);
  for (uint32_t t = cm_tile_next(domain, m->words, 0); t < m->tiles; t = cm_tile_next(domain, m->words, t + 1))
    cm_tile_add(b->project, m->label[p->scope][t]);
  return b->project;
}

/* What flows where nothing of the variable can be any more goes back. Returns what is left of its flow. */
static uint64_t mend(cm_state *s, const cm_packing *p, cm_booking *b, uint32_t slot)
{
  const uint64_t *buckets = buckets_of(s, p, b, p->variable[slot]);
  const uint32_t words = (p->buckets + 63) / 64;
  uint64_t *flow = &b->flow[(size_t)slot * p->buckets], *carries = &b->carries[(size_t)slot * words], sum = 0;
  for (uint32_t k = cm_tile_next(carries, words, 0); k < p->buckets; k = cm_tile_next(carries, words, k + 1)) {
    if (!cm_tile_in(buckets, k)) {
      b->filled[k] -= flow[k];
      flow[k] = 0;
      carries[k / 64] ^= UINT64_C(1) << k % 64;
    }
    sum += flow[k];
  }
  s->work += p->buckets;
  return sum;
}

static void change(const cm_packing *p, cm_booking *b, uint32_t slot, uint32_t bucket, uint64_t by)
{
  uint64_t *flow = &b->flow[(size_t)slot * p->buckets + bucket], *carries = &b->carries[(size_t)slot * ((p->buckets + 63) / 64) + bucket / 64];
  *flow += by;
  *carries = (*carries & ~(UINT64_C(1) << bucket % 64)) | (uint64_t)(*flow > 0) << bucket % 64;
}

/* Sends up to `amount` along the way that was found to `bucket`. */
static uint64_t send(const cm_packing *p, cm_booking *b, uint32_t slot, uint32_t bucket, uint64_t amount)
{
  const uint64_t room = p->capacity[bucket] - b->filled[bucket];
  amount = amount < room ? amount : room;
  for (uint32_t at = bucket, from = b->from_variable[at]; from != slot; from = b->from_variable[at]) {
    at = b->from_bucket[from];
    const uint64_t flow = b->flow[(size_t)from * p->buckets + at];
    amount = amount < flow ? amount : flow;
  }
  b->filled[bucket] += amount;
  for (uint32_t at = bucket;;) {
    const uint32_t from = b->from_variable[at];
    change(p, b, from, at, amount);
    if (from == slot)
      return amount;
    at = b->from_bucket[from];
    change(p, b, from, at, -amount);
  }
}

/* Breadth first from a variable: to a bucket with room, by what others can move on. 0: there is no way. */
static uint64_t augment(cm_state *s, const cm_packing *p, cm_booking *b, uint32_t slot, uint64_t amount)
{
  const uint32_t words = (p->buckets + 63) / 64;
  uint32_t begin = 0, end = 0;
  memset(b->seen, 0, words * sizeof *b->seen);
  for (uint32_t k = 0; k < p->count; k++)
    b->from_bucket[k] = UINT32_MAX;
  b->queue[end++] = slot;
  while (begin < end) {
    const uint32_t at = b->queue[begin++];
    const uint64_t *buckets = buckets_of(s, p, b, p->variable[at]);
    for (uint32_t k = cm_tile_next(buckets, words, 0); k < p->buckets; k = cm_tile_next(buckets, words, k + 1)) {
      if (cm_tile_in(b->seen, k))
        continue;
      cm_tile_add(b->seen, k);
      b->from_variable[k] = at;
      if (b->filled[k] < p->capacity[k])
        return send(p, b, slot, k, amount);
      for (uint32_t u = 0; u < p->count; u++)
        if (u != slot && b->from_bucket[u] == UINT32_MAX && b->flow[(size_t)u * p->buckets + k] > 0) {
          b->from_bucket[u] = k;
          b->queue[end++] = u;
        }
      s->work += p->count;
    }
  }
  s->failures[p->variable[slot]]++;
  return 0;
}

bool cm_packing_flows(cm_state *s, uint32_t packing)
{
  const cm_packing *p = &s->model->packing[packing];
  cm_booking *b = &s->booking[packing];
  if (b->flow == NULL)
    return true;
  for (uint32_t k = 0; k < p->count; k++) {
    uint64_t flow = mend(s, p, b, k);
    while (flow < p->need[k]) {
      const uint64_t more = augment(s, p, b, k, p->need[k] - flow);
      if (more == 0)
        return false;
      flow += more;
    }
  }
  return true;
}
