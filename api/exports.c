/* /v1/mappings/{id}/export, /picture: a mapping as the file of another tool, or drawn; and the views of a mapping that its job
 * leaves to who wants them. Each is written when it is first asked for; of a large mapping it is kept beside the views, and counts
 * among its owner's bytes, as far as his quota goes. And the C of a program. The processor time that it takes counts as that of a job of who asks. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <coremap/program.h>

#include "api/handlers.h"
#include "api/making.h"
#include "base/json.h"
#include "library/private/base.h"
#include "library/private/stored.h"

/* What is asked for: an export, or a layer as a picture. */
typedef struct wish {
  char what[48]; /* as coremap_mapping_write knows it */
  char name[40]; /* of the file beside the views, and in the tag */
  char media[64], file[64]; /* "": of no name that suits it */
} wish;

/* Writes it to `path`, whole or not at all, from the mapping that stands at `content`. */
static cm_status write_wish(const cm_request *request, const cm_mapping_row *mapping, const wish *w, const char *content,
                            const char *path, cm_run *run, cm_error *error)
{
  char stored[CM_PATH_MAX];
  coremap_network *network = NULL;
  coremap_mapping *opened = NULL;
  coremap_error *why = NULL;
  CM_TRY(cm_networks_path(request->store, mapping->network, stored, error));
  int result = library_network_load(stored, "", library_on_run, run, &network, &why);
  if (result == 0)
    result = coremap_mapping_open(content, network, NULL, library_on_run, run, &opened, &why);
  if (result == 0)
    result = coremap_mapping_write_watched(opened, w->what, path, library_on_run, run, &why);
  coremap_mapping_free(opened);
  coremap_network_free(network);
  return library_status(result, &why, error);
}

/* The mapping's network as it is stored: CM_CONFLICT, with what to do, where it has been deleted. */
static cm_status find_network(const cm_request *request, const cm_mapping_row *mapping, const char *what, cm_error *error)
{
  cm_network network;
  cm_status status = cm_networks_get(request->store, mapping->network, &network, error);
  return status == CM_NOT_FOUND
           ? cm_fail(error, CM_CONFLICT, "the mapping's network has been deleted: upload it again, and this mapping can be %s", what)
           : status;
}

/* What a mapping can become by a view, once its network is there again. */
static const char *becomes(const char *view)
{
  return strcmp(view, "certificate.json") == 0 ? "certified" : strcmp(view, "structure.bin") == 0 ? "looked into" : "routed";
}

/* Keeps the views in a scratch folder that the mapping has not yet. */
static void keep_views(const cm_request *request, const cm_mapping_row *mapping, const char *folder)
{
  cm_error ignored;
  if (cm_mappings_repack(request->store, mapping, folder, &ignored) == CM_OK)
    return;
  for (const char *const *name = library_late_views; *name != NULL; name++) {
    char path[CM_PATH_MAX];
    if (cm_path(path, &ignored, "%s/%s", folder, *name) == CM_OK && access(path, F_OK) == 0)
      (void)cm_mappings_keep(request->store, mapping, *name, path, &ignored);
  }
}

cm_status cm_view_make(cm_request *request, const cm_mapping_row *mapping, const char *view, int *file, cm_error *error)
{
  cm_making m;
  cm_error ignored;
  coremap_error *why = NULL;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], network[CM_PATH_MAX];
  CM_TRY(cm_making_begin(request, &m, error));
  cm_status status = cm_store_scratch(request->store, folder, error);
  CM_THEN(status, cm_path(path, error, "%s/%s", folder, view));
  CM_THEN(status, find_network(request, mapping, becomes(view), error));
  CM_THEN(status, cm_mappings_lend_all(request->store, mapping->id, folder, error));
  CM_THEN(status, cm_networks_path(request->store, mapping->network, network, error));
  CM_THEN(status, library_status(library_view_make(folder, view, network, library_on_run, &m.run, &why), &why, error));
  if (status == CM_OK) {
    *file = open(path, O_RDONLY | O_CLOEXEC);
    status = *file >= 0 ? CM_OK : cm_fail_errno(error, errno, "cannot open", path);
  }
  if (status == CM_OK)
    keep_views(request, mapping, folder);
  cm_making_end(request, &m);
  (void)cm_folder_remove(folder, &ignored);
  return status;
}

