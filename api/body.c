/* The body of a request, in pieces: into memory, or hashed into a file.
 *
 * Happy path: open, take every piece, end. A file that no handler has taken over is dropped with the request.
 * What can fail: a nearly full disk, a body that is larger than allowed (what follows is read and thrown away, so that
 * the client sees the reply), a client that is too slow, no memory. */
#include <errno.h>
#include <unistd.h>

#include "api/internal.h"

enum {
  BODY_SECONDS_MAX = 120,
  FILE_SECONDS_MAX = 6 * 3600,
  DISCARD_MAX = 16 << 20, /* of a body that is refused already */
  WRITE_BYTES = 1 << 18,  /* to a file at once: by blocks of 4 KiB the system takes four times as long */
};

static uint64_t body_limit(const cm_request *request)
{
  switch (request->route->body) {
  case CM_BODY_FILE:
    return cm_server_limits_now(request->server).upload_bytes_max;
  case CM_BODY_BULK:
    return CM_OCCUPANCY_BYTES_MAX;
  case CM_BODY_JSON:
  case CM_BODY_NONE:
    break;
  }
  return CM_JSON_BYTES_MAX;
}

bool cm_body_fits(cm_request *request, uint64_t bytes)
{
  uint64_t limit = body_limit(request);
  if (bytes <= limit)
    return true;
  (void)cm_fail(&request->error, CM_TOO_LARGE, "the body is larger than the %llu bytes that are accepted here",
                (unsigned long long)limit);
  cm_error_figure(&request->error, "limit_bytes", limit);
  return cm_reply_error(request, &request->error);
}

static void fail_to_store(cm_request *request, int number, const char *what, const char *name)
{
  (void)cm_reply_ok(request, cm_fail_errno(&request->error, number, what, name));
}

void cm_body_open(cm_request *request)
{
  if (request->route->body != CM_BODY_FILE)
    return;
  char id[CM_ID_MAX], path[CM_PATH_MAX];
  cm_store_id(id);
  if (cm_store_free_bytes(request->store) < cm_server_limits_now(request->server).disk_free_min) {
    (void)cm_reply_ok(request, cm_fail(&request->error, CM_DISK_FULL, "the disk is nearly full: uploads are refused until there is more room"));
  } else if (cm_path(path, &request->error, "%s/incoming/%s.part", request->store->folder, id) != CM_OK)
    cm_reply_error(request, &request->error);
  else if ((request->file_path = strdup(path)) == NULL)
    cm_reply_text(request, 503, NULL, NULL, 0);
  else if ((request->file = fopen(request->file_path, "wbe")) == NULL)
    fail_to_store(request, errno, "cannot create", request->file_path);
  else {
    cm_buffered_begin(request->file, WRITE_BYTES, &request->file_buffer);
    sha256_init(&request->hash);
  }
}

static bool keep_in_memory(cm_request *request, const char *data, size_t size)
{
  if (request->body_size + size + 1 > request->body_room) {
    size_t room = (request->body_size + size + 1) * 2;
    char *larger = realloc(request->body, room);
    if (larger == NULL)
      return false;
    request->body = larger;
    request->body_room = room;
  }
  memcpy(request->body + request->body_size, data, size);
  request->body_size += size;
  request->body[request->body_size] = '\0';
  return true;
}

bool cm_body_take(cm_request *request, const char *data, size_t size)
{
  bool file = request->route != NULL && request->route->body == CM_BODY_FILE;
  cm_connections_took(request->connection, size);
  if (cm_now() - request->started > (file ? FILE_SECONDS_MAX : BODY_SECONDS_MAX))
    return false;
  if (request->status != 0 || request->route == NULL) {
    request->discarded += size;
    return request->discarded <= DISCARD_MAX;
  }
  uint64_t so_far = file ? request->file_bytes : request->body_size;
  if (!cm_body_fits(request, so_far + size))
    return true;
  if (!file)
    return request->route->body == CM_BODY_NONE || keep_in_memory(request, data, size);
  if (fwrite(data, 1, size, request->file) != size) {
    fail_to_store(request, errno, "cannot store", "the upload");
    return true;
  }
  sha256_update(&request->hash, size, (const uint8_t *)data);
  request->file_bytes += size;
  return true;
}

void cm_body_end(cm_request *request)
{
  unsigned char digest[SHA256_DIGEST_SIZE];
  if (request->file == NULL)
    return;
  int failed = cm_buffered_close(&request->file, &request->file_buffer);
  if (failed != 0) {
    fail_to_store(request, failed, "cannot store", "the upload");
    return;
  }
  sha256_digest(&request->hash, sizeof digest, digest);
  sodium_bin2hex(request->file_sha, sizeof request->file_sha, digest, sizeof digest);
  atomic_fetch_add(&request->server->counters.uploads, 1);
  atomic_fetch_add(&request->server->counters.upload_bytes, request->file_bytes);
}

void cm_body_drop(cm_request *request)
{
  if (request->file != NULL)
    (void)cm_buffered_close(&request->file, &request->file_buffer);
  if (request->file_path != NULL)
    unlink(request->file_path);
  free(request->file_path);
  request->file_path = NULL;
}
