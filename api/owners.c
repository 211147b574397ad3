/* Whose the things are that a request names or makes, and who sees them (docs/how-to/users.md). Decided in one place for all routes:
 * what the caller does not see is answered as what is not there. */
#include "api/job_view.h"
#include "storage/derive.h"
#include "storage/holders.h"

bool cm_access_sees(cm_request *request, cm_object object, const char *id, const char *where)
{
  cm_owner owner;
  if (cm_owners_get(request->store->database, object, id, NULL, &request->viewer, &owner, &request->error) == CM_OK)
    return true;
  (void)cm_fail_at(&request->error, "%s", where);
  return cm_reply_error(request, &request->error);
}

bool cm_access_sees_behind(cm_request *request, cm_object object, const char *id, const char *what, cm_owner *owner)
{
  if (cm_owners_get(request->store->database, object, id, NULL, &request->viewer, owner, &request->error) == CM_OK)
    return true;
  if (request->error.status == CM_NOT_FOUND)
    (void)cm_fail(&request->error, CM_NOT_FOUND, "%s is gone, or shown to others only", what);
  return cm_reply_error(request, &request->error);
}

bool cm_access_derive(cm_request *request, const json_t *object, const cm_owner *source, cm_owner *owner)
{
  if (cm_owner_derive(owner, json_object_get(object, "visibility") != NULL, source, &request->error) == CM_OK)
    return true;
  (void)cm_fail_at(&request->error, "/visibility");
  return cm_reply_error(request, &request->error);
}

bool cm_access_object(cm_request *request)
{
  const cm_route *route = request->route;
  cm_owner owner;
  bool lease = route->object == CM_OBJECT_LEASE;
  if (route->object == CM_OBJECT_NONE)
    return true;
  if (route->object == CM_OBJECT_JOB && route->deed == CM_DEED_SEE && cm_shown_owner(request, request->param[0], &owner) &&
      cm_owner_shows(&owner, &request->viewer))
    return true;
  cm_status status = cm_owners_get(request->store->database, route->object, request->param[lease], request->param[0],
                                   &request->viewer, &owner, &request->error);
  if (status == CM_NOT_FOUND && route->deed == CM_DEED_PUT)
    return true;
  if (!cm_reply_ok(request, status))
    return false;
  if (route->deed == CM_DEED_SEE || cm_owner_lets(&owner, &request->viewer))
    return true;
  if (owner.user[0] != '\0')
    cm_reply_problem(request, 403, "forbidden", "It is not yours", "only %s and operators may do that", owner.user);
  else
    cm_reply_problem(request, 403, "forbidden", "It is not yours", "it is nobody's: only operators may do that");
  return false;
}

bool cm_access_owner(cm_request *request, const char *visibility, cm_owner *owner)
{
  cm_owner made = {.visibility = visibility != NULL ? cm_visibility_of(visibility)
                                                    : cm_server_limits_now(request->server).visibility};
  (void)snprintf(made.user, sizeof made.user, "%s", request->who.user);
  if (made.visibility == CM_VISIBILITIES)
    return CM_REPLY_BAD(request, "visibility must be lab, group or private");
  if (request->open) { /* there is nobody to tell apart */
    made.visibility = CM_VISIBLE_LAB;
    if (visibility != NULL && strcmp(visibility, "lab") != 0)
      return CM_REPLY_BAD(request, "without users everything is the whole lab's");
  }
  if (made.visibility == CM_VISIBLE_GROUP && request->who.group[0] == '\0') {
    if (visibility != NULL)
      return CM_REPLY_BAD(request, "you are in no group that could see it; lab or private would do");
    made.visibility = CM_VISIBLE_PRIVATE;
  }
  if (made.visibility == CM_VISIBLE_GROUP)
    (void)snprintf(made.group, sizeof made.group, "%s", request->who.group);
  *owner = made;
  return true;
}

bool cm_access_owner_of(cm_request *request, const json_t *object, cm_owner *owner)
{
  const json_t *member = json_object_get(object, "visibility");
  return cm_access_owner(request, member == NULL ? NULL : json_is_string(member) ? json_string_value(member) : "?", owner);
}

void cm_owner_add(json_t *body, const cm_owner *owner)
{
  if (body == NULL)
    return;
  (void)json_object_set_new(body, "user", json_string(owner->user));
  (void)json_object_set_new(body, "visibility", json_string(cm_visibility_name(owner->visibility)));
  if (owner->visibility == CM_VISIBLE_GROUP)
    (void)json_object_set_new(body, "group", json_string(owner->group));
}

/* The owner of what the route names; false: the reply is set. */
static bool find_owner(cm_request *request, cm_owner *owner)
{
  bool lease = request->route->object == CM_OBJECT_LEASE;
  return cm_reply_ok(request, cm_owners_get(request->store->database, request->route->object, request->param[lease], request->param[0],
                    &request->viewer, owner, &request->error));
}