/* Writes it and opens what was written. */
static cm_status make_wish(cm_request *request, const cm_mapping_row *mapping, const wish *w, int *file, cm_error *error)
{
  char content[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_error ignored;
  cm_store *store = request->store;
  CM_TRY(cm_store_scratch(store, content, error));
  CM_TRY(cm_store_scratch(store, path, error));
  CM_TRY(cm_mappings_lend(store, mapping->id, "mapping.json", content, error));
  cm_making m;
  cm_status status = cm_making_begin(request, &m, error);
  if (status == CM_OK) {
    status = write_wish(request, mapping, w, content, path, &m.run, error);
    cm_making_end(request, &m);
  }
  (void)unlink(content);
  CM_TRY(status);
  *file = open(path, O_RDONLY | O_CLOEXEC);
  if (*file < 0)
    status = cm_fail_errno(error, errno, "cannot open", path);
  else
    (void)cm_mappings_keep(store, mapping, w->name, path, &ignored);
  (void)unlink(path); /* where it has not been kept */
  return status;
}

bool cm_mapping_shows_network(cm_request *request, const cm_mapping_row *mapping, const char *made)
{
  cm_owner network;
  if (!cm_reply_ok(request, find_network(request, mapping, made, &request->error)))
    return false;
  return cm_access_sees_behind(request, CM_OBJECT_NETWORK, mapping->network, "the network of this mapping", &network);
}

static void reply_wish(cm_request *request, const wish *w)
{
  cm_mapping_row mapping;
  int file;
  char etag[CM_ID_MAX + 48];
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    return;
  if (!cm_mapping_shows_network(request, &mapping, "exported"))
    return;
  (void)snprintf(etag, sizeof etag, "%s-%s", mapping.id, w->name);
  if (!cm_reply_known(request, w->media, etag, "")) {
    cm_status status = cm_mappings_open(request->store, mapping.id, w->name, &file, &request->error);
    if (status == CM_NOT_FOUND)
      status = make_wish(request, &mapping, w, &file, &request->error);
    if (!cm_reply_ok(request, status))
      return;
    cm_reply_opened(request, file, w->media, etag, "");
  }
  if (w->file[0] != '\0')
    cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%s\"", w->file);
}

void cm_get_mapping_export(cm_request *request)
{
  wish w = {0};
  char names[200];
  const char *to = cm_request_query(request, "to");
  json_t *format = to != NULL ? library_row("exports", to) : NULL;
  if (format == NULL) {
    (void)library_names("exports", ", ", names, sizeof names);
    if (to == NULL)
      CM_REPLY_BAD(request, "name what to export to: %s", names);
    else
      CM_REPLY_BAD(request, "there is no format \"%.40s\" to export to; there are %s", to, names);
    return;
  }
  (void)snprintf(w.what, sizeof w.what, "%s", to);
  (void)snprintf(w.media, sizeof w.media, "%s", json_string_value(json_object_get(format, "media")));
  (void)snprintf(w.file, sizeof w.file, "%s", json_string_value(json_object_get(format, "file")));
  (void)snprintf(w.name, sizeof w.name, "export.%.20s", to);
  json_decref(format);
  reply_wish(request, &w);
}

/* The layer that is asked for, in `layer`; the first unless one is. False: there is no such. */
static bool find_layer(const char *asked, char layer[32])
{
  json_t *layers = library_table("layers"), *found = asked != NULL ? library_row("layers", asked) : json_incref(json_array_get(layers, 0));
  if (found != NULL)
    (void)snprintf(layer, 32, "%s", json_string_value(found));
  json_decref(layers);
  json_decref(found);
  return found != NULL;
}

