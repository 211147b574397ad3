/* /v1/jobs: list, watch, cancel, forget. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/write.h"
#include "storage/estimates.h"

/* ---- showing a job ---- */

static bool has_ended(cm_job_state state)
{
  return state != CM_JOB_QUEUED && state != CM_JOB_RUNNING;
}

/* A stored JSON text as a member, when there is one. */
static void write_text(cm_writer *w, const char *name, const char *text)
{
  if (text != NULL && text[0] != '\0')
    cm_write_json(w, name, text);
}

static void write_word(cm_writer *w, const char *name, const char *word)
{
  if (word[0] != '\0')
    cm_write_word(w, name, word);
}

static void write_live(cm_store *store, cm_writer *w, const cm_job *job)
{
  char *progress = NULL, *phases = NULL;
  if (job->state == CM_JOB_RUNNING)
    cm_event_bus_live(store->bus, job->id, &progress, &phases);
  write_text(w, "progress",
             progress != NULL            ? progress
             : job->state == CM_JOB_DONE ? "{\"phase\":\"done\",\"fraction\":1.0}"
                                         : NULL);
  write_text(w, "phases", phases != NULL ? phases : job->phases[0] != '\0' ? job->phases : "[]");
  free(progress);
  free(phases);
}

/* How often a passing fault has sent the job back to the queue, and what for. */
static void write_retry(cm_writer *w, const cm_job *job)
{
  cm_write_object(w, "retry");
  cm_write_whole(w, "count", job->retries);
  cm_write_whole(w, "max", CM_JOB_RETRIES_MAX);
  cm_write_time(w, "not_before", job->retry_at);
  write_text(w, "problem", job->fault);
  cm_write_end(w);
}

/* ---- what a queued job waits for ---- */

/* What the workers do now; nothing when that cannot be found out. */
static cm_jobs_running running_now(const cm_request *request)
{
  cm_error ignored;
  cm_jobs_running running = {0};
  (void)cm_jobs_outlook(request->store, &running, &ignored);
  return running;
}

/* Seconds until a queued job is expected to start. */
static double wait_of(const cm_server_options *o, const cm_job *job, const cm_jobs_running *running)
{
  unsigned workers = o->workers > 0 ? o->workers : 1;
  if (job->retry_at > 0)
    return fmax(job->retry_at - cm_store_time(), 0);
  if (job->lane == CM_LANE_OF_SHORT && o->short_workers > 0)
    return job->ahead_seconds / o->short_workers;
  if (running->count < workers && job->position <= workers - running->count)
    return 0;
  return fmax((running->all + job->ahead_seconds) / workers, running->next);
}

/* Why a job is queued, as a sentence. */
static void write_reason(cm_writer *w, const cm_server_options *o, const cm_job *job, const cm_jobs_running *running)
{
  const unsigned workers = o->workers;
  const unsigned long long before = job->position > 0 ? job->position - 1 : 0;
  char others[64] = "", text[CM_USER_MAX + 160];
  if (before > 0)
    (void)snprintf(others, sizeof others, ", %llu %s before it", before, before == 1 ? "job" : "jobs");
  if (job->duplicate)
    (void)snprintf(text, sizeof text, "waits for an identical job that runs");
  else if (job->retry_at > 0)
    (void)snprintf(text, sizeof text, "waits to be tried again after a fault that may pass");
  else if (job->held)
    (void)snprintf(text, sizeof text, "waits: as many jobs of %s run as the quota \"running\" lets%s", job->owner.user, others);
  else if (job->lane == CM_LANE_OF_SHORT && o->short_workers > 0)
    (void)snprintf(text, sizeof text, "waits in the lane for short jobs%s", others);
  else if (running->count < workers)
    (void)snprintf(text, sizeof text, "starts with the next free worker%s", others);
  else
    (void)snprintf(text, sizeof text, "waits: %u of %u workers busy, next in about %.0f s%s",
                   running->count > workers ? workers : running->count, workers, ceil(running->next), others);
  cm_write_word(w, "reason", text);
}

/* Seconds until a job is expected to have ended. */
static double remaining_of(const cm_server_options *o, const cm_job *job, const cm_jobs_running *running)
{
  double fraction, remaining;
  if (job->state == CM_JOB_QUEUED)
    return wait_of(o, job, running) + job->expected;
  cm_estimate_outlook(cm_store_time() - job->started, job->expected, &fraction, &remaining);
  return remaining;
}

/* ---- the whole of it ---- */

