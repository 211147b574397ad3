/* What can fail: memory; circuits that are too many. */
#include "core/limits/circuits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/chip/geometry.h"
#include "core/network/nets_by_part.h"

enum { LINKS, INTO, OUT_OF, PLACES };

/* Where the loads of a kind begin. */
static uint32_t begin_of(const cm_chip *chip, int place)
{
  const uint32_t routers = cm_chip_routers(chip);
  return place == LINKS ? 0 : routers * (CM_DIRECTIONS + (uint32_t)place - 1);
}

static uint32_t limit_of(const cm_chip *chip, int place)
{
  const cm_circuit_limits *l = &chip->circuits;
  return place == LINKS ? l->link : place == INTO ? l->router_in : l->router_out;
}

/* ---- pairs ---- */

/* Pairs of parts in any order, each once, counted two places ahead, or, once there is room for others, put where first says one place ahead. */
static void look(const cm_topology *t, const uint32_t *part, const uint32_t *order, uint32_t *seen, cm_circuits *c)
{
  const uint32_t parts = c->parts;
  uint64_t *first = c->first;
  for (uint32_t p = 0; p < parts; p++)
    seen[p] = UINT32_MAX;
  for (uint32_t k = 0; k < t->net_count; k++) {
    const uint32_t e = order[k], own = part[cm_topology_source(t, e)];
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      const uint32_t to = part[t->pin[i]];
      if (to == own || seen[to] == own)
        continue;
      seen[to] = own;
      if (c->other == NULL) {
        first[own + 2]++;
        first[parts + to + 2]++;
      } else {
        c->other[first[own + 1]++] = to;
        c->other[first[parts + to + 1]++] = own;
      }
    }
  }
}

cm_status cm_circuits_find(const cm_demand *demand, const uint32_t *part, cm_run *run, cm_circuits *c, cm_error *error)
{
  const uint32_t parts = c->parts;
  cm_memory *memory = run->memory;
  uint32_t *first = NULL, *order = NULL, *seen = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(c->first, 2 * (size_t)parts + 2), CM_ARRAY(c->load, begin_of(c->chip, PLACES)), CM_ARRAY(seen, parts));
  CM_THEN(status, cm_nets_by_part(demand->network, part, parts, run, &first, &order, error));
  if (status == CM_OK) {
    look(demand->network, part, order, seen, c);
    for (uint32_t k = 2; k < 2 * parts + 2; k++)
      c->first[k] += c->first[k - 1];
    status = CM_NEW(memory, c->other, c->first[2 * parts + 1] + 1, error);
  }
  if (status == CM_OK)
    look(demand->network, part, order, seen, c);
  CM_FREE(first, order, seen);
  return status == CM_OK ? cm_run_check(run, error) : status;
}

void cm_circuits_free(cm_circuits *c)
{
  CM_FREE(c->first, c->other, c->load);
  *c = (cm_circuits){.chip = NULL};
}

/* ---- ways ---- */

static void add(cm_circuits *c, int place, uint32_t at, bool on)
{
  const uint32_t limit = limit_of(c->chip, place);
  uint32_t *load = &c->load[begin_of(c->chip, place) + at];
  if (on)
    c->excess += (*load)++ >= limit && limit != 0;
  else
    c->excess -= --*load >= limit && limit != 0;
}

uint32_t cm_circuits_book(cm_circuits *c, uint32_t from_core, uint32_t to_core, bool on)
{
  const uint32_t from = cm_router_of(c->chip, from_core), to = cm_router_of(c->chip, to_core);
  cm_straight along[2];
  if (from == to)
    return 0;
  add(c, OUT_OF, from, on);
  add(c, INTO, to, on);
  cm_chip_straights(c->chip, from_core, to_core, along);
  const uint32_t hops = along[0].hops + along[1].hops;
  for (int axis = 0; axis < 2; axis++)
    while (along[axis].hops > 0)
      add(c, LINKS, (uint32_t)cm_straight_next(&along[axis]), on);
  return hops;
}

void cm_circuits_book_all(cm_circuits *c, const uint32_t *core)
{
  for (uint32_t p = 0; p < c->parts; p++)
    for (uint64_t i = c->first[p]; i < c->first[p + 1]; i++)
      (void)cm_circuits_book(c, core[p], core[c->other[i]], true);
}

cm_status cm_refuse_circuits(const cm_circuits *c, cm_error *error)
{
  static const char *const fields[PLACES] = {"link", "router_in", "router_out"}, *const what[PLACES] = {"pass", "enter", "leave"};
  char name[CM_LINK_TEXT_MAX];
  uint32_t over = 0, worst = 0, broken = 0;
  int worst_place = LINKS;
  if (c->excess == 0)
    return CM_OK;
  for (int place = 0; place < PLACES; place++) {
    const uint32_t limit = limit_of(c->chip, place), begin = begin_of(c->chip, place);
    for (uint32_t at = begin; limit != 0 && at < begin_of(c->chip, place + 1); at++) {
      broken += c->load[at] > limit;
      if (c->load[at] > limit + over) {
        over = c->load[at] - limit;
        worst = at - begin;
        worst_place = place;
      }
    }
  }
  const uint32_t limit = limit_of(c->chip, worst_place);
  if (worst_place == LINKS)
    cm_chip_link_text(c->chip, worst, CM_LINK_IN_WORDS, name);
  else
    cm_chip_router_name(c->chip, worst, name);
  cm_fail(error, CM_LIMIT_BROKEN, "%" PRIu32 " circuits %s %s, and circuits/%s allows %" PRIu32 "; it is the worst of %" PRIu32
          " that have too many in the best places that were found, which does not prove that there are none: larger parts, or more cores, may do",
          limit + over, what[worst_place], name, fields[worst_place], limit, broken);
  error->limit_name = "circuits";
  cm_error_figure(error, "use", limit + over);
  cm_error_figure(error, "limit", limit);
  return CM_LIMIT_BROKEN;
}
