/* /v1/chips/{name}/occupancy and /reservations. */
#include "api/handlers.h"
#include "base/json.h"
#include "storage/occupancy.h"

void cm_get_occupancy(cm_request *request)
{
  char *text, etag[CM_ETAG_MAX];
  if (!cm_reply_ok(request, cm_occupancy_read(request->store, request->param[0], &text, etag, &request->error)))
    return;
  if (cm_reply_unchanged(request, etag))
    free(text);
  else {
    cm_reply_text(request, 200, "application/json", text, strlen(text));
    cm_reply_header(request, "ETag", "\"%s\"", etag);
  }
}

static void write_occupancy(cm_request *request, bool whole)
{
  char wanted[CM_ETAG_MAX], etag[CM_ETAG_MAX], *text;
  bool mismatch = false;
  if (!cm_request_if_match(request, wanted, sizeof wanted))
    return;
  cm_occupancy_change change = {request->param[0], wanted, whole, request->body != NULL ? request->body : "",
                                request->body_size};
  if (cm_occupancy_write(request->store, &change, &mismatch, &text, etag, &request->error) != CM_OK) {
    if (mismatch)
      cm_reply_problem(request, 412, "precondition-failed", "The state has changed", "%s", request->error.detail);
    else
      cm_reply_error(request, &request->error);
    return;
  }
  cm_reply_text(request, 200, "application/json", text, strlen(text));
  cm_reply_header(request, "ETag", "\"%s\"", etag);
}

void cm_put_occupancy(cm_request *request)
{
  write_occupancy(request, true);
}

void cm_patch_occupancy(cm_request *request)
{
  write_occupancy(request, false);
}

/* ---- reservations ---- */

static json_t *lease_json(const cm_lease *lease)
{
  json_t *cores = cm_json_loadb(lease->cores, strlen(lease->cores), 0, NULL);
  json_t *body = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o, s:I, s:o}", "id", lease->id, "chip", lease->chip, "owner",
                           lease->owner, "ttl", lease->ttl, "expires", cm_time_json(lease->expires), "created",
                           cm_time_json(lease->created), "count", (json_int_t)lease->core_count, "cores", cores);
  if (lease->job[0] != '\0')
    (void)json_object_set_new(body, "job", json_string(lease->job));
  cm_owner_add(body, &lease->whose);
  return body;
}

/* The "ttl" member in seconds, or `fallback`. */
static bool read_ttl(cm_request *request, const json_t *object, double fallback, double *ttl)
{
  const json_t *member = json_object_get(object, "ttl");
  *ttl = member != NULL ? json_number_value(member) : fallback;
  if (member != NULL && (!json_is_number(member) || !(*ttl >= 1) || *ttl > cm_lease_ttl_max_s))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/ttl", "expected seconds from 1 to 2592000");
  return true;
}

/* Leaves wanted->owner alone where nothing is said. */
static bool read_owner(cm_request *request, const json_t *object, cm_lease_request *wanted)
{
  const json_t *owner = json_object_get(object, "owner");
  if (owner != NULL && (!json_is_string(owner) || !cm_text_is_sound(json_string_value(owner), 128)))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/owner", "expected a text of at most 127 bytes");
  if (owner != NULL)
    wanted->owner = json_string_value(owner);
  return true;
}

/* The members that every request for a lease may have. */
static bool read_holder(cm_request *request, const json_t *object, cm_lease_request *wanted)
{
  wanted->owner = "";
  if (!read_ttl(request, object, cm_lease_ttl_default_s, &wanted->ttl) || !read_owner(request, object, wanted))
    return false;
  return cm_access_owner_of(request, object, &wanted->whose);
}

bool cm_request_lease(cm_request *request, const json_t *object, cm_lease_request *wanted)
{
  static const char *const names[] = {"owner", "ttl", "visibility", NULL};
  return cm_request_members(request, object, names) && read_holder(request, object, wanted);
}

static bool read_wanted(cm_request *request, const json_t *object, cm_lease_request *wanted)
{
  static const char *const names[] = {"cores", "count", "owner", "ttl", "visibility", NULL};
  const json_t *cores = json_object_get(object, "cores"), *count = json_object_get(object, "count");
  if (!cm_request_members(request, object, names) || !read_holder(request, object, wanted))
    return false;
  if ((cores == NULL) == (count == NULL))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/cores", "a reservation names either cores (a list) or a count");
  if (cores != NULL && !json_is_array(cores))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/cores", "expected a list of [x,y] and [x0,y0,x1,y1]");
  if (count != NULL && (!json_is_integer(count) || json_integer_value(count) < 1 ||
                        json_integer_value(count) > LIBRARY_CHIP_CORES_MAX))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/count", "expected a number of cores from 1");
  wanted->cores = cores;
  wanted->count = (uint32_t)json_integer_value(count);
  return true;
}

