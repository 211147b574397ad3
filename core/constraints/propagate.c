/* What follows from domains that shrank. What can fail: memory. */
#include <string.h>

#include "core/constraints/domains.h"

/* ---- relations ---- */

/* The tiles of a domain lie behind one label: its number; else UINT32_MAX. */
static uint32_t only_label(const cm_state *s, uint32_t v, cm_scope scope)
{
  const cm_place_model *m = s->model;
  const uint64_t *domain = cm_state_domain(s, v);
  const uint32_t first = cm_tile_next(domain, m->words, 0);
  if (first >= m->tiles)
    return UINT32_MAX;
  const uint64_t *mask = &m->mask[scope][(size_t)m->label[scope][first] * m->words];
  for (uint32_t w = 0; w < m->words; w++)
    if ((domain[w] & ~mask[w]) != 0)
      return UINT32_MAX;
  return m->label[scope][first];
}

static cm_status follow_relation(cm_state *s, uint32_t v, const cm_relation *r, bool *possible, cm_error *error)
{
  const cm_place_model *m = s->model;
  uint64_t *support = s->scratch;
  if (r->kind == CM_OTHER_LABEL) {
    const uint32_t label = only_label(s, v, (cm_scope)r->scope);
    return label == UINT32_MAX ? CM_OK
                               : cm_state_narrow(s, r->other, &m->mask[r->scope][(size_t)label * m->words], false, possible, error);
  }
  memset(support, 0, m->words * sizeof *support);
  const uint64_t *domain = cm_state_domain(s, v);
  const uint64_t *other = cm_state_domain(s, r->other);
  bool all = false; /* of the other's domain has support */
  for (uint32_t t = cm_tile_next(domain, m->words, 0); t < m->tiles && !all; t = cm_tile_next(domain, m->words, t + 1)) {
    const uint64_t *row = r->kind == CM_BY_TABLE ? &m->table[r->table][(size_t)t * m->words] : &m->mask[r->scope][(size_t)m->label[r->scope][t] * m->words];
    all = true;
    for (uint32_t w = 0; w < m->words; w++) {
      support[w] |= row[w];
      all = all && (other[w] & ~support[w]) == 0;
    }
    s->work += m->words;
  }
  return all ? CM_OK : cm_state_narrow(s, r->other, support, true, possible, error);
}

/* ---- packings ---- */

/* Takes buckets without room away from whoever is not booked. */
static cm_status take_full(cm_state *s, uint32_t packing, uint32_t bucket, bool *possible, cm_error *error)
{
  const cm_place_model *m = s->model;
  const cm_packing *p = &m->packing[packing];
  const cm_booking *b = &s->booking[packing];
  const uint64_t room = p->capacity[bucket] - b->used[bucket];
  for (uint32_t k = 0; k < p->count && *possible; k++)
    if (!b->booked[k] && p->need[k] > room &&
        cm_state_narrow(s, p->variable[k], &m->mask[p->scope][(size_t)bucket * m->words], false, possible, error) != CM_OK)
      return error->status;
  s->work += p->count;
  return CM_OK;
}

static cm_status book(cm_state *s, uint32_t packing, uint32_t slot, bool *possible, cm_error *error)
{
  const cm_packing *p = &s->model->packing[packing];
  cm_booking *b = &s->booking[packing];
  s->packing_due[packing] = true;
  if (b->booked[slot])
    return CM_OK;
  const uint32_t bucket = only_label(s, p->variable[slot], p->scope);
  if (bucket == UINT32_MAX)
    return CM_OK;
  CM_TRY(cm_state_remember(s, slot, packing + 1, bucket, error));
  b->booked[slot] = true;
  b->used[bucket] += p->need[slot];
  if (b->used[bucket] > p->capacity[bucket]) {
    s->failures[p->variable[slot]]++;
    *possible = false;
    return CM_OK;
  }
  return take_full(s, packing, bucket, possible, error);
}

/* ---- all of it ---- */

static cm_status follow_variable(cm_state *s, uint32_t v, bool *possible, cm_error *error)
{
  const cm_place_model *m = s->model;
  *possible = cm_tile_next(cm_state_domain(s, v), m->words, 0) < m->tiles; /* a domain may be empty from the beginning */
  for (uint32_t i = m->first_relation[v]; i < m->first_relation[v + 1] && *possible; i++)
    CM_TRY(follow_relation(s, v, &m->relation[i], possible, error));
  for (uint32_t i = s->first_in[v]; i < s->first_in[v + 1] && *possible; i++)
    CM_TRY(book(s, s->packing_in[i], s->slot_in[i], possible, error));
  for (uint32_t i = s->first_chain[v]; i < s->first_chain[v + 1]; i++)
    s->chain_due[s->chain_in[i]] = true;
  return CM_OK;
}

/* What circuits surely take is not too much, and what else they can take narrows where their open ends are. */
static cm_status follow_circuits(cm_state *s, bool *possible, cm_error *error)
{
  const cm_place_model *m = s->model;
  uint32_t broken;
  cm_state_find_boxes(s);
  s->work += (uint64_t)m->variables * m->words + m->circuit_count;
  *possible = cm_circuits_hold(m, s->box, s->domain, s->circuit_load, &broken);
  if (!*possible) {
    s->failures[m->circuit[broken].from]++;
    s->failures[m->circuit[broken].to]++;
  }
  for (uint32_t i = 0; i < m->circuit_count && *possible && s->queue_count == 0; i++) {
    const uint32_t v = cm_circuit_reach(m, i, s->box, s->domain, s->circuit_load, s->scratch);
    if (v == UINT32_MAX)
      continue;
    s->work += m->tiles;
    CM_TRY(cm_state_narrow(s, v, s->scratch, true, possible, error));
  }
  return CM_OK;
}

/* What costs more is looked at when nothing else is left to follow. */
static cm_status follow_rest(cm_state *s, bool *possible, cm_error *error)
{
  for (uint32_t i = 0; i < s->model->chain_count && *possible && s->queue_count == 0; i++) {
    if (!s->chain_due[i])
      continue;
    s->chain_due[i] = false;
    CM_TRY(cm_chain_narrow(s, i, possible, error));
  }
  for (uint32_t i = 0; i < s->model->packing_count && *possible && s->queue_count == 0; i++) {
    if (s->packing_due[i])
      *possible = cm_packing_flows(s, i);
    s->packing_due[i] = s->packing_due[i] && !*possible;
  }
  if (*possible && s->queue_count == 0 && s->circuit_load != NULL)
    return follow_circuits(s, possible, error);
  return CM_OK;
}

cm_status cm_state_propagate(cm_state *s, bool *possible, cm_error *error)
{
  bool more = true;
  *possible = true;
  while (more && *possible) {
    while (s->queue_count > 0 && *possible) {
      const uint32_t v = s->queue[s->queue_begin];
      s->queue_begin = (s->queue_begin + 1) % s->model->variables;
      s->queue_count--;
      s->queued[v] = false;
      CM_TRY(follow_variable(s, v, possible, error));
    }
    CM_TRY_IF(*possible, follow_rest(s, possible, error));
    more = s->queue_count > 0;
  }
  if (!*possible)
    cm_state_clear_queue(s);
  return CM_OK;
}
