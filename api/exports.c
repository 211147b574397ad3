/* /v1/mappings/{id}/export, /picture: a mapping as the file of another tool, or drawn; and the views of a mapping that its job
 * leaves to who wants them. Each is written when it is first asked for; of a large mapping it is kept beside the views, and counts
 * among its owner's bytes, as far as his quota goes. The processor time that it takes counts as that of a job of who asks. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/handlers.h"
#include "core/mapping/result/beside.h"
#include "core/mapping/exports/exports.h"
#include "core/mapping/result/export.h"
#include "core/mapping/picture/picture.h"
#include "core/network/topology_file.h"
#include "storage/mappings.h"
#include "storage/networks.h"
#include "storage/quotas.h"

/* Something that is computed for a request, in this thread: it ends when the server stops, and keeps the limit of imports. */
typedef struct making {
  cm_memory memory;
  cm_run run;
  double began; /* seconds of this thread's processor time */
} making;

static double thread_seconds(void)
{
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CM_QUOTA_USED: who asks has used up his processor time. What has begun is ended by end_making. */
static cm_status begin_making(cm_request *request, making *m, cm_error *error)
{
  if (cm_quota_check_cpu(request->store->database, request->who.user, error) != CM_OK)
    return error->status;
  cm_memory_init(&m->memory, cm_server_limits_now(request->server).memory_limit);
  cm_run_init(&m->run);
  m->run.memory = &m->memory;
  m->run.cancel = &request->server->stopping;
  m->began = thread_seconds();
  return CM_OK;
}

static void end_making(cm_request *request, making *m)
{
  cm_error ignored;
  cm_run_finish(&m->run);
  (void)cm_quota_note_cpu(request->store->database, request->who.user, thread_seconds() - m->began, &ignored);
}

static cm_status read_network(const cm_request *request, const char *network, cm_run *run, cm_topology **topology, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (cm_networks_path(request->store, network, path, error) != CM_OK)
    return error->status;
  return cm_topology_load(path, run, topology, error);
}

/* What is asked for: an export, or a layer as a picture. */
typedef struct wish {
  const cm_export_format *format;
  const char *layer;
  cm_picture_format picture;
  char name[40]; /* of the file beside the views, and in the tag */
  const char *media, *file;
} wish;

/* Writes it to `path`, whole or not at all, from the mapping that stands at `content`. */
static cm_status write_wish(const cm_request *request, const cm_mapping_row *mapping, const wish *w, const char *content,
                            const char *path, cm_run *run, cm_error *error)
{
  cm_topology *topology;
  cm_mapped_file mapped;
  cm_file file;
  if (read_network(request, mapping->network, run, &topology, error) != CM_OK ||
      cm_mapped_open(content, topology, NULL, run, &mapped, error) != CM_OK)
    return error->status;
  cm_status status = cm_file_create(&file, path, error);
  if (status == CM_OK) {
    status = w->format != NULL ? cm_export_mapping(w->format, &mapped.mapped, run, file.stream, error)
                               : cm_picture_write(&mapped.mapped, w->layer, w->picture, run, file.stream, error);
    if (status == CM_OK)
      status = cm_file_commit(&file, error);
    else
      cm_file_discard(&file);
  }
  cm_mapped_close(&mapped);
  return status;
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

/* Keeps the views in a scratch folder that the mapping has not yet. */
static void keep_views(const cm_request *request, const cm_mapping_row *mapping, const char *folder)
{
  cm_error ignored;
  if (cm_mappings_repack(request->store, mapping, folder, &ignored) == CM_OK)
    return;
  for (cm_mapping_view view = CM_VIEWS; view < CM_VIEWS_ALL; view++) {
    char path[CM_PATH_MAX];
    const char *name = cm_mapping_view_name(view);
    if (cm_path(path, &ignored, "%s/%s", folder, name) == CM_OK && access(path, F_OK) == 0)
      (void)cm_mappings_keep(request->store, mapping, name, path, &ignored);
  }
}

cm_status cm_view_make(cm_request *request, const cm_mapping_row *mapping, cm_mapping_view view, int *file, cm_error *error)
{
  making m;
  cm_topology *topology;
  cm_error ignored;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  if (begin_making(request, &m, error) != CM_OK)
    return error->status;
  cm_status status = cm_store_scratch(request->store, folder, error);
  if (status == CM_OK)
    status = cm_path(path, error, "%s/%s", folder, cm_mapping_view_name(view));
  if (status == CM_OK)
    status = find_network(request, mapping, view == CM_VIEW_CERTIFICATE_JSON ? "certified" : "routed", error);
  if (status == CM_OK)
    status = cm_mappings_lend_all(request->store, mapping->id, folder, error);
  if (status == CM_OK)
    status = read_network(request, mapping->network, &m.run, &topology, error);
  if (status == CM_OK)
    status = cm_mapping_write_late(folder, view, topology, &m.run, error);
  if (status == CM_OK) {
    *file = open(path, O_RDONLY | O_CLOEXEC);
    status = *file >= 0 ? CM_OK : cm_fail_errno(error, errno, "cannot open", path);
  }
  if (status == CM_OK)
    keep_views(request, mapping, folder);
  end_making(request, &m);
  (void)cm_folder_remove(folder, &ignored);
  return status;
}

/* Writes it and opens what was written. */
static cm_status make_wish(cm_request *request, const cm_mapping_row *mapping, const wish *w, int *file, cm_error *error)
{
  char content[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_error ignored;
  cm_store *store = request->store;
  if (cm_store_scratch(store, content, error) != CM_OK || cm_store_scratch(store, path, error) != CM_OK ||
      cm_mappings_lend(store, mapping->id, cm_mapping_view_name(CM_VIEW_FULL_JSON), content, error) != CM_OK)
    return error->status;
  making m;
  cm_status status = begin_making(request, &m, error);
  if (status == CM_OK) {
    status = write_wish(request, mapping, w, content, path, &m.run, error);
    end_making(request, &m);
  }
  (void)unlink(content);
  if (status != CM_OK)
    return status;
  *file = open(path, O_RDONLY | O_CLOEXEC);
  if (*file < 0)
    status = cm_fail_errno(error, errno, "cannot open", path);
  else
    (void)cm_mappings_keep(store, mapping, w->name, path, &ignored);
  (void)unlink(path); /* where it has not been kept */
  return status;
}

static void reply_wish(cm_request *request, const wish *w)
{
  cm_error error = {.status = CM_OK};
  cm_mapping_row mapping;
  int file;
  char etag[CM_ID_MAX + 48];
  if (cm_mappings_get(request->store, request->param[0], &mapping, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  if (find_network(request, &mapping, "exported", &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  /* What is made tells of the network: those who do not see it do not get it by way of a mapping. */
  if (!cm_access_sees(request, CM_OBJECT_NETWORK, mapping.network, "the mapping's network"))
    return;
  (void)snprintf(etag, sizeof etag, "%s-%s", mapping.id, w->name);
  if (!cm_reply_known(request, w->media, etag, "")) {
    cm_status status = cm_mappings_open(request->store, mapping.id, w->name, &file, &error);
    if (status == CM_NOT_FOUND)
      status = make_wish(request, &mapping, w, &file, &error);
    if (status != CM_OK) {
      cm_reply_error(request, &error);
      return;
    }
    cm_reply_opened(request, file, w->media, etag, "");
  }
  if (w->file != NULL)
    cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%s\"", w->file);
}

void cm_get_mapping_export(cm_request *request)
{
  cm_error error;
  wish w = {0};
  if (cm_export_find(cm_request_query(request, "to"), &w.format, &error) != CM_OK) {
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood", "%s", error.detail);
    return;
  }
  w.media = w.format->media;
  w.file = w.format->file;
  (void)snprintf(w.name, sizeof w.name, "export.%.20s", w.format->name);
  reply_wish(request, &w);
}

void cm_get_mapping_picture(cm_request *request)
{
  const char *layer = cm_request_query(request, "layer"), *format = cm_request_query(request, "format");
  bool png = format != NULL && strcmp(format, "png") == 0, known = layer == NULL;
  wish w = {.layer = layer != NULL ? layer : cm_picture_layers[0], .picture = png ? CM_PICTURE_PNG : CM_PICTURE_SVG,
            .media = png ? "image/png" : "image/svg+xml"};
  for (const char *const *name = cm_picture_layers; *name != NULL && !known; name++)
    known = strcmp(*name, layer) == 0;
  if (!known || (format != NULL && !png && strcmp(format, "svg") != 0)) {
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     known ? "format must be svg or png" : "there is no such layer to draw: docs/pictures.md lists them");
    return;
  }
  (void)snprintf(w.name, sizeof w.name, "picture-%.20s.%s", w.layer, png ? "png" : "svg");
  reply_wish(request, &w);
}