void cm_reply_lease(cm_request *request, unsigned status, const cm_lease *lease)
{
  cm_reply_json(request, status, lease_json(lease));
  if (status == 201)
    cm_reply_location(request, "/v1/chips/%s/reservations/%s", lease->chip, lease->id);
}

void cm_post_reservation(cm_request *request)
{
  cm_lease lease;
  cm_lease_request wanted = {.chip = request->param[0]};
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  cm_owner chip;
  if (!read_wanted(request, object, &wanted))
    ;
  else if (cm_owners_get(request->store->database, CM_OBJECT_CHIP, wanted.chip, NULL, &request->viewer, &chip, &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else if (cm_access_derive(request, object, &chip, &wanted.whose)) {
    if (cm_reply_ok(request, cm_leases_create(request->store, &wanted, &lease, &request->error))) {
      cm_reply_lease(request, 201, &lease);
      cm_lease_clear(&lease);
    }
  }
  json_decref(object);
}

void cm_list_reservations(cm_request *request)
{
  cm_lease *leases;
  size_t count;
  if (!cm_reply_ok(request, cm_leases_list(request->store, request->param[0], &request->viewer, &leases, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    (void)json_array_append_new(list, lease_json(&leases[i]));
    cm_lease_clear(&leases[i]);
  }
  free(leases);
  cm_reply_json(request, 200, json_pack("{s:o}", "reservations", list));
}

/* ---- holders: whose the taken cores are, and until when ---- */

/* Says of a holder of the occupancy that is a lease, "lease:ID", what the caller sees of that: `leases` has it, or he does not. */
static void describe_holder(json_t *holder, const cm_lease *leases, size_t count)
{
  const char *owner = json_string_value(json_object_get(holder, "owner")), *id = strchr(owner != NULL ? owner : "", ':');
  size_t i = 0;
  while (id != NULL && i < count && strcmp(leases[i].id, id + 1) != 0)
    i++;
  if (id == NULL || strncmp(owner, "lease:", 6) != 0 || i == count)
    return;
  (void)json_object_set_new(holder, "lease", json_string(leases[i].id));
  (void)json_object_set_new(holder, "until", cm_time_json(leases[i].expires));
  (void)json_object_set_new(holder, "user", json_string(leases[i].whose.user));
  if (leases[i].job[0] != '\0')
    (void)json_object_set_new(holder, "job", json_string(leases[i].job));
  (void)json_object_set_new(holder, "owner", json_string(leases[i].owner));
}

void cm_get_holders(cm_request *request)
{
  char *text, etag[CM_ETAG_MAX];
  cm_lease *leases;
  size_t count, i;
  json_t *holder;
  if (!cm_reply_ok(request, cm_leases_list(request->store, request->param[0], &request->viewer, &leases, &count, &request->error)))
    return;
  cm_status status = cm_occupancy_read(request->store, request->param[0], &text, etag, &request->error);
  json_t *body = status == CM_OK ? cm_json_loadb(text, strlen(text), 0, NULL) : NULL;
  json_array_foreach(json_object_get(body, "taken"), i, holder)
    describe_holder(holder, leases, count);
  for (i = 0; i < count; i++)
    cm_lease_clear(&leases[i]);
  free(leases);
  if (!cm_reply_ok(request, status))
    return;
  free(text);
  (void)json_object_del(body, "fragmentation");
  cm_reply_json(request, 200, body);
}

static void reply_lease(cm_request *request, cm_status status, cm_lease *lease, const cm_error *error)
{
  if (status != CM_OK)
    cm_reply_error(request, error);
  else {
    cm_reply_lease(request, 200, lease);
    cm_lease_clear(lease);
  }
}

void cm_get_reservation(cm_request *request)
{
  cm_lease lease;
  cm_status status = cm_leases_get(request->store, request->param[0], request->param[1], &lease, &request->error);
  reply_lease(request, status, &lease, &request->error);
}

void cm_put_reservation(cm_request *request)
{
  static const char *const names[] = {"owner", "ttl", NULL};
  cm_lease lease;
  cm_lease_request wanted = {.chip = request->param[0]};
  json_t *object = NULL; /* a keepalive needs no body */
  if (request->body_size > 0 && (object = cm_request_json(request)) == NULL)
    return;
  if (object == NULL || (cm_request_members(request, object, names) && read_ttl(request, object, 0, &wanted.ttl) && read_owner(request, object, &wanted)))
    reply_lease(request, cm_leases_keep(request->store, request->param[1], &wanted, &lease, &request->error), &lease, &request->error);
  json_decref(object);
}

void cm_delete_reservation(cm_request *request)
{
  if (cm_reply_ok(request, cm_leases_release(request->store, request->param[0], request->param[1], &request->error)))
    cm_reply_empty(request, 204);
}