/* What those learn whom a thing is shown to, beside the thing itself. */
static const char *const becomes_known[][5] = {
  [CM_OBJECT_NETWORK] = {"names of neurons", "the network's bytes and their SHA-256", "its name and sizes"},
  [CM_OBJECT_CHIP] = {"the chip file", "which cores are taken"},
  [CM_OBJECT_LEASE] = {"the cores and their holder", "the job's id"},
  [CM_OBJECT_JOB] = {"ids of network, chip and result", "the options", "log, report and events"},
  [CM_OBJECT_MAPPING] = {"names of neurons", "the network's id and SHA-256", "the chip file", "the job's id"},
  [CM_OBJECT_PROGRAM] = {"the model with its weights", "the network's id and SHA-256", "the chip file", "the job's id"},
  [CM_OBJECT_BINNED] = {NULL},
};

static void add_known(json_t *list, cm_object object)
{
  for (size_t i = 0; becomes_known[object][i] != NULL; i++)
    (void)json_array_append_new(list, json_string(becomes_known[object][i]));
}

/* What a change of a job's access decides on beside it, if it has not ended: its result (CM_OBJECT_NONE: there will be none), and the
 * cores that it leases. */
typedef struct pending {
  cm_object result;
  bool lease;
} pending;

static pending pending_of(const cm_request *request)
{
  cm_error ignored;
  cm_job job;
  pending p = {CM_OBJECT_NONE, false};
  if (request->route->object != CM_OBJECT_JOB || cm_jobs_get(request->store, request->param[0], &job, &ignored) != CM_OK)
    return p;
  if (!cm_job_has_ended(job.state))
    p = (pending){cm_job_makes(job.kind)->object, job.reserve};
  cm_job_clear(&job);
  return p;
}

static json_t *known_list(const cm_request *request, cm_object object)
{
  json_t *list = json_array();
  const pending p = pending_of(request);
  add_known(list, object);
  if (p.result != CM_OBJECT_NONE)
    add_known(list, p.result);
  if (p.lease)
    add_known(list, CM_OBJECT_LEASE);
  return list;
}

/* Who sees what the route names; `before`: who saw it before the request, NULL where it changes nothing. */
static void reply_access(cm_request *request, const cm_owner *before)
{
  cm_owner owner;
  if (!find_owner(request, &owner))
    return;
  json_t *body = json_object();
  cm_owner_add(body, &owner);
  const cm_object object = request->route->object;
  if (object == CM_OBJECT_NETWORK || object == CM_OBJECT_MAPPING || object == CM_OBJECT_PROGRAM) {
    bool pinned;
    if (cm_pinned(request->store, object, request->param[0], request->who.user, &pinned, &request->error) != CM_OK) {
      json_decref(body);
      cm_reply_error(request, &request->error);
      return;
    }
    (void)json_object_set_new(body, "pinned", json_boolean(pinned));
  }
  if (before != NULL && cm_owner_widens(before, &owner))
    (void)json_object_set_new(body, "becomes_known", known_list(request, object));
  cm_reply_json(request, 200, body);
}

void cm_get_access(cm_request *request)
{
  reply_access(request, NULL);
}

/* The group that is to see a thing: its owner's, also when an operator shows it. */
static bool find_group(cm_request *request, const cm_owner *now, cm_owner *owner)
{
  cm_user user = {0};
  if (owner->visibility != CM_VISIBLE_GROUP)
    return true;
  if (cm_users_get(request->store->database, now->user, &user, &request->error) == CM_OK && user.group[0] != '\0') {
    memcpy(owner->group, user.group, sizeof owner->group);
    return true;
  }
  return CM_REPLY_BAD(request, "its owner is in no group that could see it; lab or private would do");
}

void cm_put_access(cm_request *request)
{
  static const char *const names[] = {"visibility", NULL};
  cm_owner before;
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  const char *word = json_string_value(json_object_get(object, "visibility"));
  cm_owner owner = {.visibility = word != NULL ? cm_visibility_of(word) : CM_VISIBILITIES};
  bool good = cm_request_members(request, object, names);
  json_decref(object);
  bool lease = request->route->object == CM_OBJECT_LEASE;
  if (!good)
    return;
  (void)snprintf(owner.user, sizeof owner.user, "%s", request->who.user);
  if (owner.visibility == CM_VISIBILITIES || (request->open && owner.visibility != CM_VISIBLE_LAB))
    CM_REPLY_BAD(request,
                 request->open ? "without users everything is the whole lab's" : "visibility must be lab, group or private");
  else if (!find_owner(request, &before) || !find_group(request, &before, &owner))
    ;
  else if (pending_of(request).lease && !cm_access_has(request, CM_RIGHT_RESERVE))
    ; /* who shows a lease, by whatever route, may lease */
  else if (cm_reply_ok(request, cm_owners_show(request->store->database, request->route->object, request->param[lease], &owner,
                       &request->error)))
    reply_access(request, &before);
}

