/* Vertices on boards of chips with multicast routers. */
#include <coremap/fabric.h>

#include "core/fabric/fabric_place.h"
#include "core/fabric/fabric_routes.h"
#include "library/internal.h"

struct coremap_fabric_routes {
  cm_memory memory;
  cm_fabric_routes routes;
};

_Static_assert(sizeof(coremap_fabric_entry) == sizeof(cm_fabric_entry), "entries are given out as they are");

static cm_chip_grid fabric_of(const coremap_fabric *f)
{
  return (cm_chip_grid){
    .width = f->width, .height = f->height, .wrap_x = f->wrap_x != 0, .wrap_y = f->wrap_y != 0, .links = f->links, .cores = f->cores, .memory = f->memory};
}

static cm_flows flows_of(const coremap_flows *f, const cm_chip_grid *fabric)
{
  return (cm_flows){.fabric = fabric, .local = f->local, .vertices = f->vertices, .families = f->families, .senders = f->senders, .family_first = f->family_first, .sender = f->sender,
                    .common_first = f->common_first, .common = f->common, .own_first = f->own_first, .own = f->own};
}

int coremap_fabric_place(const coremap_flows *flows, const uint32_t *start, coremap_progress progress, void *user, uint32_t *chip,
                         coremap_error **error)
{
  cm_error e;
  library_run r;
  const cm_chip_grid f = fabric_of(flows->fabric);
  const cm_flows sent = flows_of(flows, &f);
  const cm_fabric_groups groups = {
    .count = flows->groups, .cores = flows->group_cores, .memory = flows->group_memory, .pin = flows->group_pin, .of = flows->group};
  library_begin(&r, progress, user);
  cm_status status = cm_fabric_place(&sent, &groups, start, r.run, chip, &e);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

int coremap_fabric_route(const coremap_flows *flows, const uint32_t *chip, coremap_progress progress, void *user, coremap_fabric_routes **routes, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_fabric_routes *made;
  const cm_chip_grid f = fabric_of(flows->fabric);
  const cm_flows sent = flows_of(flows, &f);
  cm_status status = CM_HEAP(made, 1, "routes", &e);
  if (status == CM_OK) {
    cm_memory_init(&made->memory, 0);
    library_begin(&r, progress, user);
    library_outlive(&r, &made->memory);
    status = cm_fabric_route(&sent, chip, r.run, &made->routes, &e);
    cm_run_finish(r.run);
  }
  LIBRARY_END(status, *routes = made, free(made));
}

const coremap_fabric_entry *coremap_fabric_entries(const coremap_fabric_routes *routes, uint64_t *count, uint64_t *links)
{
  *count = routes->routes.count;
  *links = routes->routes.links;
  return (const coremap_fabric_entry *)routes->routes.entry;
}

void coremap_fabric_routes_free(coremap_fabric_routes *routes)
{
  if (routes == NULL)
    return;
  cm_fabric_routes_clear(&routes->routes);
  free(routes);
}