/* `running`: what the workers do, for what a queued job waits for. */
static void write_job(cm_writer *w, const cm_request *request, const cm_job *job, bool whole, const cm_jobs_running *running)
{
  const cm_server_options *o = &request->server->options;
  cm_write_begin(w);
  cm_write_word(w, "id", job->id);
  cm_write_word(w, "kind", job->kind);
  cm_write_word(w, "name", job->name);
  cm_write_word(w, "state", cm_job_state_name(job->state));
  cm_write_word(w, "network", job->network);
  cm_write_word(w, "chip", job->chip);
  cm_write_truth(w, "reserve", job->reserve);
  cm_write_whole(w, "priority", job->priority);
  cm_write_whole(w, "attempts", job->attempt);
  cm_write_truth(w, "cancel_requested", job->cancel_requested);
  cm_write_time(w, "created", job->created);
  cm_write_time(w, "started", job->started);
  cm_write_time(w, "finished", job->finished);
  cm_write_word(w, "user", job->owner.user);
  cm_write_word(w, "visibility", cm_visibility_name(job->owner.visibility));
  if (job->owner.visibility == CM_VISIBLE_GROUP)
    cm_write_word(w, "group", job->owner.group);
  write_word(w, "request", job->request);
  if (job->state == CM_JOB_QUEUED) {
    cm_write_whole(w, "position", (int64_t)job->position);
    cm_write_real(w, "estimate_seconds", wait_of(o, job, running));
    write_reason(w, o, job, running);
  }
  if (!has_ended(job->state)) {
    cm_write_word(w, "lane", job->lane == CM_LANE_OF_SHORT ? "short" : "long");
    cm_write_real(w, "expected_seconds", job->expected);
    cm_write_real(w, "remaining_seconds", remaining_of(o, job, running));
  }
  if (job->retries > 0)
    write_retry(w, job);
  write_live(request->store, w, job);
  write_text(w, "problem", job->problem);
  write_word(w, strcmp(job->kind, "compile") == 0 ? "program" : "mapping", job->mapping);
  write_word(w, "lease", job->lease);
  if (job->state == CM_JOB_DONE && strcmp(job->kind, "simulate") != 0)
    cm_write_truth(w, "reused", job->reused);
  if (whole) {
    write_text(w, "options", job->options);
    write_text(w, "report", job->report);
  }
  cm_write_end(w);
}

/* The caller frees; NULL: no memory. */
static char *show_job(const cm_request *request, const cm_job *job, bool compact, size_t *size)
{
  cm_jobs_running running = {0};
  cm_writer w = {.compact = compact};
  if (job->state == CM_JOB_QUEUED)
    running = running_now(request);
  write_job(&w, request, job, true, &running);
  return cm_write_done(&w, size);
}

/* `version` of CM_WATCHED_ENDED from before the job was read. */
static void reply_shown(cm_request *request, unsigned status, const cm_job *job, const char *tag, uint64_t version)
{
  size_t size = 0;
  char *text = show_job(request, job, false, &size);
  if (text != NULL && has_ended(job->state))
    cm_shown_keep(request, job->id, &job->owner, version, tag, text, size);
  cm_reply_text(request, status, "application/json", text, size);
}

/* Says whether anything about a job has changed since. */
static void job_tag(const cm_request *request, const cm_job *job, char *tag, size_t size)
{
  (void)snprintf(tag, size, "%s-%d-%llu", cm_job_state_name(job->state), job->attempt,
                 (unsigned long long)cm_event_bus_newest(request->store->bus, job->id));
}

