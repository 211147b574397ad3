/* What is made of mappings: views, files of other tools, pictures. */
#include "base/json.h"
#include "core/output/beside.h"
#include "core/output/picture/picture.h"
#include "core/output/renamed.h"
#include "core/output/structure/structure.h"
#include "core/output/pareto_files.h"
#include "library/internal.h"

static cm_status refuse_opened(const char *what, cm_error *error)
{
  return cm_fail(error, CM_CONFLICT, "\"%.40s\" is made of a mapping just made, and this one was opened: it has its summary, exports and pictures",
                 what);
}

/* CM_VIEWS: there is none of that name. */
static cm_mapping_view find_view(const char *what)
{
  cm_mapping_view view = 0;
  if (strcmp(what, "mapping") == 0)
    return CM_VIEW_FULL_JSON;
  if (strcmp(what, "summary") == 0)
    return CM_VIEW_SUMMARY_JSON;
  while (view < CM_VIEWS && strcmp(cm_mapping_view_name(view), what) != 0)
    view++;
  return view;
}

static cm_status write_report(const coremap_mapping *m, FILE *stream, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  json_t *report = library_mapping_report(m);
  cm_status status = cm_json_whole(refusals, "a report", error);
  if (status == CM_OK && (report == NULL || cm_json_dumpf(report, stream, JSON_COMPACT) != 0))
    status = cm_fail(error, CM_IO, "cannot write the report");
  json_decref(report);
  return status;
}

static cm_status write_answer(const coremap_mapping *m, const char *question, cm_run *run, FILE *stream, cm_error *error)
{
  cm_structure s;
  cm_map_options *options;
  CM_TRY(cm_map_options_parse(m->mapping != NULL ? m->mapping->options : json_object_get(m->summary, "options"), &options, error));
  cm_status status = cm_structure_make(&m->mapped, options, run, &s, error);
  CM_THEN(status, cm_structure_ask(&s, question, stream, error));
  cm_structure_clear(&s);
  cm_map_options_free(options);
  return status;
}

static cm_status write_made(const coremap_mapping *m, const char *what, cm_run *run, FILE *stream, cm_error *error)
{
  const char *id = m->network->id[0] != '\0' ? m->network->id : NULL;
  const cm_export_format *format;
  const cm_mapping_view view = find_view(what);
  const bool certificate = strcmp(what, "certificate") == 0, report = strcmp(what, "report") == 0;
  if (cm_structure_is_question(what))
    return write_answer(m, what, run, stream, error);
  if (m->mapping == NULL && view == CM_VIEW_SUMMARY_JSON)
    return cm_whole(cm_json_dumpf(m->summary, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0, "a summary", error);
  if (m->mapping == NULL && (view < CM_VIEWS || certificate || report))
    return refuse_opened(what, error);
  if (view < CM_VIEWS)
    return cm_mapping_write(m->mapping, &m->demand, m->chip->chip, id, view, stream, error);
  if (report)
    return write_report(m, stream, error);
  if (certificate)
    return cm_mapping_certify(
      m->mapping,
      &(cm_check_context){
        .demand = &m->demand, .chip = m->chip->chip, .occupancy = m->chip->occupancy, .network_id = id, .run = run},
      stream, error);
  bool png = strncmp(what, "picture:png:", 12) == 0;
  if (png || strncmp(what, "picture:svg:", 12) == 0)
    return cm_picture_write(&m->mapped, what + 12, png ? CM_PICTURE_PNG : CM_PICTURE_SVG, run, stream, error);
  CM_TRY(cm_export_find(what, &format, error));
  return cm_export_mapping(format, &m->mapped, run, stream, error);
}

int coremap_mapping_write_watched(const coremap_mapping *mapping, const char *what, const char *path, coremap_progress progress,
                                  void *user, coremap_error **error)
{
  cm_error e;
  cm_file file;
  library_run r;
  if (cm_file_create(&file, path, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  library_begin(&r, progress, user);
  cm_status status = write_made(mapping, what, r.run, file.stream, &e);
  cm_run_finish(r.run);
  return library_tell(cm_file_end(&file, status, &e), &e, error);
}

int coremap_mapping_write(const coremap_mapping *mapping, const char *what, const char *path, coremap_error **error)
{
  return coremap_mapping_write_watched(mapping, what, path, NULL, NULL, error);
}

int coremap_mapping_text(const coremap_mapping *mapping, const char *what, char **text, size_t *size, coremap_error **error)
{
  cm_error e;
  char *bytes = NULL;
  size_t count = 0;
  library_run r;
  FILE *stream = open_memstream(&bytes, &count);
  if (cm_whole(stream != NULL, "a text", &e) != CM_OK)
    return library_tell(e.status, &e, error);
  library_begin(&r, NULL, NULL);
  cm_status status = write_made(mapping, what, r.run, stream, &e);
  cm_run_finish(r.run);
  if (fclose(stream) != 0 && status == CM_OK)
    status = cm_whole(false, "a text", &e);
  if (status == CM_OK) {
    *text = bytes;
    *size = count;
  } else
    free(bytes);
  return library_tell(status, &e, error);
}

int coremap_mapping_about(const char *path, char **json, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *summary = NULL;
  library_begin(&r, NULL, NULL);
  cm_status status = cm_mapping_read_summary(path, r.run, &summary, &e);
  if (status == CM_OK && (status = cm_mapping_rename(summary, &e)) != CM_OK)
    json_decref(summary);
  CM_THEN(status, library_text(summary, JSON_COMPACT, json, &e));
  return library_tell(status, &e, error);
}

int coremap_pareto_draw(const char *summary, const char *path, coremap_error **error)
{
  cm_error e;
  cm_file file;
  json_t *read = cm_json_loadb(summary, strlen(summary), 0, NULL);
  cm_status status = cm_file_create(&file, path, &e);
  if (status == CM_OK) {
    status = cm_pareto_draw(json_object_get(json_object_get(read, "report"), "pareto"), file.stream, &e);
    status = cm_file_end(&file, status, &e);
  }
  json_decref(read);
  return library_tell(status, &e, error);
}

int coremap_mapping_write_pareto(const coremap_mapping *m, const char *folder, coremap_error **error)
{
  cm_error e;
  const char *id = m->network->id[0] != '\0' ? m->network->id : NULL;
  cm_status status = m->mapping != NULL ? cm_pareto_write_folder(m->mapping, &m->demand, m->chip->chip, id, folder, &e)
                                        : refuse_opened("pareto", &e);
  return library_tell(status, &e, error);
}
