/* Server-sent events: of a job, and of all jobs of the caller. */
#include "api/job_view.h"
#include "base/text.h"

/* Whether as many streams are served as may be; the reply is set. */
static bool too_many(cm_request *request)
{
  if (atomic_load(&request->server->counters.streams) < CM_STREAMS_MAX)
    return false;
  cm_reply_problem(request, 503, "too-many", "Too many event streams", "at most %d are served at once", CM_STREAMS_MAX);
  cm_reply_header(request, "Retry-After", "5");
  return true;
}

/* ---- of a job ---- */

/* The job as it is, as the first event of a stream. */
static char *snapshot(const cm_request *request, const cm_job *job, uint64_t id)
{
  size_t size = 0;
  char *data = cm_job_show(request, job, true, &size), *text = NULL;
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
  cm_job job;
  cm_event_bus *bus = request->store->bus;
  cm_bus_event oldest;
  if (too_many(request))
    return;
  uint64_t seen = last_seen(request), newest = cm_event_bus_newest(bus, request->param[0]);
  if (!cm_reply_ok(request, cm_jobs_get(request->store, request->param[0], &job, &request->error)))
    return;
  bool kept = cm_event_bus_next(bus, job.id, 0, &oldest);
  if (kept)
    free(oldest.data);
  bool resumable = seen != 0 && kept && seen >= oldest.id && seen <= newest;
  if (resumable && cm_job_has_ended(job.state) && seen >= newest)
    cm_reply_empty(request, 204); /* tells an EventSource not to come back */
  else {
    /* Events that come while the snapshot is made are sent again after it: ids still ascend. */
    char *first = resumable ? strdup("retry: 2000\n\n") : snapshot(request, &job, newest);
    if (first == NULL)
      cm_reply_text(request, 503, NULL, NULL, 0);
    else
      cm_subscriptions_stream(request, &(cm_subscription){.name = job.id, .after = resumable ? seen : newest,
                                                          .over = !resumable && cm_job_has_ended(job.state)}, first);
  }
  cm_job_clear(&job);
}

/* ---- of all that is mine ---- */

typedef struct replay {
  FILE *out;
  uint64_t last, now;
  size_t count;
} replay;

/* A change as the event that it was: its time is its id. */
static void tell_change(void *context, const cm_job_change *change)
{
  replay *r = context;
  const uint64_t at = (uint64_t)(change->at * 1e6), next = at > r->last ? at : r->last + 1;
  r->last = next < r->now ? next : r->now;
  r->count++;
  (void)fprintf(r->out, "id: %llu\nevent: state\ndata: {\"job\":\"%s\",\"state\":\"%s\"", (unsigned long long)r->last, change->id,
                cm_job_state_name(change->state));
  if (change->state == CM_JOB_DONE && change->mapping[0] != '\0')
    (void)fprintf(r->out, ",\"%s\":\"%s\"", cm_job_makes(change->kind)->word, change->mapping);
  (void)fputs("}\n\n", r->out);
}

/* What a stream begins with: what came after the last event that the client has seen, as far as the feed has forgotten it (`since`; 0:
 * nothing), else that it is open. *count of the former. NULL: no memory, or *error. */
static char *beginning(cm_request *request, uint64_t since, uint64_t now, size_t *count, cm_error *error)
{
  cm_text text;
  size_t size = 0;
  error->status = CM_OK;
  if (!cm_text_open(&text))
    return NULL;
  replay r = {.out = text.stream, .last = since, .now = now};
  (void)fputs("retry: 2000\n\n", r.out);
  if (since == 0)
    (void)fprintf(r.out, "id: %llu\nevent: open\ndata: {}\n\n", (unsigned long long)now);
  else
    (void)cm_jobs_changes(request->store, request->who.user, since, tell_change, &r, error);
  *count = r.count;
  char *made = cm_text_close(&text, &size);
  if (error->status == CM_OK)
    return made;
  free(made);
  return NULL;
}

/* Whether the stream is to end when none of the caller's jobs goes on; false: the reply is set. */
static bool read_until(cm_request *request, bool *idle)
{
  const char *until = cm_request_query(request, "until");
  *idle = until != NULL && strcmp(until, "idle") == 0;
  if (until == NULL || *idle)
    return true;
  return CM_REPLY_BAD(request, "query argument until must be idle: without it the stream goes on");
}

void cm_get_events(cm_request *request)
{
  char feed[CM_FEED_NAME_MAX];
  uint64_t lost, seen = last_seen(request);
  bool idle, busy = true;
  size_t count;
  if (too_many(request) || !read_until(request, &idle))
    return;
  const uint64_t now = cm_event_bus_open_feed(request->store->bus, cm_event_bus_feed(request->who.user, feed), &lost);
  const bool kept = seen != 0 && seen >= lost && seen <= now;
  char *first = kept ? strdup("retry: 2000\n\n") : beginning(request, seen, now, &count, &request->error);
  if (first == NULL) {
    if (!kept && request->error.status != CM_OK)
      cm_reply_error(request, &request->error);
    else
      cm_reply_text(request, 503, NULL, NULL, 0);
    return;
  }
  const bool nothing_new = seen != 0 && (kept ? cm_event_bus_newest(request->store->bus, feed) <= seen : count == 0);
  if (idle && cm_jobs_busy(request->store, request->who.user, &busy, &request->error) != CM_OK) {
    free(first);
    cm_reply_error(request, &request->error);
  } else if (!busy && nothing_new) {
    free(first);
    cm_reply_empty(request, 204); /* tells an EventSource not to come back */
  } else
    cm_subscriptions_stream(request, &(cm_subscription){.name = feed, .feed = true, .until_idle = idle, .after = kept ? seen : now}, first);
}