void cm_get_mapping_picture(cm_request *request)
{
  char layer[32];
  const char *format = cm_request_query(request, "format");
  const bool png = format != NULL && strcmp(format, "png") == 0, known = find_layer(cm_request_query(request, "layer"), layer);
  wish w = {0};
  if (!known || (format != NULL && !png && strcmp(format, "svg") != 0)) {
    CM_REPLY_BAD(request,
                 known ? "format must be svg or png" : "there is no such layer to draw: docs/reference/pictures.md lists them");
    return;
  }
  (void)snprintf(w.what, sizeof w.what, "picture:%s:%s", png ? "png" : "svg", layer);
  (void)snprintf(w.media, sizeof w.media, "%s", png ? "image/png" : "image/svg+xml");
  (void)snprintf(w.name, sizeof w.name, "picture-%.20s.%s", layer, png ? "png" : "svg");
  reply_wish(request, &w);
}

/* ---- C from programs ---- */

/* What is asked of the code, as options of coremap_program_emit, which say what is wrong with them; NULL: no memory. */
static char *emit_options(const cm_request *request, const char *archive)
{
  const char *lanes = cm_request_query(request, "lanes"), *end = lanes;
  while (end != NULL && *end >= '0' && *end <= '9')
    end++;
  json_t *whole = lanes == NULL ? NULL : *lanes != '\0' && *end == '\0' && end - lanes < 10 ? json_integer(strtoll(lanes, NULL, 10)) : json_string(lanes);
  const char *timed = cm_request_query(request, "pieces");
  json_t *pieces = timed == NULL ? NULL : strcmp(timed, "true") == 0 ? json_true() : strcmp(timed, "false") == 0 ? json_false() : json_string(timed);
  json_t *asked = json_pack("{s:s, s:s*, s:s*, s:s*, s:o*, s:o*}", "archive", archive, "target", cm_request_query(request, "target"), "name",
                            cm_request_query(request, "name"), "weights", cm_request_query(request, "weights"), "lanes", whole, "pieces", pieces);
  char *text = asked != NULL ? cm_json_dumps(asked, JSON_COMPACT) : NULL;
  json_decref(asked);
  return text;
}

static cm_status emit(const char *program, const char *options, cm_run *run, cm_error *error)
{
  coremap_program *read = NULL;
  coremap_error *why = NULL;
  char *report = NULL;
  int result = coremap_program_read(program, library_on_run, run, &read, &why);
  if (result == 0)
    result = coremap_program_emit(read, options, library_on_run, run, &report, &why);
  coremap_text_free(report);
  coremap_program_free(read);
  return library_status(result, &why, error);
}

/* The code as an archive, which is not kept. */
static cm_status make_source(cm_request *request, const char *id, int *file, cm_error *error)
{
  char program[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_making m;
  CM_TRY(cm_store_scratch(request->store, program, error));
  CM_TRY(cm_store_scratch(request->store, path, error));
  CM_TRY(cm_mappings_lend(request->store, id, "program.bin", program, error));
  char *options = emit_options(request, path);
  cm_status status = options != NULL ? cm_making_begin(request, &m, error) : cm_whole(false, "what is asked", error);
  if (status == CM_OK) {
    status = emit(program, options, &m.run, error);
    cm_making_end(request, &m);
  }
  free(options);
  (void)unlink(program);
  if (status == CM_OK && (*file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
    status = cm_fail_errno(error, errno, "cannot open", path);
  (void)unlink(path);
  return status;
}

void cm_get_program_source(cm_request *request)
{
  static const char media[] = "application/x-tar";
  cm_mapping_row program;
  int file = -1;
  char etag[CM_ID_MAX + 120];
  if (!cm_reply_ok(request, cm_programs_get(request->store, request->param[0], &program, &request->error)))
    return;
  (void)snprintf(etag, sizeof etag, "%s", program.id);
  for (size_t k = 0; k < 5; k++) {
    const char *asked = cm_request_query(request, (const char *const[]){"target", "name", "lanes", "weights", "pieces"}[k]);
    (void)snprintf(etag + strlen(etag), sizeof etag - strlen(etag), "-%.20s", asked != NULL ? asked : "");
  }
  if (!cm_reply_known(request, media, etag, "")) {
    if (!cm_reply_ok(request, make_source(request, program.id, &file, &request->error)))
      return;
    cm_reply_opened(request, file, media, etag, "");
  }
  cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s.tar\"", program.id);
}
