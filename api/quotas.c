/* /v1/usage and /v1/quotas: what one has used and may use, and what administrators set (docs/how-to/queue.md); and how limits by name
 * are read and shown. */
#include <math.h>

#include "api/handlers.h"
#include "storage/ledger.h"
#include "storage/quotas.h"

static json_t *limit_json(double most)
{
  return most < 0 ? json_null() : json_real(most);
}

void cm_limits_add(json_t *object, const cm_limit_kind *kind, const cm_limit_row *row)
{
  for (size_t i = 0; i < kind->count; i++)
    (void)json_object_set_new(object, kind->names[i], limit_json(row->most[i]));
}

/* The members that are given; false: the reply is set. */
static bool read_limits(cm_request *request, const json_t *object, const cm_limit_kind *kind, cm_limit_row *row)
{
  for (size_t i = 0; i < kind->count; i++) {
    const json_t *member = json_object_get(object, kind->names[i]);
    row->most[i] = member == NULL ? NAN : json_is_null(member) ? -1 : json_number_value(member);
    if (member != NULL && !json_is_null(member) && (!json_is_number(member) || !cm_limit_is_sound(kind, row->most[i])))
      return CM_REPLY_BAD(request, "/%s: expected a number %s, up to 1e15, or null for no limit", kind->names[i],
                          kind->zero ? "from 0" : "above 0");
  }
  return true;
}

bool cm_request_limits(cm_request *request, const cm_limit_kind *kind, bool group)
{
  const char *names[CM_LIMITS_MAX + 1] = {NULL}, *name = request->param[0];
  cm_limit_row row = {.group = group};
  memcpy(names, kind->names, kind->count * sizeof *names);
  if (strcmp(name, "*") != 0 && !cm_user_name_is_sound(name))
    return cm_reply_problem(request, 404, "not-found", "There is no such resource", "there is no %s \"%.60s\"",
                            group ? "group" : "user", name);
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return false;
  (void)snprintf(row.name, sizeof row.name, "%s", name);
  bool set = cm_request_members(request, object, names) && read_limits(request, object, kind, &row);
  json_decref(object);
  if (set && cm_limits_set(request->store->database, kind, &row, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    set = false;
  }
  return set;
}

/* What one used by month; NULL: the reply is set. */
static json_t *months_json(cm_request *request, const char *since, const char *name)
{
  cm_ledger_row *rows;
  size_t count;
  if (!cm_ledger_is_month(since)) {
    CM_REPLY_BAD(request, "since must be a month like 2026-11");
    return NULL;
  }
  if (!cm_reply_ok(request, cm_ledger_list(request->store->database, since, name, &rows, &count, &request->error)))
    return NULL;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:I}", "month", rows[i].month, "core_hours", rows[i].core_hours,
                                                "cpu_seconds", rows[i].cpu_seconds, "bytes", (json_int_t)rows[i].bytes));
  free(rows);
  return list;
}

void cm_get_usage(cm_request *request)
{
  cm_quota_use use;
  cm_user user = {.share = 1};
  const char *name = cm_request_query(request, "user"), *since = cm_request_query(request, "since");
  json_t *months = NULL;
  if (name != NULL && strcmp(name, request->who.user) != 0 && !cm_access_has(request, CM_RIGHT_WATCH))
    return;
  if (name == NULL)
    name = request->who.user;
  if ((name[0] != '\0' && cm_users_get(request->store->database, name, &user, &request->error) != CM_OK) ||
      cm_quotas_use(request->store->database, name, &use, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    return;
  }
  if (since != NULL && (months = months_json(request, since, name)) == NULL)
    return;
  json_t *quotas = json_object();
  for (int i = 0; i < CM_QUOTAS; i++) {
    json_t *one = json_pack("{s:f, s:o}", "use", use.use[i], "quota", limit_json(use.most[i]));
    if (user.group[0] != '\0') {
      (void)json_object_set_new(one, "group_use", json_real(use.group_use[i]));
      (void)json_object_set_new(one, "group_quota", limit_json(use.group_max[i]));
    }
    (void)json_object_set_new(quotas, cm_quota_kind.names[i], one);
  }
  cm_reply_json(request, 200, json_pack("{s:s, s:s, s:i, s:o, s:o*}", "user", name, "group", user.group, "share", user.share,
                                        "quotas", quotas, "months", months));
}

void cm_list_quotas(cm_request *request)
{
  cm_limit_row *rows;
  size_t count;
  if (!cm_reply_ok(request, cm_limits_list(request->store->database, &cm_quota_kind, &rows, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *quotas = json_object();
    cm_limits_add(quotas, &cm_quota_kind, &rows[i]);
    (void)json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "of", rows[i].group ? "group" : "user", "name", rows[i].name,
                                                "quotas", quotas));
  }
  free(rows);
  cm_reply_json(request, 200, json_pack("{s:o}", "quotas", list));
}

void cm_put_user_quota(cm_request *request)
{
  if (cm_request_limits(request, &cm_quota_kind, false))
    cm_list_quotas(request);
}

void cm_put_group_quota(cm_request *request)
{
  if (cm_request_limits(request, &cm_quota_kind, true))
    cm_list_quotas(request);
}
