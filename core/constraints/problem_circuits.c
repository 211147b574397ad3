/* Circuits of placement problems: each edge takes the links from its first node's router to its second's, along the row, then the column. Where nodes are
 * not settled, what every way between the boxes of their tiles takes. */
#include <string.h>

#include "base/random.h"
#include "core/constraints/model_building.h"

enum { RIGHT, LEFT, DOWN, UP, INTO, OUT_OF, REACHED, PLACES };

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
  CM_TRY(CM_NEW_ALL(b->memory, error, CM_ARRAY(m->first_circuit, m->variables + 1), CM_ARRAY(m->circuit_of, 2 * (size_t)m->circuit_count)));
  for (uint32_t i = 0; i < m->circuit_count; i++) {
    m->first_circuit[m->circuit[i].from]++;
    m->first_circuit[m->circuit[i].to]++;
  }
  for (uint32_t v = 1; v <= m->variables; v++)
    m->first_circuit[v] += m->first_circuit[v - 1];
  for (uint32_t i = m->circuit_count; i-- > 0;) {
    m->circuit_of[--m->first_circuit[m->circuit[i].from]] = i;
    m->circuit_of[--m->first_circuit[m->circuit[i].to]] = i;
  }
  return CM_OK;
}

static bool is_one(const cm_router_box *b)
{
  return b->low[0] == b->high[0] && b->low[1] == b->high[1];
}

/* Whether no tile of v is behind the router of a box of one. */
static bool is_elsewhere(const cm_place_model *m, const uint64_t *domain, uint32_t v, uint32_t router)
{
  const uint64_t *mask = &m->mask[CM_SCOPE_ROUTER][(size_t)router * m->words];
  for (uint32_t w = 0; w < m->words; w++)
    if ((domain[(size_t)v * m->words + w] & mask[w]) != 0)
      return false;
  return true;
}

/* One more, or one less: by how much the number of those that are too many changes. */
static int64_t book(uint32_t *load, uint64_t limit, bool on)
{
  return on ? (*load)++ >= limit : -(int64_t)(--*load >= limit);
}

/* Books the links along an axis that all ways between two boxes take, on line `line` of the other axis. */
static int64_t book_links(const cm_problem *p, uint32_t *load, int axis, const cm_router_box *a, const cm_router_box *b, bool on)
{
  const uint32_t across = p->width / p->router_x, line = axis == 0 ? a->low[1] : b->low[0];
  const bool up = a->high[axis] < b->low[axis];
  const uint32_t from = up ? a->high[axis] : a->low[axis], to = up ? b->low[axis] : b->high[axis], place = (uint32_t)(axis == 0 ? RIGHT : DOWN) + (up ? 0 : 1);
  int64_t more = 0;
  for (uint32_t at = from; (up ? at < to : at > to); at += up ? 1 : UINT32_MAX)
    more += book(&load[(axis == 0 ? line * across + at : at * across + line) * PLACES + place], p->circuit_limit[CM_CIRCUITS_LINK], on);
  return more;
}

/* Books what a circuit between two boxes surely takes. */
static int64_t book_circuit(const cm_problem *p, uint32_t *load, const cm_router_box *a, const cm_router_box *b, const bool ends[2], bool on)
{
  const uint32_t across = p->width / p->router_x;
  int64_t more = 0;
  if (ends[0])
    more += book(&load[(a->low[1] * across + a->low[0]) * PLACES + OUT_OF], p->circuit_limit[CM_CIRCUITS_OUT], on);
  if (ends[1])
    more += book(&load[(b->low[1] * across + b->low[0]) * PLACES + INTO], p->circuit_limit[CM_CIRCUITS_IN], on);
  if (a->low[1] == a->high[1])
    more += book_links(p, load, 0, a, b, on);
  if (b->low[0] == b->high[0])
    more += book_links(p, load, 1, a, b, on);
  return more;
}

static int64_t book_surely(const cm_place_model *m, const cm_circuit *c, const cm_router_box *box, const uint64_t *domain, uint32_t *load, bool on)
{
  const cm_router_box *a = &box[c->from], *b = &box[c->to];
  const uint32_t across = m->problem->width / m->problem->router_x;
  const bool ends[2] = {is_one(a) && is_elsewhere(m, domain, c->to, a->low[1] * across + a->low[0]),
                        is_one(b) && is_elsewhere(m, domain, c->from, b->low[1] * across + b->low[0])};
  return book_circuit(m->problem, load, a, b, ends, on);
}

