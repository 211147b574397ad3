/* Domains as they shrink and come back. What can fail: memory. */
#include "core/constraints/domains.h"

#include <string.h>

enum { FLOW_PAIRS_MAX = 1 << 20 };

/* ---- made and freed ---- */

static cm_status make_booking(const cm_packing *p, cm_memory *memory, cm_booking *b, cm_error *error)
{
  const uint32_t words = (p->buckets + 63) / 64;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(b->used, p->buckets), CM_ARRAY(b->booked, p->count));
  if (status != CM_OK || (uint64_t)p->count * p->buckets > FLOW_PAIRS_MAX)
    return status;
  return CM_NEW_ALL(memory, error, CM_ARRAY(b->flow, (size_t)p->count * p->buckets), CM_ARRAY(b->carries, (size_t)p->count * ((p->buckets + 63) / 64)),
                                     CM_ARRAY(b->filled, p->buckets), CM_ARRAY(b->project, words), CM_ARRAY(b->seen, words), CM_ARRAY(b->queue, p->count),
                                     CM_ARRAY(b->from_bucket, p->count), CM_ARRAY(b->from_variable, p->buckets));
}

/* Which packings and chains a variable is in. */
static cm_status index_members(cm_state *s, cm_error *error)
{
  const cm_place_model *m = s->model;
  uint64_t in = 0, chained = 0;
  for (uint32_t i = 0; i < m->packing_count; i++)
    in += m->packing[i].count;
  for (uint32_t i = 0; i < m->chain_count; i++)
    chained += m->chain[i].count;
  CM_TRY(CM_NEW_ALL(s->memory, error, CM_ARRAY(s->first_in, m->variables + 1), CM_ARRAY(s->packing_in, in), CM_ARRAY(s->slot_in, in),
                                      CM_ARRAY(s->first_chain, m->variables + 1), CM_ARRAY(s->chain_in, chained)));
  for (uint32_t i = 0; i < m->packing_count; i++)
    for (uint32_t k = 0; k < m->packing[i].count; k++)
      s->first_in[m->packing[i].variable[k]]++;
  for (uint32_t i = 0; i < m->chain_count; i++)
    for (uint32_t k = 0; k < m->chain[i].count; k++)
      s->first_chain[m->chain[i].variable[k]]++;
  for (uint32_t v = 1; v <= m->variables; v++) {
    s->first_in[v] += s->first_in[v - 1];
    s->first_chain[v] += s->first_chain[v - 1];
  }
  for (uint32_t i = m->packing_count; i-- > 0;)
    for (uint32_t k = m->packing[i].count; k-- > 0;) {
      const uint32_t at = --s->first_in[m->packing[i].variable[k]];
      s->packing_in[at] = i;
      s->slot_in[at] = k;
    }
  for (uint32_t i = m->chain_count; i-- > 0;)
    for (uint32_t k = m->chain[i].count; k-- > 0;)
      s->chain_in[--s->first_chain[m->chain[i].variable[k]]] = i;
  return CM_OK;
}

cm_status cm_state_new(const cm_place_model *model, cm_memory *memory, cm_state **state, cm_error *error)
{
  cm_state *s;
  CM_TRY(CM_NEW(memory, s, 1, error));
  s->model = model;
  s->memory = memory;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(s->domain, (size_t)model->variables * model->words), CM_ARRAY(s->failures, model->variables),
                                CM_ARRAY(s->booking, model->packing_count), CM_ARRAY(s->queued, model->variables), CM_ARRAY(s->packing_due, model->packing_count),
                                CM_ARRAY(s->chain_due, model->chain_count), CM_ARRAY(s->queue, model->variables), CM_ARRAY(s->scratch, 4 * (size_t)model->words),
                                CM_ARRAY(s->box, model->variables), CM_ARRAY(s->boxed, (size_t)model->variables * model->words), CM_ARRAY(s->flood, model->tiles));
  CM_THEN_IF(status, model->circuit_count > 0, CM_NEW(memory, s->circuit_load, cm_circuit_loads(model->problem), error));
  for (uint32_t i = 0; status == CM_OK && i < model->packing_count; i++)
    status = make_booking(&model->packing[i], memory, &s->booking[i], error);
  CM_THEN(status, index_members(s, error));
  CM_TRY_OR(status, cm_state_free(s));
  cm_state_reset(s, NULL);
  *state = s;
  return CM_OK;
}

