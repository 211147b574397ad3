/* /v1/uploads: a network in pieces. POST announces name and size, each PATCH appends at Upload-Offset, HEAD says how
 * far it has come; the PATCH that completes it answers as POST /v1/networks would. Spikes and samples (of=spikes, of=samples) stay an upload,
 * which options of jobs name. */
#include <errno.h>

#include "api/handlers.h"
#include "storage/uploads.h"

static void offsets(cm_request *request, const cm_upload *upload)
{
  cm_reply_header(request, "Upload-Offset", "%llu", (unsigned long long)upload->offset);
  cm_reply_header(request, "Upload-Length", "%llu", (unsigned long long)upload->size);
  cm_reply_header(request, "Cache-Control", "no-store");
}

void cm_post_upload(cm_request *request)
{
  static const char *const names[] = {"name", "size", "visibility", NULL};
  cm_upload upload = {0};
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  if (!cm_request_members(request, object, names) || !cm_access_owner_of(request, object, &upload.owner)) {
    json_decref(object);
    return;
  }
  const char *name = json_string_value(json_object_get(object, "name"));
  json_int_t size = json_integer_value(json_object_get(object, "size"));
  cm_status status = CM_OK;
  if (json_object_get(object, "name") != NULL && (name == NULL || !cm_text_is_sound(name, CM_NAME_MAX))) {
    (void)cm_fail(&request->error, CM_BAD_REQUEST, "/name: expected a short text without control characters");
    status = cm_fail_at(&request->error, "/name");
  } else if (size < 1) {
    (void)cm_fail(&request->error, CM_BAD_REQUEST, "/size: expected the number of bytes that will come");
    status = cm_fail_at(&request->error, "/size");
  } else if ((uint64_t)size > cm_server_limits_now(request->server).upload_bytes_max) {
    status = cm_fail(&request->error, CM_TOO_LARGE, "uploads may have %llu bytes at most",
                     (unsigned long long)cm_server_limits_now(request->server).upload_bytes_max);
    cm_error_figure(&request->error, "limit_bytes", cm_server_limits_now(request->server).upload_bytes_max);
  } else {
    (void)snprintf(upload.name, sizeof upload.name, "%s", name != NULL ? name : "");
    upload.size = (uint64_t)size;
    status = cm_uploads_create(request->store, &upload, &request->error);
  }
  json_decref(object);
  if (!cm_reply_ok(request, status))
    return;
  json_t *body = json_pack("{s:s, s:s, s:I, s:I}", "id", upload.id, "name", upload.name, "size", (json_int_t)upload.size,
                           "offset", (json_int_t)0);
  cm_owner_add(body, &upload.owner);
  cm_reply_json(request, 201, body);
  cm_reply_location(request, "/v1/uploads/%s", upload.id);
  offsets(request, &upload);
}

void cm_head_upload(cm_request *request)
{
  cm_upload upload;
  if (!cm_reply_ok(request, cm_uploads_get(request->store, request->param[0], &upload, &request->error)))
    return;
  cm_reply_empty(request, 200);
  offsets(request, &upload);
}

/* Whether the bytes of an upload are done with: they are a network now, or none. Whatever else stopped the import may pass
 * (a full disk, a stop of the server, a memory limit, a wrong argument): what was acknowledged stays. */
static bool is_over(cm_status status)
{
  return status == CM_OK || status == CM_BAD_NETWORK || status == CM_TOO_LARGE;
}

static void finish(cm_request *request, const cm_upload *upload)
{
  char path[CM_PATH_MAX], sha[CM_SHA_MAX];
  uint64_t bytes;
  if (cm_uploads_path(request->store, upload->id, path, &request->error) != CM_OK || cm_file_hash(path, sha, &bytes, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    return;
  }
  const cm_import_file file = {path, sha, upload->name, upload->size, upload->owner};
  if (is_over(cm_import_upload(request, &file)) &&
      cm_uploads_delete(request->store, upload->id, &request->error) != CM_OK && request->error.status != CM_NOT_FOUND)
    cm_reply_error(request, &request->error); /* asked again, it finds the network */
}

void cm_patch_upload(cm_request *request)
{
  cm_upload upload = {0};
  const char *text = cm_request_header(request, "Upload-Offset"), *of = cm_request_query(request, "of");
  const bool stays = of != NULL && (strcmp(of, "spikes") == 0 || strcmp(of, "samples") == 0);
  char *end;
  errno = 0;
  unsigned long long offset = text != NULL ? strtoull(text, &end, 10) : 0;
  if (text == NULL || text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
    CM_REPLY_BAD(request, "Upload-Offset must say at which byte this piece begins; HEAD tells how far the upload has come");
    return;
  }
  (void)snprintf(upload.id, sizeof upload.id, "%s", request->param[0]);
  if (of != NULL && strcmp(of, "network") != 0 && !stays) {
    CM_REPLY_BAD(request, "of must be network, spikes or samples, not \"%.40s\"", of);
    return;
  }
  cm_status status = cm_uploads_append(request->store, request->file_path, offset, &upload, &request->error);
  if (status != CM_OK) {
    cm_reply_error(request, &request->error);
    if (status == CM_CONFLICT)
      offsets(request, &upload);
  } else if (upload.offset == upload.size && !stays)
    finish(request, &upload);
  else {
    cm_reply_empty(request, 204);
    offsets(request, &upload);
  }
}

void cm_delete_upload(cm_request *request)
{
  if (cm_reply_ok(request, cm_uploads_delete(request->store, request->param[0], &request->error)))
    cm_reply_empty(request, 204);
}
