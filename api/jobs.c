/* /v1/jobs: make, look at, cancel, forget (lists.c lists them, events.c has their events). */
#include "api/job_view.h"
#include "api/submit.h"
#include "base/json.h"
#include "storage/sweep_jobs.h"

/* ---- making ---- */

/* Keys come before objects: a request that was answered gets that answer again, whatever has become of what it names. True: there is a
 * reply. */
static bool answered(cm_request *request, const cm_job_key *key)
{
  cm_job_created result;
  char id[CM_ID_MAX];
  if (key == NULL)
    return false;
  if (cm_jobs_by_key(request->store, request->who.user, key, &result, id, &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else if (result != CM_JOB_NEW)
    cm_submit_reply(request, result, id);
  return request->status != 0;
}

static void create(cm_request *request, const json_t *object, const cm_job_key *key)
{
  cm_job_created result;
  char id[CM_ID_MAX];
  cm_job job = {0};
  if (cm_submit_read(request, object, &job)) {
    if (cm_reply_ok(request, cm_jobs_create(request->store, &job, key, &result, id, &request->error)))
      cm_submit_reply(request, result, id);
  }
  cm_job_clear(&job);
}

void cm_post_job(cm_request *request)
{
  const char *key = cm_request_header(request, "Idempotency-Key");
  if (key != NULL && (key[0] == '\0' || !cm_text_is_sound(key, 256))) {
    CM_REPLY_BAD(request, "Idempotency-Key must have 1 to 255 bytes");
    return;
  }
  json_t *object = cm_request_json_or_list(request);
  if (object == NULL)
    return;
  /* Equal requests are equal as JSON, however they are spaced and ordered. */
  char *canonical = cm_json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS), hash[CM_SHA_MAX];
  if (canonical == NULL)
    cm_reply_text(request, 503, NULL, NULL, 0);
  else {
    cm_store_sha256(canonical, strlen(canonical), hash);
    const cm_job_key named = {key, hash}, *given = key != NULL ? &named : NULL;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (json_is_array(object))
      cm_batch_submit(request, object, given);
    else if (answered(request, given))
      ;
    else if (kind != NULL && strcmp(kind, cm_sweep_kind) == 0)
      cm_sweep_submit(request, object, given);
    else
      create(request, object, given);
  }
  free(canonical);
  json_decref(object);
}

/* ---- looking ---- */

/* "30s", "30" or "500ms"; false: a 400 is the reply. 0 seconds when absent. */
static bool read_wait(cm_request *request, double *seconds)
{
  const char *text = cm_request_query(request, "wait");
  char *end;
  *seconds = 0;
  if (text == NULL)
    return true;
  double value = strtod(text, &end);
  if (strcmp(end, "ms") == 0)
    value /= 1000;
  else if (strcmp(end, "s") != 0 && end[0] != '\0')
    value = -1;
  if (text[0] < '0' || text[0] > '9' || !(value >= 0))
    return CM_REPLY_BAD(request, "wait must be a time such as 30s or 500ms");
  *seconds = value < CM_WAIT_SECONDS_MAX ? value : CM_WAIT_SECONDS_MAX;
  return true;
}

/* Answers at once, or with ?wait=: when the job has ended, its state has changed, or (with If-None-Match) anything
 * has. */
void cm_get_job(cm_request *request)
{
  cm_job job;
  double wait;
  cm_same same;
  char tag[64];
  if (!read_wait(request, &wait))
    return;
  if (cm_shown_copy(request, request->param[0], &same)) {
    if (cm_reply_unchanged(request, same.tag))
      free((void *)(uintptr_t)same.body);
    else
      cm_reply_same(request, &same);
    return;
  }
  const uint64_t version = cm_database_version(request->store->database, CM_WATCHED_ENDED);
  /* The event bus is asked first: what happens after is seen as a change. */
  uint64_t newest = cm_event_bus_newest(request->store->bus, request->param[0]);
  if (!cm_reply_ok(request, cm_jobs_get(request->store, request->param[0], &job, &request->error)))
    return;
  bool any_change = cm_request_header(request, "If-None-Match") != NULL;
  cm_job_tag(request, &job, tag, sizeof tag);
  if (wait > 0 && request->wait_until == 0) {
    request->wait_until = cm_now() + wait;
    (void)snprintf(request->wait_job, sizeof request->wait_job, "%s", job.id);
    (void)snprintf(request->wait_tag, sizeof request->wait_tag, "%s-%d", cm_job_state_name(job.state), job.attempt);
  }
  if (wait > 0 && request->wait_until > 0 && !cm_job_has_ended(job.state)) {
    char now[64];
    (void)snprintf(now, sizeof now, "%s-%d", cm_job_state_name(job.state), job.attempt);
    bool changed = any_change ? !cm_reply_unchanged(request, tag) : strcmp(now, request->wait_tag) != 0;
    if (!changed) {
      cm_job_clear(&job);
      cm_reply_forget(request);
      request->wait = true;
      request->wait_seen = newest;
      return;
    }
  }
  if (!cm_reply_unchanged(request, tag)) {
    cm_reply_shown(request, 200, &job, tag, version);
    cm_reply_header(request, "ETag", "\"%s\"", tag);
  }
  cm_job_clear(&job);
}

void cm_get_job_log(cm_request *request)
{
  cm_job job;
  if (!cm_reply_ok(request, cm_jobs_get(request->store, request->param[0], &job, &request->error)))
    return;
  char *text = cm_job_has_ended(job.state) ? NULL : cm_event_bus_log_text(request->store->bus, job.id);
  if (text == NULL)
    text = strdup(job.log);
  cm_job_clear(&job);
  cm_reply_text(request, 200, "text/plain; charset=utf-8", text, text != NULL ? strlen(text) : 0);
}

void cm_get_job_history(cm_request *request)
{
  char *text = cm_event_bus_history(request->store->bus, request->param[0]);
  if (text == NULL && cm_jobs_history(request->store, request->param[0], &text, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    return;
  }
  json_t *points = text != NULL ? cm_json_loadb(text, strlen(text), 0, NULL) : NULL;
  free(text);
  cm_reply_json(request, 200, json_pack("{s:o}", "points", points != NULL ? points : json_array()));
}

/* ---- events ---- */
/* ---- ending ---- */

void cm_cancel_job(cm_request *request)
{
  if (cm_reply_ok(request, cm_jobs_cancel(request->store, request->param[0], &request->error))) {
    cm_reply_job(request, 202, request->param[0]);
    request->server->options.on_queued(request->server->options.user);
  }
}

void cm_delete_job(cm_request *request)
{
  cm_request_delete(request, CM_OBJECT_JOB, request->param[0]);
}
