#include "core/output/beside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "core/mapping/options.h"
#include "core/measure/measure.h"
#include "core/measure/scenario_metrics.h"
#include "core/output/exports/exports.h"
#include "core/output/structure/structure.h"
#include "core/routing/routes.h"
#include "core/verify/certificate.h"

/* Links of all flows together up to which routes are made unasked. */
static const uint64_t LINKS_UNASKED_MAX = UINT64_C(1) << 26;

#define OCCUPANCY_NAME "occupancy.json"

cm_status cm_mapping_certify(const cm_mapping *m, const cm_check_context *context, FILE *stream, cm_error *error)
{
  const cm_certified made = {
    .mapped = cm_mapped_by(m, context->demand, context->chip),
    .metrics = &m->metrics,
    .load = m->detail.core,
    .scenario = m->scenario,
    .options = m->options,
    .widened = cm_report_widened(m->report)};
  return cm_certificate_write(&made, context, stream, error);
}

typedef struct beside {
  const cm_mapping *mapping;
  const cm_map_input *input;
  cm_run *run;
  const char *folder;
  cm_routes *routes;  /* NULL: refused, for the reason */
  cm_error why;
} beside;

/* ---- one view ---- */

/* The loads of the chip's own routing on the whole mesh: a view that is there already. */
static cm_status copy_links(const beside *b, FILE *stream, cm_error *error)
{
  char path[CM_PATH_MAX], *bytes;
  size_t size;
  CM_TRY(cm_path(path, error, "%s/%s", b->folder, cm_mapping_view_name(CM_VIEW_LINKS_BINARY)));
  CM_TRY(cm_file_read(path, SIZE_MAX / 4, &bytes, &size, error));
  errno = 0;
  bool written = fwrite(bytes, 1, size, stream) == size && fflush(stream) == 0;
  free(bytes);
  return written ? CM_OK : cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", "the links of routes");
}

static cm_status write_structure(const beside *b, FILE *stream, cm_error *error)
{
  cm_structure s;
  const cm_mapped mapped = cm_mapped_by(b->mapping, b->input->demand, b->input->chip);
  cm_status status = cm_structure_make(&mapped, b->input->options, b->run, &s, error);
  if (status == CM_OK)
    cm_structure_write(&s, stream);
  cm_structure_clear(&s);
  return status;
}

static cm_status write_view(beside *b, cm_mapping_view view, FILE *stream, cm_error *error)
{
  /* In the order of the views, from CM_VIEW_ROUTES_JSON on. */
  static const cm_routes_view kinds[] = {CM_ROUTES_JSON, CM_ROUTES_CSV, CM_ROUTES_BINARY};
  const cm_map_input *in = b->input;
  if (view == CM_VIEW_CERTIFICATE_JSON)
    return cm_mapping_certify(
      b->mapping,
      &(cm_check_context){
        .demand = in->demand, .chip = in->chip, .occupancy = in->occupancy, .network_id = in->network_id, .run = b->run},
      stream, error);
  if (view == CM_VIEW_STRUCTURE)
    return write_structure(b, stream, error);
  if (b->routes != NULL)
    return cm_routes_write(b->routes, kinds[view - CM_VIEW_ROUTES_JSON], b->run, stream, error);
  if (view == CM_VIEW_ROUTES_JSON)
    return cm_routes_write_refusal(&b->why, stream, error);
  return view == CM_VIEW_ROUTES_CSV ? CM_OK : copy_links(b, stream, error); /* no routes: no rows */
}

static cm_status write_file(beside *b, cm_mapping_view view, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  CM_TRY(cm_path(path, error, "%s/%s", b->folder, cm_mapping_view_name(view)));
  CM_TRY(cm_file_create(&file, path, error));
  return cm_file_end(&file, write_view(b, view, file.stream, error), error);
}

/* Makes routes, and writes their views. */
static cm_status write_routes(beside *b, cm_error *error)
{
  bool own;
  const cm_map_input *in = b->input;
  cm_route_options options = cm_routes_wanted(in->options, in->chip, &own);
  options.links_max = own ? 0 : LINKS_UNASKED_MAX;
  const cm_mapped mapped = cm_mapped_by(b->mapping, in->demand, in->chip);
  cm_status status = cm_routes_make(&mapped, &options, b->run, &b->routes, &b->why);
  if (status != CM_OK && (own || (status != CM_NO_ROUTE && status != CM_TOO_LARGE))) {
    *error = b->why;
    return status;
  }
  status = CM_OK;
  for (cm_mapping_view view = CM_VIEW_ROUTES_JSON; view <= CM_VIEW_ROUTES_BINARY && status == CM_OK; view++)
    status = write_file(b, view, error);
  cm_routes_free(b->routes);
  return status;
}

