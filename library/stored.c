/* What the server keeps in its data folder. */
#include "library/private/stored.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "core/network/topology_file.h"
#include "core/operators/onnx/onnx.h"
#include "core/output/beside.h"
#include "core/output/cores_cut.h"
#include "core/output/pareto_files.h"
#include "core/output/renamed.h"
#include "core/output/structure/structure.h"
#include "library/internal.h"

const char *const library_late_views[] = {"routes.json", "routes.csv", "routes.bin", "certificate.json", "structure.bin", NULL};

int library_network_load(const char *path, const char *id, coremap_progress progress, void *user, coremap_network **network,
                         coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  library_begin(&r, progress, user);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_load(path, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, id, network, &e, error);
}

int library_network_store(const coremap_network *network, const char *path, coremap_progress progress, void *user, coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, progress, user);
  cm_status status = cm_topology_store(network->topology, path, r.run, &e);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

int library_model_read(const char *path, coremap_progress progress, void *user, uint64_t *operators, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_model *model;
  library_begin(&r, progress, user);
  cm_status status = cm_onnx_read(path, r.run, &model, &e);
  if (status == CM_OK) {
    *operators = model->order_count;
    cm_model_free(model);
  }
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

/* ---- mappings ---- */

/* `mapping`: m's own, or one of its Pareto set. */
static cm_status store(const coremap_mapping *m, const cm_mapping *mapping, const char *folder, cm_run *run, cm_error *error)
{
  const char *id = m->network->id[0] != '\0' ? m->network->id : NULL;
  cm_map_options *options;
  CM_TRY(cm_mapping_write_folder(mapping, &m->demand, m->chip->chip, id, folder, error));
  CM_TRY(cm_pareto_write_folder(mapping, &m->demand, m->chip->chip, id, folder, error));
  CM_TRY(cm_map_options_parse(mapping->options, &options, error));
  const cm_map_input input = {.demand = &m->demand, .network_id = id, .chip = m->chip->chip, .occupancy = m->chip->occupancy,
                              .options = options};
  cm_status status = cm_mapping_write_beside(mapping, &input, run, folder, error);
  cm_map_options_free(options);
  return status;
}

static int store_watched(const coremap_mapping *m, const cm_mapping *mapping, const char *folder, coremap_progress progress, void *user,
                         coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, progress, user);
  cm_run_phase(r.run, "write");
  cm_status status = store(m, mapping, folder, r.run, &e);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

int library_mapping_store(const coremap_mapping *mapping, const char *folder, coremap_progress progress, void *user, coremap_error **error)
{
  return store_watched(mapping, mapping->mapping, folder, progress, user, error);
}

uint32_t library_mapping_points(const coremap_mapping *mapping, uint32_t *chosen)
{
  *chosen = mapping->mapping->point_chosen + 1;
  return mapping->mapping->point_count;
}

int library_mapping_store_point(const coremap_mapping *mapping, uint32_t number, const char *folder, coremap_progress progress, void *user,
                                coremap_error **error)
{
  return store_watched(mapping, mapping->mapping->points[number - 1], folder, progress, user, error);
}

/* CM_VIEWS_ALL: there is none of that name. */
static cm_mapping_view find_late(const char *name)
{
  cm_mapping_view view = CM_VIEWS;
  while (view < CM_VIEWS_ALL && strcmp(cm_mapping_view_name(view), name) != 0)
    view++;
  return view;
}

int library_view_make(const char *folder, const char *view, const char *network, coremap_progress progress, void *user,
                      coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology;
  const cm_mapping_view late = find_late(view);
  library_begin(&r, progress, user);
  cm_status status = late == CM_VIEWS_ALL ? cm_fail(&e, CM_NOT_FOUND, "no view %.40s is made afterwards", view)
                                          : cm_topology_load(network, r.run, &topology, &e);
  CM_THEN(status, cm_mapping_write_late(folder, late, topology, r.run, &e));
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

int library_structure_answer(int structure, int other, const char *kind, const char *const *arguments, char **text, coremap_error **error)
{
  cm_error e;
  cm_structure s = {0}, with = {0};
  cm_text answer;
  cm_status status = cm_structure_open(structure, &s, &e);
  CM_THEN_IF(status, other >= 0, cm_structure_open(other, &with, &e));
  if (status == CM_OK && (status = cm_whole(cm_text_open(&answer), "an answer", &e)) == CM_OK) {
    status = cm_structure_answer(&s, other >= 0 ? &with : NULL, kind, arguments, answer.stream, &e);
    *text = cm_text_close(&answer, NULL);
    if (status == CM_OK)
      status = cm_whole(*text != NULL, "an answer", &e);
    else
      free(*text);
  }
  cm_structure_clear(&s);
  cm_structure_clear(&with);
  return library_tell(status, &e, error);
}

int library_cores_cut(int cores, const uint32_t box[4], uint32_t block, int out, coremap_error **error)
{
  cm_error e;
  const int own = dup(out);
  FILE *stream = own >= 0 ? fdopen(own, "wb") : NULL;
  cm_status status = stream != NULL ? cm_cores_cut_write(cores, (cm_cores_cut){box[0], box[1], box[2], box[3], block}, stream, &e)
                                    : cm_fail_errno(&e, errno, "cannot write", "cores");
  if (stream == NULL && own >= 0)
    close(own);
  if (stream != NULL && fclose(stream) != 0 && status == CM_OK)
    status = cm_fail_errno(&e, errno, "cannot write", "cores");
  return library_tell(status, &e, error);
}

/* The report of a job has that of its mapping as "mapper". */
static cm_status rename_report(json_t *object, cm_error *error)
{
  json_t *mapper = json_object_get(object, "mapper");
  CM_TRY(cm_whole(cm_metrics_rename(object), "names of metrics", error));
  if (!json_is_object(mapper))
    return cm_mapping_rename(object, error);
  json_t *summary = json_pack("{s:O}", "report", mapper);
  cm_status status = cm_whole(summary != NULL, "a report", error);
  CM_THEN(status, cm_mapping_rename(summary, error));
  json_decref(summary);
  return status;
}

int library_names_of_now(const char *text, char **now, coremap_error **error)
{
  cm_error e;
  cm_status status = CM_OK;
  *now = NULL;
  if (!cm_metrics_have_old_names(text)) /* which is nearly always so, and seen without reading the text as JSON */
    return 0;
  json_t *object = json_loads(text, 0, NULL);
  if (!json_is_object(object))
    status = cm_fail(&e, CM_DAMAGED, "what is stored of a mapping is no JSON object");
  else
    status = rename_report(object, &e);
  return library_tell(library_text_of(status, object, JSON_COMPACT, now, &e), &e, error);
}
