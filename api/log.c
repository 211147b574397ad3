/* What the log tells of a request (docs/how-to/log.md): who, from where, which route, and what came of it; nothing of its head, its
 * query or its body, which may hold secrets. */
#include "api/handlers.h"
#include "storage/log.h"

/* Ids tell nobody how many requests others make. */
void cm_request_name(cm_request *request)
{
  cm_server *server = request->server;
  const uint64_t number = atomic_fetch_add(&server->request_count, 1);
  unsigned char hash[crypto_shorthash_BYTES];
  (void)crypto_shorthash(hash, (const unsigned char *)&number, sizeof number, server->request_key);
  (void)sodium_bin2hex(request->id, sizeof request->id, hash, sizeof hash);
}

void cm_request_rename(cm_request *request, const char *id)
{
  static const char sound[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
  const size_t length = strlen(id);
  if (length > 0 && length < sizeof request->id && strspn(id, sound) == length)
    memcpy(request->id, id, length + 1);
}

/* The last thing that the path names, where it was found: what was not may be anything, also a token in the wrong place. */
static const char *object_of(const cm_request *request)
{
  const char *last = "";
  if (request->route == NULL || request->route->object == CM_OBJECT_NONE || request->status >= 400)
    return last;
  for (size_t i = 0; i < CM_PARAMS_MAX && request->param[i] != NULL; i++)
    last = request->param[i];
  return last;
}

void cm_request_log(const cm_request *request, bool whole, double now)
{
  cm_log_line line;
  char client[CM_CLIENT_MAX];
  cm_log_begin(&line, "request");
  if (line.used == 0)
    return;
  cm_log_word(&line, "request", request->id);
  cm_log_word(&line, "user", request->who.user);
  cm_log_word(&line, "token", request->who.token);
  cm_request_client(request, client);
  cm_log_word(&line, "address", client);
  cm_log_word(&line, "method", request->method);
  cm_log_word(&line, "route", request->route != NULL ? request->route->pattern : "");
  cm_log_word(&line, "object", object_of(request));
  cm_log_count(&line, "status", request->status);
  cm_log_count(&line, "bytes_in", request->body_size + request->file_bytes);
  cm_log_count(&line, "bytes_out", strcmp(request->method, "HEAD") == 0 ? 0 : request->sent);
  cm_log_seconds(&line, "seconds", now - request->started);
  if (!whole)
    cm_log_word(&line, "ended", "early"); /* the client went away, or was too slow */
  cm_log_end(&line);
}
