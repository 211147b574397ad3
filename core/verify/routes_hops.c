/* Steps of a route: what a router is called, which links lead where, what a packet has reached. */
#include "core/verify/routes_checking.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char cm_route_letters[] = "EWSN";

/* The turns that a rule forbids (docs/explanation/routes.md), by the letters of the two directions. */
static const struct {
  const char *name, *forbidden;
} rules[] = {
  {"xy", "SE SW NE NW"}, {"yx", "ES EN WS WN"}, {"west-first", "SW NW"}, {"north-last", "NE NW"},
  {"negative-first", "EN SW"},
};

const char *cm_routes_rule(const char *name)
{
  for (size_t i = 0; i < sizeof rules / sizeof *rules && name != NULL; i++)
    if (strcmp(name, rules[i].name) == 0)
      return rules[i].name;
  return NULL;
}

uint32_t cm_routes_beyond(const cm_routes_checking *c, uint32_t router, unsigned out)
{
  uint32_t x = router % c->routers_x, y = router / c->routers_x;
  switch (out) {
    case CM_EAST: return x + 1 < c->routers_x ? router + 1 : UINT32_MAX;
    case CM_WEST: return x > 0 ? router - 1 : UINT32_MAX;
    case CM_SOUTH: return y + 1 < c->routers_y ? router + c->routers_x : UINT32_MAX;
    default: return y > 0 ? router - c->routers_x : UINT32_MAX;
  }
}

static bool turn_is_legal(const cm_routes_checking *c, unsigned in, unsigned out)
{
  if (in == CM_DIRECTIONS || in == out)
    return true;
  if ((in ^ out) == 1) /* back */
    return false;
  const char turn[3] = {cm_route_letters[in], cm_route_letters[out], '\0'};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (c->rule != NULL && strcmp(c->rule, rules[i].name) == 0)
      return strstr(rules[i].forbidden, turn) == NULL;
  return false;
}

uint32_t cm_routes_hop(cm_routes_checking *c, uint32_t router, unsigned in, unsigned out, uint64_t weight, const char *who)
{
  if (c->net != NULL)
    return cm_routes_ways_hop(c, router, in, out, weight, who);
  uint32_t x = router % c->routers_x, y = router / c->routers_x, next = cm_routes_beyond(c, router, out);
  size_t link = (size_t)router * CM_DIRECTIONS + out;
  if (next == UINT32_MAX) {
    routes_violation(c, "routes: %s leaves the chip at router (%" PRIu32 ", %" PRIu32 ") going %c", who, x, y, cm_route_letters[out]);
    return UINT32_MAX;
  }
  if (c->dead[link]) {
    routes_violation(c, "routes: %s takes the dead link %c of router (%" PRIu32 ", %" PRIu32 ")", who, cm_route_letters[out], x, y);
    return UINT32_MAX;
  }
  if (!turn_is_legal(c, in, out)) { /* it goes on all the same: it may close a ring */
    routes_violation(c, "routes: %s turns from %c to %c at router (%" PRIu32 ", %" PRIu32 "), which %s forbids", who,
                     cm_route_letters[in], cm_route_letters[out], x, y, c->rule != NULL ? c->rule : "the rule");
    if ((in ^ out) == 1)
      return UINT32_MAX;
  }
  if (c->met[next] == c->packet + 1) {
    routes_violation(c, "routes: %s comes to router (%" PRIu32 ", %" PRIu32 ") twice", who, next % c->routers_x,
                     next / c->routers_x);
    return UINT32_MAX;
  }
  c->met[next] = c->packet + 1;
  c->load[link] += weight;
  c->links++;
  c->traffic += weight;
  c->used[link] = 1;
  if (in != CM_DIRECTIONS) /* the link by which it came waits for this one */
    c->next[(size_t)cm_routes_beyond(c, router, in ^ 1) * CM_DIRECTIONS + in] |= (uint8_t)(1u << out);
  return next;
}

void cm_routes_plain_way(cm_routes_checking *c, uint32_t from, uint32_t to, uint64_t weight)
{
  int64_t x = to % c->routers_x - (int64_t)(from % c->routers_x), y = to / c->routers_x - (int64_t)(from / c->routers_x);
  unsigned along_x = x > 0 ? CM_EAST : CM_WEST, along_y = y > 0 ? CM_SOUTH : CM_NORTH;
  bool x_first = x == 0 || y == 0 || turn_is_legal(c, along_x, along_y);
  x = llabs(x);
  y = llabs(y);
  while (x > 0 || y > 0) {
    bool go_x = x > 0 && (x_first || y == 0);
    unsigned out = go_x ? along_x : along_y;
    size_t link = (size_t)from * CM_DIRECTIONS + out;
    if (c->linked[link] != c->packet + 1) {
      c->linked[link] = c->packet + 1;
      c->plain_load[link] += weight;
    }
    from = cm_routes_beyond(c, from, out);
    *(go_x ? &x : &y) -= 1;
  }
}

void cm_routes_reach(cm_routes_checking *c, uint32_t net)
{
  const cm_topology *t = c->topology;
  uint32_t own = c->part[cm_topology_source(t, net)];
  bool comes_back = c->multicast && c->chip->table_entries != 0;
  c->targets = 0;
  c->reached++;
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    uint32_t p = c->part[t->pin[i]];
    if ((p == own && !comes_back) || c->stamp[p] == c->reached)
      continue;
    c->stamp[p] = c->reached;
    c->target[c->targets++] = p;
  }
}