/* ---- with the job ---- */

static cm_status write_occupancy(const beside *b, cm_error *error)
{
  char path[CM_PATH_MAX], *text;
  cm_file file = {0};
  CM_TRY(cm_path(path, error, "%s/" OCCUPANCY_NAME, b->folder));
  CM_TRY(cm_occupancy_print(b->input->occupancy, b->input->chip, &text, error));
  cm_status status = cm_file_create(&file, path, error);
  if (status == CM_OK) {
    errno = 0;
    status = fputs(text, file.stream) >= 0 ? CM_OK : cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", path);
    status = cm_file_end(&file, status, error);
  }
  free(text);
  return status;
}

cm_status cm_mapping_write_beside(const cm_mapping *mapping, const cm_map_input *input, cm_run *run, const char *folder,
                                  cm_error *error)
{
  beside b = {.mapping = mapping, .input = input, .run = run, .folder = folder};
  bool own;
  uint64_t refusals = cm_json_refusals();
  (void)cm_routes_wanted(input->options, input->chip, &own);
  cm_status status = input->occupancy != NULL ? write_occupancy(&b, error) : CM_OK;
  CM_THEN_IF(status, own, write_routes(&b, error));
  return status == CM_OK ? cm_json_whole(refusals, "routes", error) : status;
}

/* ---- afterwards ---- */

/* A mapping and its input, read back from the folder. */
typedef struct stored {
  cm_mapped_file file;
  cm_occupancy *occupancy;
  cm_map_options *options;
  cm_mapping mapping;
  cm_map_input input;
} stored;

static cm_status read_occupancy(const char *folder, stored *s, cm_error *error)
{
  char path[CM_PATH_MAX], *text;
  size_t size;
  CM_TRY(cm_path(path, error, "%s/" OCCUPANCY_NAME, folder));
  cm_status status = cm_file_read(path, SIZE_MAX / 4, &text, &size, error);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_CONFLICT, "which cores were free when this mapping was made has not been kept: map again, and there "
                                       "will be a certificate");
  if (status != CM_OK)
    return status;
  status = cm_occupancy_parse(s->file.chip, text, size, &s->occupancy, error);
  free(text);
  return status;
}

static cm_status read_stored(const char *folder, cm_topology *topology, cm_run *run, stored *s, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_status status = cm_path(path, error, "%s/%s", folder, cm_mapping_view_name(CM_VIEW_FULL_JSON));
  CM_TRY_OR(status, cm_topology_free(topology));
  CM_TRY(cm_mapped_open(path, topology, NULL, run, &s->file, error));
  json_t *options = json_object_get(s->file.summary, "options");
  s->mapping = (cm_mapping){.vertex_count = s->file.demand.network->vertex_count, .part_count = s->file.mapped.parts, .part = s->file.places.part,
                            .core = s->file.places.core, .pacing = s->file.places.pacing, .options = options};
  s->input = (cm_map_input){.demand = &s->file.demand, .chip = s->file.chip,
                            .network_id = json_string_value(json_object_get(json_object_get(s->file.summary, "network"), "id"))};
  status = cm_map_options_parse(options, &s->options, error);
  s->input.options = s->options;
  return status;
}

/* What a certificate tells beyond the mapping. */
static cm_status complete(const char *folder, stored *s, cm_run *run, cm_error *error)
{
  CM_TRY(read_occupancy(folder, s, error));
  s->input.occupancy = s->occupancy;
  cm_status status = cm_metrics_compute(&s->file.mapped, run, &s->mapping.metrics, &s->mapping.detail, error);
  return status == CM_OK ? cm_scenarios_measure(&s->input, run, &s->mapping, error) : status;
}

cm_status cm_mapping_write_late(const char *folder, cm_mapping_view view, cm_topology *topology, cm_run *run, cm_error *error)
{
  stored s = {0};
  beside b = {.mapping = &s.mapping, .input = &s.input, .run = run, .folder = folder};
  uint64_t refusals = cm_json_refusals();
  cm_status status = read_stored(folder, topology, run, &s, error);
  CM_THEN_IF(status, view == CM_VIEW_CERTIFICATE_JSON, complete(folder, &s, run, error));
  if (status == CM_OK && view >= CM_VIEW_CERTIFICATE_JSON)
    status = write_file(&b, view, error);
  else if (status == CM_OK)
    status = write_routes(&b, error);
  cm_metrics_detail_free(&s.mapping.detail);
  cm_free(s.mapping.scenario);
  cm_map_options_free(s.options);
  cm_occupancy_free(s.occupancy);
  cm_mapped_close(&s.file);
  return status == CM_OK ? cm_json_whole(refusals, "a view of a mapping", error) : status;
}