void cm_state_free(cm_state *s)
{
  if (s == NULL)
    return;
  for (uint32_t i = 0; s->booking != NULL && i < s->model->packing_count; i++) {
    cm_booking *b = &s->booking[i];
    CM_FREE(b->used, b->booked, b->flow, b->filled, b->carries, b->project, b->seen, b->queue, b->from_bucket, b->from_variable);
  }
  CM_FREE(s->domain, s->failures, s->booking, s->first_in, s->packing_in, s->slot_in, s->first_chain, s->chain_in, s->queued, s->packing_due, s->chain_due, s->queue,
          s->trail, s->scratch, s->flood, s->box, s->boxed, s->circuit_load, s);
}

void cm_state_find_boxes(cm_state *s)
{
  const cm_place_model *m = s->model;
  for (uint32_t v = 0; v < m->variables; v++) {
    const uint64_t *domain = cm_state_domain(s, v);
    uint64_t *boxed = &s->boxed[(size_t)v * m->words];
    if (memcmp(boxed, domain, m->words * sizeof *domain) == 0)
      continue;
    memcpy(boxed, domain, m->words * sizeof *domain);
    s->box[v] = cm_router_box_none();
    for (uint32_t t = cm_tile_next(domain, m->words, 0); t < m->tiles; t = cm_tile_next(domain, m->words, t + 1))
      cm_router_box_take(m->problem, t, &s->box[v]);
  }
}

static void enqueue(cm_state *s, uint32_t variable)
{
  if (s->queued[variable])
    return;
  s->queued[variable] = true;
  s->queue[(s->queue_begin + s->queue_count++) % s->model->variables] = variable;
}

void cm_state_clear_queue(cm_state *s)
{
  for (; s->queue_count > 0; s->queue_count--) {
    s->queued[s->queue[s->queue_begin]] = false;
    s->queue_begin = (s->queue_begin + 1) % s->model->variables;
  }
}

void cm_state_reset(cm_state *s, const uint64_t *domain)
{
  const cm_place_model *m = s->model;
  cm_state_clear_queue(s);
  s->trail_count = 0;
  if (m->variables > 0)
    memcpy(s->domain, domain != NULL ? domain : m->domain, (size_t)m->variables * m->words * sizeof *s->domain);
  for (uint32_t i = 0; i < m->packing_count; i++) {
    memset(s->booking[i].used, 0, m->packing[i].buckets * sizeof *s->booking[i].used);
    memset(s->booking[i].booked, 0, m->packing[i].count * sizeof *s->booking[i].booked);
    s->packing_due[i] = true;
  }
  for (uint32_t i = 0; i < m->chain_count; i++)
    s->chain_due[i] = true;
  for (uint32_t v = 0; v < m->variables; v++)
    enqueue(s, v);
}

/* ---- changes ---- */

cm_status cm_state_remember(cm_state *s, uint32_t at, uint32_t what, uint64_t old, cm_error *error)
{
  CM_TRY(CM_ROOM(s->memory, s->trail, &s->trail_capacity, s->trail_count + 1, error));
  s->trail[s->trail_count++] = (struct cm_trail){at, what, old};
  return CM_OK;
}

void cm_state_undo(cm_state *s, uint64_t trail_count)
{
  cm_state_clear_queue(s);
  while (s->trail_count > trail_count) {
    const struct cm_trail *t = &s->trail[--s->trail_count];
    if (t->what == 0) {
      s->domain[t->at] = t->old;
    } else {
      s->booking[t->what - 1].booked[t->at] = false;
      s->booking[t->what - 1].used[t->old] -= s->model->packing[t->what - 1].need[t->at];
    }
  }
}

cm_status cm_state_narrow(cm_state *s, uint32_t v, const uint64_t *tiles, bool inside, bool *possible, cm_error *error)
{
  const uint32_t words = s->model->words;
  uint64_t *domain = cm_state_domain(s, v), left = 0;
  bool changed = false;
  s->work += words;
  for (uint32_t w = 0; w < words; w++) {
    const uint64_t now = domain[w] & (inside ? tiles[w] : ~tiles[w]);
    if (now != domain[w]) {
      CM_TRY(cm_state_remember(s, (uint32_t)((size_t)v * words + w), 0, domain[w], error));
      domain[w] = now;
      changed = true;
    }
    left |= now;
  }
  if (left == 0) {
    s->failures[v]++;
    *possible = false;
  } else if (changed) {
    enqueue(s, v);
  }
  return CM_OK;
}
