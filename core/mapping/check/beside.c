#include "core/mapping/check/beside.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/mapping/check/certificate.h"
#include "core/mapping/export.h"
#include "core/mapping/routes/routes.h"

/* Links of all flows together up to which routes are made unasked. */
static const uint64_t LINKS_UNASKED_MAX = UINT64_C(1) << 26;

typedef struct beside {
  const cm_mapping *mapping;
  const cm_map_input *input;
  cm_run *run;
  cm_routes *routes;  /* NULL: refused, for the reason */
  cm_error why;
} beside;

static cm_status write_view(beside *b, cm_mapping_view view, FILE *stream, cm_error *error)
{
  static const cm_routes_view kinds[] = {[CM_VIEW_ROUTES_JSON - CM_VIEW_ROUTES_JSON] = CM_ROUTES_JSON,
                                         [CM_VIEW_ROUTES_CSV - CM_VIEW_ROUTES_JSON] = CM_ROUTES_CSV,
                                         [CM_VIEW_ROUTES_BINARY - CM_VIEW_ROUTES_JSON] = CM_ROUTES_BINARY};
  const cm_map_input *in = b->input;
  if (view == CM_VIEW_CERTIFICATE_JSON)
    return cm_certificate_write(b->mapping, in->topology, in->chip, in->occupancy, in->network_id, b->run, stream,
                                error);
  if (b->routes != NULL)
    return cm_routes_write(b->routes, kinds[view - CM_VIEW_ROUTES_JSON], b->run, stream, error);
  if (view == CM_VIEW_ROUTES_JSON)
    return cm_routes_write_refusal(&b->why, stream, error);
  /* No routes: no rows, and the loads of the chip's own routing on the whole mesh. */
  return view == CM_VIEW_ROUTES_CSV
             ? CM_OK
             : cm_mapping_write(b->mapping, in->topology, in->chip, NULL, CM_VIEW_LINKS_BINARY, stream, error);
}

static cm_status write_file(beside *b, cm_mapping_view view, const char *folder, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  if (cm_path(path, error, "%s/%s", folder, cm_mapping_view_name(view)) != CM_OK ||
      cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  cm_status status = write_view(b, view, file.stream, error);
  if (status == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return status;
}

cm_status cm_mapping_write_beside(const cm_mapping *mapping, const cm_map_input *input, cm_run *run, const char *folder,
                                  cm_error *error)
{
  beside b = {.mapping = mapping, .input = input, .run = run};
  bool own;
  uint64_t refusals = cm_json_refusals();
  cm_route_options options = cm_routes_wanted(input->options, input->chip, &own);
  options.links_max = own ? 0 : LINKS_UNASKED_MAX;
  cm_status status = cm_routes_make(mapping, input->topology, input->chip, &options, run, &b.routes, &b.why);
  if (status != CM_OK && (own || (status != CM_NO_ROUTE && status != CM_TOO_LARGE))) {
    *error = b.why;
    return status;
  }
  status = CM_OK;
  for (cm_mapping_view view = CM_VIEWS; view < CM_VIEWS_ALL && status == CM_OK; view++)
    status = write_file(&b, view, folder, error);
  cm_routes_free(b.routes);
  return status == CM_OK ? cm_json_whole(refusals, "routes and certificate", error) : status;
}
