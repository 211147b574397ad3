/* /v1/bin, /v1/retention and pins: what was deleted and can come back, what goes by itself, and what does not (docs/how-to/retention.md). */
#include "api/handlers.h"
#include "storage/bin.h"
#include "storage/holders.h"
#include "storage/retention.h"

static json_t *entry_json(const cm_request *request, const cm_binned *e)
{
  const double days = (double)cm_server_limits_now(request->server).bin_days;
  return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "id", e->id, "kind", e->kind, "user", e->user, "name", e->name, "bytes",
                   (json_int_t)e->bytes, "deleted", cm_time_json(e->deleted), "until", cm_time_json(e->deleted + days * 86400));
}

void cm_list_bin(cm_request *request)
{
  cm_binned *entries;
  size_t count;
  const char *user = cm_request_query(request, "user");
  if (user != NULL && strcmp(user, request->who.user) != 0 && !cm_access_has(request, CM_RIGHT_WATCH))
    return;
  if (user == NULL)
    user = request->who.user;
  const cm_bin_filter filter = {strcmp(user, "*") == 0 ? NULL : user, 0, CM_PAGE_MAX};
  if (!cm_reply_ok(request, cm_bin_list(request->store, &filter, &entries, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, entry_json(request, &entries[i]));
  free(entries);
  cm_reply_json(request, 200, json_pack("{s:o}", "entries", list));
}

void cm_restore_binned(cm_request *request)
{
  cm_binned entry;
  if (!cm_reply_ok(request, cm_bin_restore(request->store, request->param[0], &entry, &request->error)))
    return;
  cm_reply_json(request, 200, json_pack("{s:s, s:s}", "id", entry.id, "kind", entry.kind));
  cm_reply_location(request, "/v1/%ss/%s", entry.kind, entry.id);
}

void cm_delete_binned(cm_request *request)
{
  if (cm_reply_ok(request, cm_bin_purge(request->store, request->param[0], &request->viewer, &request->error)))
    cm_reply_empty(request, 204);
}

void cm_empty_bin(cm_request *request)
{
  if (cm_reply_ok(request, cm_bin_empty(request->store, &request->viewer, &request->error)))
    cm_reply_empty(request, 204);
}

/* ---- deleting, and pins ---- */

void cm_request_delete(cm_request *request, cm_object object, const char *id)
{
  bool last;
  const bool bin = cm_server_limits_now(request->server).bin_days > 0;
  cm_status status = bin ? cm_bin_put(request->store, object, id, &request->viewer, &last, &request->error)
                         : cm_bin_pass(request->store, object, id, &request->viewer, &request->error);
  if (cm_reply_ok(request, status))
    cm_reply_empty(request, 204);
}

static void pin(cm_request *request, bool pinned)
{
  if (cm_reply_ok(request, cm_pin(request->store, request->route->object, request->param[0], request->who.user, pinned, &request->error)))
    cm_get_access(request);
}

void cm_put_pin(cm_request *request)
{
  pin(request, true);
}

void cm_delete_pin(cm_request *request)
{
  pin(request, false);
}

/* ---- rules ---- */

void cm_list_retention(cm_request *request)
{
  cm_limit_row *rows;
  size_t count;
  if (!cm_reply_ok(request, cm_limits_list(request->store->database, &cm_keep_kind, &rows, &count, &request->error)))
    return;
  const bool all = request->who.role >= CM_ROLE_OPERATOR;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    if (!all && strcmp(rows[i].name, "*") != 0 && strcmp(rows[i].name, request->who.user) != 0)
      continue;
    json_t *one = json_pack("{s:s}", "user", rows[i].name);
    cm_limits_add(one, &cm_keep_kind, &rows[i]);
    (void)json_array_append_new(list, one);
  }
  free(rows);
  cm_reply_json(request, 200, json_pack("{s:o, s:I}", "rules", list, "bin_days",
                                        (json_int_t)cm_server_limits_now(request->server).bin_days));
}

void cm_put_retention(cm_request *request)
{
  if (cm_request_limits(request, &cm_keep_kind, false))
    cm_list_retention(request);
}
