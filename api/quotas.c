/* /v1/usage and /v1/quotas: what one has used and may use, and what administrators set (docs/queue.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "storage/quotas.h"
#include "storage/users.h"

static json_t *limit_json(double most)
{
  return most < 0 ? json_null() : json_real(most);
}

void cm_get_usage(cm_request *request)
{
  cm_error error;
  cm_quota_use use;
  cm_user user = {.share = 1};
  const char *name = cm_request_query(request, "user");
  if (name != NULL && strcmp(name, request->who.user) != 0 && !cm_access_has(request, CM_RIGHT_WATCH))
    return;
  if (name == NULL)
    name = request->who.user;
  if ((name[0] != '\0' && cm_users_get(request->store->database, name, &user, &error) != CM_OK) ||
      cm_quotas_use(request->store->database, name, &use, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  json_t *quotas = json_object();
  for (int i = 0; i < CM_QUOTAS; i++) {
    json_t *one = json_pack("{s:f, s:o}", "use", use.use[i], "quota", limit_json(use.most[i]));
    if (user.group[0] != '\0') {
      (void)json_object_set_new(one, "group_use", json_real(use.group_use[i]));
      (void)json_object_set_new(one, "group_quota", limit_json(use.group_most[i]));
    }
    (void)json_object_set_new(quotas, cm_quota_names[i], one);
  }
  cm_reply_json(request, 200, json_pack("{s:s, s:s, s:i, s:o}", "user", name, "group", user.group, "share", user.share,
                                        "quotas", quotas));
}

static json_t *row_json(const cm_quota_row *row)
{
  json_t *quotas = json_object();
  for (int i = 0; i < CM_QUOTAS; i++)
    (void)json_object_set_new(quotas, cm_quota_names[i], limit_json(row->most[i]));
  return json_pack("{s:s, s:s, s:o}", "of", row->group ? "group" : "user", "name", row->name, "quotas", quotas);
}

void cm_list_quotas(cm_request *request)
{
  cm_error error;
  cm_quota_row *rows;
  size_t count;
  if (cm_quotas_list(request->store->database, &rows, &count, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, row_json(&rows[i]));
  free(rows);
  cm_reply_json(request, 200, json_pack("{s:o}", "quotas", list));
}

/* The members that are given; false: the reply is set. */
static bool read_limits(cm_request *request, const json_t *object, cm_quota_row *row)
{
  for (int i = 0; i < CM_QUOTAS; i++) {
    const json_t *member = json_object_get(object, cm_quota_names[i]);
    row->most[i] = member == NULL ? NAN : json_is_null(member) ? -1 : json_number_value(member);
    if (member != NULL && !json_is_null(member) &&
        (!json_is_number(member) || !(row->most[i] >= 0) || row->most[i] > 1e15)) {
      cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                       "/%s: expected a number from 0 to 1e15, or null for no limit", cm_quota_names[i]);
      return false;
    }
  }
  return true;
}

static void put(cm_request *request, bool group)
{
  const char *names[CM_QUOTAS + 1] = {NULL}, *name = request->param[0];
  cm_error error;
  cm_quota_row row = {.group = group};
  memcpy(names, cm_quota_names, sizeof cm_quota_names);
  if (strcmp(name, "*") != 0 && !cm_user_name_is_sound(name)) {
    cm_reply_problem(request, 404, "not-found", "There is no such resource", "there is no %s \"%.60s\"",
                     group ? "group" : "user", name);
    return;
  }
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  (void)snprintf(row.name, sizeof row.name, "%s", name);
  if (cm_request_members(request, object, names) && read_limits(request, object, &row)) {
    if (cm_quotas_set(request->store->database, &row, &error) != CM_OK)
      cm_reply_error(request, &error);
    else
      cm_list_quotas(request);
  }
  json_decref(object);
}

void cm_put_user_quota(cm_request *request)
{
  put(request, false);
}

void cm_put_group_quota(cm_request *request)
{
  put(request, true);
}
