/* Circuits of placement problems: each edge takes the links from its first node's router to its second's, along the row, then the column. Where nodes are
 * not settled, what every way between the boxes of their tiles takes. */
#include <string.h>

#include "base/random.h"
#include "core/constraints/model_building.h"

enum { RIGHT, LEFT, DOWN, UP, INTO, OUT_OF, PLACES };

cm_status cm_model_collect_circuits(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  const cm_problem *p = b->p;
  if (!p->circuits || (b->out->limit != NULL && b->out->limit[CM_LIMIT_CIRCUITS]))
    return CM_OK;
  CM_TRY(cm_model_label(b, CM_SCOPE_ROUTER, error));
  CM_TRY(CM_NEW(b->memory, m->circuit, p->edge_count, error));
  for (uint32_t e = 0; e < p->edge_count; e++) {
    const uint32_t *pin = &p->pin[p->first[e]];
    const uint32_t from = m->variable_of[pin[0]], to = p->first[e + 1] - p->first[e] == 2 ? m->variable_of[pin[1]] : from;
    if (from == to || from == UINT32_MAX || to == UINT32_MAX)
      continue;
    m->circuit[m->circuit_count++] = (cm_circuit){from, to};
    b->role[from] += cm_mix(to * UINT64_C(2) + 1);
    b->role[to] += cm_mix(from * UINT64_C(2) + 2);
  }
  return CM_OK;
}

static bool is_one(const cm_router_box *b)
{
  return b->low[0] == b->high[0] && b->low[1] == b->high[1];
}

/* The tiles of v, none of which are behind the router of `one`; NULL: the boxes are all there is. */
static bool is_elsewhere(const cm_place_model *m, const uint64_t *domain, uint32_t v, const cm_router_box *box, const cm_router_box *one, uint32_t router)
{
  if (domain == NULL)
    return memcmp(&box[v], one, sizeof *one) != 0;
  const uint64_t *mask = &m->mask[CM_SCOPE_ROUTER][(size_t)router * m->words];
  for (uint32_t w = 0; w < m->words; w++)
    if ((domain[(size_t)v * m->words + w] & mask[w]) != 0)
      return false;
  return true;
}

/* Books the links from `from` on until `to` along an axis, on line `line` of the other; false: one has too many. */
static bool book_links(const cm_problem *p, uint32_t *load, int axis, uint32_t line, const uint32_t span[2])
{
  const uint32_t across = p->width / p->router_x;
  const int place = (axis == 0 ? RIGHT : DOWN) + (span[0] < span[1] ? 0 : 1);
  bool fits = true;
  for (uint32_t at = span[0]; at != span[1]; at += span[0] < span[1] ? 1 : UINT32_MAX) {
    const uint32_t router = axis == 0 ? line * across + at : at * across + line;
    fits = ++load[router * PLACES + (uint32_t)place] <= p->circuit_limit[CM_CIRCUITS_LINK] && fits;
  }
  return fits;
}

/* Where a surely leaves, and b is surely entered, along an axis: false: not known. */
static bool span_of(const cm_router_box *a, const cm_router_box *b, int axis, uint32_t span[2])
{
  const bool up = a->high[axis] < b->low[axis];
  span[0] = up ? a->high[axis] : a->low[axis];
  span[1] = up ? b->low[axis] : b->high[axis];
  return up || b->high[axis] < a->low[axis];
}

bool cm_circuits_hold(const cm_place_model *m, const cm_router_box *box, const uint64_t *domain, uint32_t *load, uint32_t *broken)
{
  const cm_problem *p = m->problem;
  const uint32_t across = p->width / p->router_x;
  memset(load, 0, (size_t)across * (p->height / p->router_y) * PLACES * sizeof *load);
  for (uint32_t i = 0; i < m->circuit_count; i++) {
    const cm_circuit *c = &m->circuit[i];
    const cm_router_box *a = &box[c->from], *b = &box[c->to];
    const uint32_t from = a->low[1] * across + a->low[0], to = b->low[1] * across + b->low[0];
    uint32_t span[2];
    bool fits = true;
    if (is_one(a) && is_elsewhere(m, domain, c->to, box, a, from))
      fits = ++load[from * PLACES + OUT_OF] <= p->circuit_limit[CM_CIRCUITS_OUT];
    if (is_one(b) && is_elsewhere(m, domain, c->from, box, b, to))
      fits = ++load[to * PLACES + INTO] <= p->circuit_limit[CM_CIRCUITS_IN] && fits;
    if (a->low[1] == a->high[1] && span_of(a, b, 0, span))
      fits = book_links(p, load, 0, a->low[1], span) && fits;
    if (b->low[0] == b->high[0] && span_of(a, b, 1, span))
      fits = book_links(p, load, 1, b->low[0], span) && fits;
    *broken = i;
    if (!fits)
      return false;
  }
  return true;
}

size_t cm_circuit_loads(const cm_problem *p)
{
  return (size_t)(p->width / p->router_x) * (p->height / p->router_y) * PLACES;
}
