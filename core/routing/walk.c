/* Walks over the flows of routes: the tree that each takes, over turns of a mesh or ways of an interconnect. */

#include "core/routing/walk.h"

static cm_status trace_axes(cm_walker *w, cm_error *error)
{
  return cm_tracer_new(w->routes->chip, w->routes->rule, w->memory, &w->tracer, error);
}

static cm_status trace_ways(cm_walker *w, cm_error *error)
{
  return cm_way_tracer_new(w->routes->chip->interconnect, w->memory, &w->ways, error);
}

cm_status cm_walker_new(const cm_routes *routes, cm_memory *memory, cm_walker *walker, cm_error *error)
{
  static cm_status (*const trace[CM_GEOMETRIES])(cm_walker *, cm_error *) = {[CM_BY_AXES] = trace_axes, [CM_BY_WAYS] = trace_ways};
  cm_walker w = {.routes = routes, .memory = memory};
  for (uint32_t f = 0; f < routes->flow_count; f++)
    if (routes->first[f + 1] - routes->first[f] > w.room)
      w.room = routes->first[f + 1] - routes->first[f];
  uint32_t parts = routes->parts;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(w.router, w.room), CM_ARRAY(w.router_of, parts));
  for (uint32_t p = 0; status == CM_OK && p < parts; p++)
    w.router_of[p] = cm_router_of(routes->chip, routes->core[p]);
  CM_THEN(status, trace[cm_geometry_of(routes->chip)](&w, error));
  CM_END(status, *walker = w, CM_FREE(w.router, w.router_of));
}

void cm_walker_free(cm_walker *walker)
{
  cm_tracer_free(walker->tracer);
  cm_way_tracer_free(walker->ways);
  CM_FREE(walker->router, walker->router_of);
  *walker = (cm_walker){0};
}

/* Says whose route it is that does not exist. */
static cm_status name_flow(const cm_routes *r, uint32_t flow, uint32_t lost, cm_error *error)
{
  cm_error cause = *error;
  const uint32_t *core = r->core;
  uint32_t part = r->source[flow], target = part, width = r->chip->width;
  for (uint64_t i = r->first[flow]; i < r->first[flow + 1]; i++)
    if (cm_router_of(r->chip, core[r->target[i]]) == lost)
      target = r->target[i];
  char whose[64] = "";
  if (r->multicast)
    (void)snprintf(whose, sizeof whose, "neuron %u of ", cm_topology_source(r->demand->network, r->net[flow]));
  cm_fail(error, CM_NO_ROUTE, "no route for %spart %u on core (%u, %u) to part %u on core (%u, %u): %s", whose, part,
          core[part] % width, core[part] / width, target, core[target] % width, core[target] / width, cause.detail);
  cm_error_figure(error, "part", part);
  cm_error_figure(error, "target_part", target);
  return CM_NO_ROUTE;
}

/* The routers of a flow's source and targets, these in walker->router. */
static cm_ends find_ends(cm_walker *walker, uint32_t flow)
{
  const cm_routes *r = walker->routes;
  uint64_t first = r->first[flow], count = r->first[flow + 1] - first;
  for (uint64_t i = 0; i < count; i++)
    walker->router[i] = walker->router_of[r->target[first + i]];
  return (cm_ends){walker->router_of[r->source[flow]], walker->router, count};
}

cm_status cm_walk_flow(cm_walker *walker, uint32_t flow, unsigned shapes, cm_tree *tree, cm_error *error)
{
  const cm_ends ends = find_ends(walker, flow);
  uint32_t lost = ends.source;
  cm_status status = cm_trace(walker->tracer, &ends, shapes, tree, &lost, error);
  return status == CM_NO_ROUTE ? name_flow(walker->routes, flow, lost, error) : status;
}

cm_status cm_walk_ways(cm_walker *walker, uint32_t flow, cm_way_tree *tree, cm_error *error)
{
  const cm_ends ends = find_ends(walker, flow);
  uint32_t lost = ends.source;
  const cm_routes *r = walker->routes;
  cm_status status = cm_way_trace(walker->ways, &ends, tree, &lost, error);
  uint64_t hung = r->rehung_first != NULL ? r->rehung_first[flow + 1] - r->rehung_first[flow] : 0;
  CM_THEN_IF(status, hung > 0, cm_way_rehang(walker->ways, r->rehung + r->rehung_first[flow], hung, tree, error));
  return status == CM_NO_ROUTE ? name_flow(r, flow, lost, error) : status;
}

uint32_t cm_routes_entries(const cm_routes *r, uint32_t router)
{
  return router - r->first_router < r->router_count ? r->entries[router - r->first_router] : 0;
}
