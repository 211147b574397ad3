/* Routes of a mapping. */
#include <coremap/routes.h>

#include "core/mapping/options.h"
#include "core/routing/routes.h"
#include "library/internal.h"

struct coremap_routes {
  coremap_mapping *mapping;
  cm_memory memory;
  cm_routes *routes;
};

static cm_status make(coremap_routes *r, cm_run *run, cm_error *error)
{
  const coremap_mapping *m = r->mapping;
  const json_t *stated = m->mapping != NULL ? m->mapping->options : json_object_get(m->summary, "options");
  cm_map_options *options;
  bool own;
  CM_TRY(cm_map_options_parse(stated, &options, error));
  const cm_route_options wanted = cm_routes_wanted(options, m->chip->chip, &own);
  cm_map_options_free(options);
  return cm_routes_make(&m->mapped, &wanted, run, &r->routes, error);
}

int coremap_routes_make(const coremap_mapping *mapping, coremap_progress progress, void *user, coremap_routes **routes, coremap_error **error)
{
  library_run r;
  coremap_routes *made;
  cm_status status = CM_HEAP(made, 1, "routes", &r.error);
  if (status == CM_OK) {
    made->mapping = (coremap_mapping *)mapping;
    atomic_fetch_add(&made->mapping->owners, 1);
    cm_memory_init(&made->memory, 0);
    library_begin(&r, progress, user);
    library_outlive(&r, &made->memory);
    status = make(made, r.run, &r.error);
    cm_run_finish(r.run);
  }
  LIBRARY_END_BY(&r.error, status, *routes = made, coremap_routes_free(made));
}

int coremap_routes_write(const coremap_routes *routes, const char *as, const char *path, coremap_progress progress, void *user,
                         coremap_error **error)
{
  library_run r = {0};
  cm_file file;
  const bool json = strcmp(as, "json") == 0, csv = strcmp(as, "csv") == 0;
  if (!json && !csv && strcmp(as, "bin") != 0)
    return library_tell(cm_fail(&r.error, CM_BAD_OPTION, "routes are written as json, csv or bin, not \"%.40s\"", as), &r.error, error);
  if (cm_file_create(&file, path, &r.error) != CM_OK)
    return library_tell(r.error.status, &r.error, error);
  library_begin(&r, progress, user);
  cm_status status =
    cm_routes_write(routes->routes, json ? CM_ROUTES_JSON : csv ? CM_ROUTES_CSV : CM_ROUTES_BINARY, r.run, file.stream, &r.error);
  cm_run_finish(r.run);
  return library_tell(cm_file_end(&file, status, &r.error), &r.error, error);
}

int coremap_routes_about(const coremap_routes *routes, char **json, coremap_error **error)
{
  cm_error e;
  char name[CM_ROUTER_NAME_MAX];
  json_t *figures = cm_routes_json(routes->routes);
  if (figures != NULL && routes->routes->multicast) {
    cm_chip_router_name(routes->routes->chip, routes->routes->fullest, name);
    (void)json_object_set_new(figures, "fullest", json_string(name));
  }
  return library_tell(library_text(figures, JSON_COMPACT, json, &e), &e, error);
}

void coremap_routes_free(coremap_routes *routes)
{
  if (routes == NULL)
    return;
  cm_routes_free(routes->routes);
  coremap_mapping_free(routes->mapping);
  free(routes);
}
