/* An array of POST /v1/jobs: many jobs of one request, queued in one transaction, all of them or none.
 *
 * All are read before any is queued, and each that is refused is told with its place, from 0. */
#include "api/job_view.h"
#include "api/submit.h"
#include "storage/sweep_jobs.h"

enum { BATCH_MAX = 10000 };

typedef struct batch {
  cm_job *jobs;
  char (*ids)[CM_ID_MAX];
  size_t count;
} batch;

/* ---- refusals ---- */

/* Takes what has been collected: the first one's problem, and all of them in "refusals". */
static void reply_refusals(cm_request *request)
{
  char text[500];
  json_t *all = request->refusals;
  const json_t *first = json_array_get(all, 0);
  const size_t others = json_array_size(all) - 1;
  const char *detail = json_string_value(json_object_get(first, "detail"));
  request->refusals = NULL;
  json_t *problem = json_copy((json_t *)(uintptr_t)first);
  (void)json_object_del(problem, "index");
  (void)snprintf(text, sizeof text, others > 0 ? "job %lld: %.300s; %zu others are refused too" : "job %lld: %.300s",
                 (long long)json_integer_value(json_object_get(first, "index")), detail != NULL ? detail : "", others);
  (void)json_object_set_new(problem, "detail", json_string(text));
  (void)json_object_set_new(problem, "refusals", all);
  cm_reply_refusal(request, (unsigned)json_integer_value(json_object_get(first, "status")), problem);
}

/* The problem that was collected last is about this job. */
static void name_refusal(cm_request *request, size_t index)
{
  json_t *last = json_array_get(request->refusals, json_array_size(request->refusals) - 1);
  (void)json_object_set_new(last, "index", json_integer((json_int_t)index));
  (void)json_object_del(last, "request");
  cm_reply_forget(request);
}

static bool refuse(cm_request *request, const char *why)
{
  return cm_reply_ok(request, cm_fail(&request->error, CM_BAD_REQUEST, "%s", why));
}

static bool read_one(cm_request *request, const json_t *one, cm_job *job)
{
  const char *kind = json_string_value(json_object_get(one, "kind"));
  if (!json_is_object(one))
    return refuse(request, "each element must be an object, as one that is sent alone");
  if (kind != NULL && strcmp(kind, cm_sweep_kind) == 0)
    return refuse(request, "a sweep is sent alone");
  return cm_submit_read(request, one, job);
}

static bool read_all(cm_request *request, const json_t *list, batch *b)
{
  request->refusals = json_array();
  for (; b->count < json_array_size(list); b->count++)
    if (!read_one(request, json_array_get(list, b->count), &b->jobs[b->count]))
      name_refusal(request, b->count);
  if (json_array_size(request->refusals) > 0) {
    reply_refusals(request);
    return false;
  }
  json_decref(request->refusals);
  request->refusals = NULL;
  return true;
}

/* ---- replies ---- */

static void reply_jobs(cm_request *request, unsigned status, char (*ids)[CM_ID_MAX], size_t count)
{
  cm_writer w = {0};
  cm_error ignored;
  size_t size = 0;
  const cm_jobs_running running = cm_jobs_running_now(request);
  cm_write_begin(&w);
  cm_write_list(&w, "jobs");
  for (size_t i = 0; i < count; i++) {
    cm_job job;
    if (cm_jobs_get(request->store, ids[i], &job, &ignored) != CM_OK)
      continue; /* deleted by now */
    cm_write_begin(&w);
    cm_job_write(&w, request, &job, false, &running);
    cm_write_end(&w);
    cm_job_clear(&job);
  }
  cm_write_list_end(&w);
  cm_write_end(&w);
  char *text = cm_write_done(&w, &size);
  cm_reply_text(request, status, "application/json", text, size);
}

/* The key has been used: by the same batch, whose jobs are told again, or by something else. */
static void reply_known(cm_request *request, cm_job_created result, const char *first)
{
  char (*ids)[CM_ID_MAX];
  size_t count;
  if (result != CM_JOB_SAME)
    cm_submit_reply(request, result, first);
  else if (cm_reply_ok(request, cm_jobs_of_batch(request->store, first, &ids, &count, &request->error))) {
    reply_jobs(request, 200, ids, count);
    free(ids);
  }
}

static void queue(cm_request *request, batch *b, const cm_job_key *key)
{
  cm_job_created result;
  size_t failed = 0;
  const cm_batch_request wanted = {.jobs = b->jobs, .count = b->count, .key = key};
  if (cm_jobs_create_batch(request->store, &wanted, &result, b->ids, &failed, &request->error) != CM_OK) {
    request->refusals = json_array();
    cm_reply_error(request, &request->error);
    name_refusal(request, failed);
    reply_refusals(request);
  } else if (result != CM_JOB_NEW)
    reply_known(request, result, b->ids[0]);
  else {
    request->server->options.on_queued(request->server->options.user);
    reply_jobs(request, 202, b->ids, b->count);
  }
}

void cm_batch_submit(cm_request *request, const json_t *list, const cm_job_key *key)
{
  batch b = {0};
  cm_job_created known = CM_JOB_NEW;
  char first[CM_ID_MAX];
  const size_t count = json_array_size(list);
  if (count == 0 || count > BATCH_MAX) {
    CM_REPLY_BAD(request, "an array of jobs has 1 to %d of them, not %zu", BATCH_MAX, count);
    return;
  }
  if ((key != NULL && cm_jobs_by_key(request->store, request->who.user, key, &known, first, &request->error) != CM_OK) ||
      CM_HEAP(b.jobs, count, "a batch of jobs", &request->error) != CM_OK || CM_HEAP(b.ids, count, "a batch of jobs", &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else if (known != CM_JOB_NEW)
    reply_known(request, known, first);
  else if (read_all(request, list, &b))
    queue(request, &b, key);
  for (size_t i = 0; i < b.count; i++)
    cm_job_clear(&b.jobs[i]);
  free(b.jobs);
  free(b.ids);
}
