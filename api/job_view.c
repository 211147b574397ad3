/* A job as clients see it. */
#include "api/job_view.h"

#include <math.h>

#include "library/private/stored.h"
#include "storage/estimates.h"
#include "storage/sweep_jobs.h"

bool cm_job_has_ended(cm_job_state state)
{
  return state != CM_JOB_QUEUED && state != CM_JOB_RUNNING;
}

/* A stored JSON text as a member, when there is one. */
static void write_text(cm_writer *w, const char *name, const char *text)
{
  if (text != NULL && text[0] != '\0')
    cm_write_json(w, name, text);
}

/* Of a job of the version before in the names of now, as far as memory goes. */
static void write_report(cm_writer *w, const char *text)
{
  char *now = NULL;
  if (text != NULL)
    (void)library_names_of_now(text, &now, NULL);
  write_text(w, "report", now != NULL ? now : text);
  coremap_text_free(now);
}

static void write_word(cm_writer *w, const char *name, const char *word)
{
  if (word[0] != '\0')
    cm_write_word(w, name, word);
}

static void write_live(cm_store *store, cm_writer *w, const cm_job *job)
{
  char *progress = NULL, *phases = NULL;
  double heard = 0;
  if (job->state == CM_JOB_RUNNING)
    cm_event_bus_live(store->bus, job->id, &progress, &phases, &heard);
  if (progress != NULL)
    cm_write_time(w, "heard", heard);
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

cm_jobs_running cm_jobs_running_now(const cm_request *request)
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
    (void)snprintf(text, sizeof text, "waits: as many jobs of %s run as the quota \"running\" lets, or the user is disabled%s", job->owner.user, others);
  else if (job->lane == CM_LANE_OF_SHORT && o->short_workers > 0)
    (void)snprintf(text, sizeof text, "waits in the lane for short jobs%s", others);
  else if (job->lane == CM_LANE_OF_CLUSTER)
    (void)snprintf(text, sizeof text, "waits to be given to the cluster%s", others);
  else if (running->count < workers)
    (void)snprintf(text, sizeof text, "starts with the next free worker%s", others);
  else
    (void)snprintf(text, sizeof text, "waits: %u of %u workers busy, next in about %.0f s%s",
                   running->count > workers ? workers : running->count, workers, ceil(running->next), others);
  cm_write_word(w, "reason", text);
}

/* Seconds until a job is expected to have ended. */
static double remaining_of(const cm_store *store, const cm_server_options *o, const cm_job *job, const cm_jobs_running *running)
{
  if (job->state == CM_JOB_QUEUED)
    return wait_of(o, job, running) + job->expected;
  const double told = cm_event_bus_remaining(store->bus, job->id);
  return told >= 0 ? told : cm_estimate_left(cm_store_time() - job->started, job->expected);
}

/* ---- the whole of it ---- */

void cm_job_write(cm_writer *w, const cm_request *request, const cm_job *job, bool whole, const cm_jobs_running *running)
{
  const cm_server_options *o = &request->server->options;
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
  write_word(w, "sweep", job->sweep);
  cm_write_labels(w, job->labels);
  if (job->state == CM_JOB_QUEUED) {
    cm_write_whole(w, "position", (int64_t)job->position);
    cm_write_real(w, "estimate_seconds", wait_of(o, job, running));
    write_reason(w, o, job, running);
  }
  if (!cm_job_has_ended(job->state) && !cm_job_is_sweep(job)) {
    cm_write_word(w, "lane", cm_queue_lane_name(job->lane));
    cm_write_real(w, "expected_seconds", job->expected);
    cm_write_real(w, "remaining_seconds", remaining_of(request->store, o, job, running));
  }
  if (job->retries > 0)
    write_retry(w, job);
  write_live(request->store, w, job);
  write_text(w, "problem", job->problem);
  write_word(w, cm_job_makes(job->kind)->word, job->mapping);
  write_word(w, "lease", job->lease);
  if (job->state == CM_JOB_DONE && cm_job_makes(job->kind)->object != CM_OBJECT_NONE)
    cm_write_truth(w, "reused", job->reused);
  if (whole) {
    write_text(w, "options", job->options);
    write_report(w, job->report);
  }
}

char *cm_job_show(const cm_request *request, const cm_job *job, bool compact, size_t *size)
{
  cm_jobs_running running = {0};
  cm_writer w = {.compact = compact};
  if (job->state == CM_JOB_QUEUED)
    running = cm_jobs_running_now(request);
  cm_write_begin(&w);
  cm_job_write(&w, request, job, true, &running);
  cm_write_end(&w);
  return cm_write_done(&w, size);
}

void cm_reply_shown(cm_request *request, unsigned status, const cm_job *job, const char *tag, uint64_t version)
{
  size_t size = 0;
  char *text = cm_job_show(request, job, false, &size);
  if (text != NULL && cm_job_has_ended(job->state))
    cm_shown_keep(request, job, version, tag, text, size);
  cm_reply_text(request, status, "application/json", text, size);
}

void cm_job_tag(const cm_request *request, const cm_job *job, char *tag, size_t size)
{
  (void)snprintf(tag, size, "%s-%d-%llu", cm_job_state_name(job->state), job->attempt,
                 (unsigned long long)cm_event_bus_newest(request->store->bus, job->id));
}

void cm_reply_job(cm_request *request, unsigned status, const char *id)
{
  cm_job job;
  const uint64_t version = cm_database_version(request->store->database, CM_WATCHED_ENDED);
  if (!cm_reply_ok(request, cm_jobs_get(request->store, id, &job, &request->error)))
    return;
  char tag[64];
  cm_job_tag(request, &job, tag, sizeof tag);
  cm_reply_shown(request, status, &job, tag, version);
  cm_reply_header(request, "ETag", "\"%s\"", tag);
  cm_reply_location(request, "/v1/jobs/%s", job.id);
  cm_job_clear(&job);
}