bool cm_circuits_hold(const cm_place_model *m, const cm_router_box *box, const uint64_t *domain, uint32_t *load, uint32_t *broken)
{
  memset(load, 0, cm_circuit_loads(m->problem) * sizeof *load);
  for (*broken = 0; *broken < m->circuit_count; ++*broken)
    if (book_surely(m, &m->circuit[*broken], box, domain, load, true) > 0)
      return false;
  return true;
}

typedef struct reaching {
  const cm_problem *p;
  uint32_t *load, stamp;
  bool back; /* against the circuit, from where it ends */
} reaching;

/* Marks the routers to which a circuit can lead along an axis, over links with room; of a first axis, those on the other one too. */
static void reach(const reaching *r, int axis, const uint32_t from[2], bool first)
{
  const uint32_t size[2] = {r->p->width / r->p->router_x, r->p->height / r->p->router_y};
  const int end = r->back ? OUT_OF : INTO;
  for (int side = 0; side < 2; side++) {
    const uint32_t place = (uint32_t)(axis == 0 ? RIGHT : DOWN) + ((side == 1) != r->back ? 1 : 0);
    const uint32_t last = side == 0 ? size[axis] - 1 : 0;
    uint32_t at[2] = {from[0], from[1]};
    for (bool open = true; open;) {
      uint32_t *here = &r->load[(at[1] * size[0] + at[0]) * PLACES];
      if (first)
        reach(r, 1 - axis, at, false);
      else if (here[end] < r->p->circuit_limit[r->back ? CM_CIRCUITS_OUT : CM_CIRCUITS_IN])
        here[REACHED] = r->stamp;
      if (at[axis] == last)
        break;
      at[axis] = side == 0 ? at[axis] + 1 : at[axis] - 1;
      const uint32_t *leaves = r->back ? &r->load[(at[1] * size[0] + at[0]) * PLACES] : here;
      open = leaves[place] < r->p->circuit_limit[CM_CIRCUITS_LINK];
    }
  }
}

uint32_t cm_circuit_reach(const cm_place_model *m, uint32_t circuit, const cm_router_box *box, const uint64_t *domain, uint32_t *load, uint64_t *tiles)
{
  const cm_circuit *c = &m->circuit[circuit];
  const bool back = is_one(&box[c->to]);
  const uint32_t open = back ? c->from : c->to;
  const cm_router_box *end = &box[back ? c->to : c->from];
  if (!is_one(end) || is_one(&box[open]))
    return UINT32_MAX;
  (void)book_surely(m, c, box, domain, load, false);
  const reaching r = {m->problem, load, circuit + 1, back};
  uint32_t *own = &load[(end->low[1] * (m->problem->width / m->problem->router_x) + end->low[0]) * PLACES];
  if (own[back ? INTO : OUT_OF] < m->problem->circuit_limit[back ? CM_CIRCUITS_IN : CM_CIRCUITS_OUT])
    reach(&r, back ? 1 : 0, end->low, true);
  own[REACHED] = r.stamp; /* there it takes nothing */
  (void)book_surely(m, c, box, domain, load, true);
  memset(tiles, 0, m->words * sizeof *tiles);
  for (uint32_t t = 0; t < m->tiles; t++)
    if (load[m->label[CM_SCOPE_ROUTER][t] * PLACES + REACHED] == r.stamp)
      cm_tile_add(tiles, t);
  return open;
}

int64_t cm_circuit_book(const cm_place_model *m, uint32_t circuit, const uint32_t *place, uint32_t *load, bool on)
{
  cm_router_box a = cm_router_box_none(), b = a;
  cm_router_box_take(m->problem, place[m->circuit[circuit].from], &a);
  cm_router_box_take(m->problem, place[m->circuit[circuit].to], &b);
  const bool apart = memcmp(&a, &b, sizeof a) != 0;
  return book_circuit(m->problem, load, &a, &b, (const bool[]){apart, apart}, on);
}

size_t cm_circuit_loads(const cm_problem *p)
{
  return (size_t)(p->width / p->router_x) * (p->height / p->router_y) * PLACES;
}
