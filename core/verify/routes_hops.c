/* What every route is told by: numbers in files, routers of cores, what a packet has to reach. */
#include "core/verify/routes_checking.h"

json_int_t cm_routes_whole_of(const json_t *object, const char *name)
{
  const json_t *value = json_object_get(object, name);
  return json_is_integer(value) ? json_integer_value(value) : -1;
}

uint32_t cm_routes_router_of(const cm_routes_checking *c, uint32_t core)
{
  return core / c->chip->width / c->chip->router_y * c->routers_x + core % c->chip->width / c->chip->router_x;
}

void cm_routes_reach(cm_routes_checking *c, uint32_t net)
{
  const cm_topology *t = c->demand->network;
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