void cm_reply_job(cm_request *request, unsigned status, const char *id)
{
  cm_error error;
  cm_job job;
  const uint64_t version = cm_database_version(request->store->database, CM_WATCHED_ENDED);
  if (cm_jobs_get(request->store, id, &job, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  char tag[64];
  job_tag(request, &job, tag, sizeof tag);
  reply_shown(request, status, &job, tag, version);
  cm_reply_header(request, "ETag", "\"%s\"", tag);
  cm_reply_location(request, "/v1/jobs/%s", job.id);
  cm_job_clear(&job);
}

/* ---- looking ---- */

void cm_list_jobs(cm_request *request)
{
  cm_error error;
  uint64_t limit, cursor;
  cm_job *jobs;
  size_t count;
  const char *state = cm_request_query(request, "state");
  if (!cm_request_number(request, "limit", 1, CM_PAGE_MAX, CM_PAGE_DEFAULT, &limit) ||
      !cm_request_number(request, "cursor", 1, INT64_MAX, 0, &cursor))
    return;
  cm_job_filter filter = {.viewer = &request->viewer, .state = CM_JOB_STATES, .user = cm_request_query(request, "user"),
                          .network = cm_request_query(request, "network"), .before = (int64_t)cursor,
                          .limit = (size_t)limit + 1};
  if (state != NULL && (filter.state = cm_job_state_of(state)) == CM_JOB_STATES) {
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     "state must be queued, running, done, failed or cancelled");
    return;
  }
  if (cm_jobs_list(request->store, &filter, &jobs, &count, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  cm_writer w = {0};
  size_t size = 0;
  const cm_jobs_running running = running_now(request);
  cm_write_begin(&w);
  cm_write_list(&w, "jobs");
  for (size_t i = 0; i < count && i < limit; i++)
    write_job(&w, request, &jobs[i], false, &running);
  cm_write_list_end(&w);
  if (count > limit) {
    char next[24];
    (void)snprintf(next, sizeof next, "%lld", (long long)jobs[limit - 1].sequence);
    cm_write_word(&w, "next", next);
  }
  cm_write_end(&w);
  for (size_t i = 0; i < count; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
  char *text = cm_write_done(&w, &size);
  cm_reply_text(request, 200, "application/json", text, size);
}

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
  if (text[0] < '0' || text[0] > '9' || !(value >= 0)) {
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     "wait must be a time such as 30s or 500ms");
    return false;
  }
  *seconds = value < CM_WAIT_SECONDS_MAX ? value : CM_WAIT_SECONDS_MAX;
  return true;
}

/* Answers at once, or with ?wait=: when the job has ended, its state has changed, or (with If-None-Match) anything
 * has. */
void cm_get_job(cm_request *request)
{
  cm_error error;
  cm_job job;
  double wait;
  char tag[64], *text;
  size_t size;
  if (!read_wait(request, &wait))
    return;
  if (cm_shown_copy(request, request->param[0], tag, &text, &size)) {
    if (cm_reply_unchanged(request, tag))
      free(text);
    else {
      cm_reply_text(request, 200, "application/json", text, size);
      cm_reply_header(request, "ETag", "\"%s\"", tag);
    }
    return;
  }
  const uint64_t version = cm_database_version(request->store->database, CM_WATCHED_ENDED);
  /* The event bus is asked first: what happens after is seen as a change. */
  uint64_t newest = cm_event_bus_newest(request->store->bus, request->param[0]);
  if (cm_jobs_get(request->store, request->param[0], &job, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  bool any_change = cm_request_header(request, "If-None-Match") != NULL;
  job_tag(request, &job, tag, sizeof tag);
  if (wait > 0 && request->wait_until == 0) {
    request->wait_until = cm_now() + wait;
    (void)snprintf(request->wait_job, sizeof request->wait_job, "%s", job.id);
    (void)snprintf(request->wait_tag, sizeof request->wait_tag, "%s-%d", cm_job_state_name(job.state), job.attempt);
  }
  if (wait > 0 && request->wait_until > 0 && !has_ended(job.state)) {
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
    reply_shown(request, 200, &job, tag, version);
    cm_reply_header(request, "ETag", "\"%s\"", tag);
  }
  cm_job_clear(&job);
}

void cm_get_job_log(cm_request *request)
{
  cm_error error;
  cm_job job;
  if (cm_jobs_get(request->store, request->param[0], &job, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  char *text = has_ended(job.state) ? NULL : cm_event_bus_log_text(request->store->bus, job.id);
  if (text == NULL)
    text = strdup(job.log);
  cm_job_clear(&job);
  cm_reply_text(request, 200, "text/plain; charset=utf-8", text, text != NULL ? strlen(text) : 0);
}

/* ---- events ---- */

/* The job as it is, as the first event of a stream. */
static char *snapshot(const cm_request *request, const cm_job *job, uint64_t id)
{
  size_t size = 0;
  char *data = show_job(request, job, true, &size), *text = NULL;
  if (data != NULL &&
      asprintf(&text, "retry: 2000\nid: %llu\nevent: state\ndata: %s\n\n", (unsigned long long)id, data) < 0)
    text = NULL;
  free(data);
  return text;
}

/* The id that the client has seen last; 0: none. */
static uint64_t last_seen(const cm_request *request)
{
  const char *text = cm_request_header(request, "Last-Event-ID");
  return text != NULL ? strtoull(text, NULL, 10) : 0;
}

void cm_get_job_events(cm_request *request)
{
  cm_error error;
  cm_job job;
  cm_event_bus *bus = request->store->bus;
  cm_bus_event oldest;
  if (atomic_load(&request->server->counters.streams) >= CM_STREAMS_MAX) {
    cm_reply_problem(request, 503, "too-many", "Too many event streams", "at most %d are served at once",
                     CM_STREAMS_MAX);
    cm_reply_header(request, "Retry-After", "5");
    return;
  }
  uint64_t seen = last_seen(request), newest = cm_event_bus_newest(bus, request->param[0]);
  if (cm_jobs_get(request->store, request->param[0], &job, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  bool kept = cm_event_bus_next(bus, job.id, 0, &oldest);
  if (kept)
    free(oldest.data);
  bool resumable = seen != 0 && kept && seen >= oldest.id && seen <= newest;
  if (resumable && has_ended(job.state) && seen >= newest)
    cm_reply_empty(request, 204); /* tells an EventSource not to come back */
  else {
    /* Events that come while the snapshot is made are sent again after it: ids still ascend. */
    char *first = resumable ? strdup("retry: 2000\n\n") : snapshot(request, &job, newest);
    if (first == NULL)
      cm_reply_text(request, 503, NULL, NULL, 0);
    else
      cm_subscriptions_stream(request, job.id, resumable ? seen : newest, first, !resumable && has_ended(job.state));
  }
  cm_job_clear(&job);
}

/* ---- ending ---- */

void cm_cancel_job(cm_request *request)
{
  cm_error error;
  if (cm_jobs_cancel(request->store, request->param[0], &error) != CM_OK)
    cm_reply_error(request, &error);
  else {
    cm_reply_job(request, 202, request->param[0]);
    request->server->options.on_queued(request->server->options.user);
  }
}

void cm_delete_job(cm_request *request)
{
  cm_request_delete(request, CM_OBJECT_JOB, request->param[0]);
}
