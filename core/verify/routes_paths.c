/* Paths: one for every pair of parts of which one sends to the other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/verify/check_report.h"
#include "core/verify/routes_checking.h"

/* What one part sends to another. */
typedef struct pair {
  uint64_t ends; /* from << 32 | to */
  uint64_t weight;
  bool routed;
} pair;

typedef struct pairs {
  pair *pair;
  uint64_t count, room;
} pairs;

CM_ORDER(by_ends, pair, CM_RISING(ends))

/* Adds up equal pairs. */
static void squeeze(pairs *all)
{
  uint64_t kept = 0;
  if (all->count == 0)
    return;
  qsort(all->pair, all->count, sizeof *all->pair, by_ends);
  for (uint64_t i = 0; i < all->count; i++)
    if (kept > 0 && all->pair[kept - 1].ends == all->pair[i].ends)
      all->pair[kept - 1].weight += all->pair[i].weight;
    else
      all->pair[kept++] = all->pair[i];
  all->count = kept;
}

static cm_status add(cm_routes_checking *c, pairs *all, uint32_t from, uint32_t to, uint64_t weight, cm_error *error)
{
  if (all->count == all->room) {
    squeeze(all); /* so that no more than twice the pairs that differ are held */
    if (2 * all->count >= all->room &&
        CM_ROOM(c->run->memory, all->pair, &all->room, 2 * all->count + 1024, error) != CM_OK)
      return error->status;
  }
  all->pair[all->count++] = (pair){.ends = (uint64_t)from << 32 | to, .weight = weight};
  return CM_OK;
}

static cm_status gather(cm_routes_checking *c, pairs *all, cm_error *error)
{
  const cm_topology *t = c->demand->network;
  for (uint32_t net = 0; net < t->net_count; net++) {
    uint32_t own = c->part[cm_topology_source(t, net)];
    if (t->directed) {
      cm_routes_reach(c, net);
      for (uint32_t i = 0; i < c->targets; i++)
        CM_TRY(add(c, all, own, c->target[i], cm_demand_net_weight(c->demand, net), error));
    } else
      for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++)
        if (c->part[t->pin[i]] != own &&
            add(c, all, own, c->part[t->pin[i]], cm_demand_pin_weight(c->demand, net, i), error) != CM_OK)
          return error->status;
    CM_TRY_IF(net % 4096 == 0, cm_run_check(c->run, error));
  }
  squeeze(all);
  return CM_OK;
}

static void follow(cm_routes_checking *c, pairs *all, size_t index, const json_t *row)
{
  json_int_t from, to;
  double packets;
  json_t *path;
  char who[80];
  double unit = (double)c->demand->network->weight_scale * (c->demand->network->directed ? 1 : 2);
  if (json_unpack((json_t *)(uintptr_t)row, "[I,I,F,o!]", &from, &to, &packets, &path) != 0 || from < 0 || to < 0 ||
      from > UINT32_MAX || to > UINT32_MAX || json_typeof(path) != c->geometry->path) {
    routes_violation(c, "routes /paths/%zu is not [from, to, packets, path]", index);
    return;
  }
  const pair wanted = {.ends = (uint64_t)from << 32 | (uint64_t)to};
  pair *found = bsearch(&wanted, all->pair, all->count, sizeof *all->pair, by_ends);
  (void)snprintf(who, sizeof who, "part %" JSON_INTEGER_FORMAT " to part %" JSON_INTEGER_FORMAT, from, to);
  if (found == NULL || found->routed) {
    routes_violation(c, "routes /paths/%zu: %s %s", index, who, found == NULL ? "sends nothing" : "has a path already");
    return;
  }
  found->routed = true;
  if (cm_check_differs(packets, (double)found->weight / unit))
    routes_violation(c, "routes /paths/%zu: packets from %s are stated as %.17g, but are %.17g", index, who, packets,
                     (double)found->weight / unit);
  uint32_t source = c->core[from], target = c->core[to];
  c->flows++;
  (void)c->geometry->walk(c, path, cm_routes_router_of(c, source), cm_routes_router_of(c, target), found->weight, who);
  c->geometry->plain(c, source, target, found->weight);
  c->packet++;
}

cm_status cm_routes_follow_paths(cm_routes_checking *c, cm_error *error)
{
  pairs all = {0};
  const json_t *list = json_object_get(c->json, "paths");
  cm_status status = gather(c, &all, error);
  if (status == CM_OK && !json_is_array(list))
    status = cm_fail(error, CM_BAD_MAPPING, "the routes have neither \"tables\" nor \"paths\"");
  for (size_t i = 0; status == CM_OK && i < json_array_size(list); i++) {
    follow(c, &all, i, json_array_get(list, i));
    status = i % 4096 == 0 ? cm_run_check(c->run, error) : CM_OK;
  }
  for (uint64_t i = 0; status == CM_OK && i < all.count; i++)
    if (!all.pair[i].routed)
      routes_violation(c, "routes: part %" PRIu64 " to part %" PRIu64 " has no path", all.pair[i].ends >> 32,
                       all.pair[i].ends & UINT32_MAX);
  cm_free(all.pair);
  return status;
}
