/* Circuits that pass every link, enter and leave every router, by the check's own routes. Nothing is shared with what places. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/verify/check_walk.h"
#include "core/verify/checker.h"

static const char *const what[] = {"pass a link", "enter a router", "leave a router"};

uint64_t cm_check_circuit_limit(const cm_chip *chip, int kind)
{
  const uint32_t limits[] = {chip->circuits.link, chip->circuits.router_in, chip->circuits.router_out};
  return limits[kind];
}

typedef struct count {
  cm_check_shared *found;
  uint32_t *links, *routers, *mark; /* [links], [2 * routers], [parts] */
  uint32_t from, columns;
} count;

static void see(cm_check_shared *found, uint64_t number, uint32_t router, uint32_t columns, uint32_t part)
{
  if (number > found->most)
    *found = (cm_check_shared){number, router % columns, router / columns, part};
}

static void pass(const cm_check_hop *hop, void *user)
{
  count *n = user;
  see(&n->found[0], ++n->links[hop->link], (uint32_t)(hop->link / CM_DIRECTIONS), n->columns, n->from);
}

typedef struct axon {
  uint32_t home, net;
} axon;

CM_ORDER(by_home, axon, CM_RISING(home) CM_RISING(net))

/* Every circuit once: axons by the parts that they come from. */
static cm_status count_all(const cm_mapped *m, cm_check_walk *walk, const axon *axons, count *n, cm_error *error)
{
  const cm_topology *t = m->demand->network;
  const cm_chip *chip = m->chip;
  for (uint32_t k = 0; k < t->net_count; k++)
    for (uint64_t i = t->net_first[axons[k].net]; i < t->net_first[axons[k].net + 1]; i++) {
      const uint32_t from = axons[k].home, to = m->part[t->pin[i]], at[2] = {m->core[from], m->core[to]};
      double hops = 0;
      uint32_t router[2];
      for (int end = 0; end < 2; end++)
        router[end] = at[end] / chip->width / chip->router_y * n->columns + at[end] % chip->width / chip->router_x;
      if (router[0] == router[1] || n->mark[to] == from + 1)
        continue;
      n->mark[to] = from + 1;
      n->from = from;
      CM_TRY(walk->kind->hops(walk, from, to, &hops, error));
      walk->kind->route(walk, from, to, pass, n);
      see(&n->found[1], ++n->routers[router[1]], router[1], n->columns, to);
      see(&n->found[2], ++n->routers[walk->routers + router[0]], router[0], n->columns, from);
    }
  return CM_OK;
}

cm_status cm_check_measure_circuits(const cm_mapped *m, cm_run *run, cm_check_shared found[3], cm_error *error)
{
  const cm_topology *t = m->demand->network;
  cm_check_walk walk = {0};
  axon *axons = NULL;
  count n = {.found = found, .columns = m->chip->width / m->chip->router_x};
  memset(found, 0, 3 * sizeof *found);
  if (cm_check_circuit_limit(m->chip, 0) + cm_check_circuit_limit(m->chip, 1) + cm_check_circuit_limit(m->chip, 2) == 0)
    return CM_OK;
  cm_status status = cm_check_walk_new(m->chip, m->core, run->memory, &walk, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(axons, t->net_count), CM_ARRAY(n.mark, m->parts), CM_ARRAY(n.links, walk.links),
                             CM_ARRAY(n.routers, 2 * walk.routers)));
  for (uint32_t e = 0; status == CM_OK && e < t->net_count; e++)
    axons[e] = (axon){m->part[cm_topology_source(t, e)], e};
  if (status == CM_OK && t->net_count > 0)
    qsort(axons, t->net_count, sizeof *axons, by_home);
  CM_THEN(status, count_all(m, &walk, axons, &n, error));
  CM_FREE(axons, n.mark, n.links, n.routers);
  cm_check_walk_free(&walk);
  return status;
}

cm_status cm_checker_circuits(cm_checker *c, cm_error *error)
{
  cm_check_shared found[3];
  CM_TRY(cm_check_measure_circuits(&c->mapped, c->given->run, found, error));
  for (int kind = 0; kind < 3; kind++) {
    const uint64_t limit = cm_check_circuit_limit(c->given->chip, kind);
    if (limit != 0 && found[kind].most > limit)
      violation(c, "%" PRIu64 " circuits %s at (%" PRIu32 ", %" PRIu32 "), but %" PRIu64 " are allowed", found[kind].most, what[kind], found[kind].x, found[kind].y, limit);
  }
  return CM_OK;
}
