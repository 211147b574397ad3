/* One job from claim to commit: its folder is made (prepare.c) and submitted to an executor; when that has ended, what it made is put
 * in place (running_made.c) and committed. Nobody waits meanwhile (follower.h).
 *
 * What can fail: anything in the job (it is failed with the problem; the server goes on); the stop of the server (it
 * goes back to the queue); its cores being taken while it ran (it is mapped again). */
#include "daemon/running.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/problem.h"
#include "base/json.h"
#include "daemon/refusal.h"
#include "daemon/slurm/cluster.h"

/* Requests come before jobs, and short jobs before long ones. */
enum { NICE_SHORT = 2, NICE_LONG = 10 };

/* The memory that is set aside for it: that of a process, and twice what like jobs held; twice as much each time that it did not do. */
static uint64_t most_bytes(const cm_running *r)
{
  const double process = 128 << 20, bytes = (process + 2 * r->bytes) * (1 << r->job.retries);
  return r->work.memory_limit > 0 ? (uint64_t)fmin(bytes, (double)r->work.memory_limit) : (uint64_t)bytes;
}

/* What is asked of an executor; `seconds` that it has run already. */
static void describe(cm_running *r, double seconds)
{
  const double least_seconds = 600, room = 10;
  r->watch = cm_running_watch(r);
  r->execution = (cm_execution){.folder = r->folder,
                                .out = r->out,
                                .attempt = r->job.attempt,
                                .lasting = r->options.lasting,
                                .began = cm_now() - seconds,
                                .time_limit = r->work.time_limit,
                                .nice = r->job.lane == CM_LANE_OF_SHORT ? NICE_SHORT : NICE_LONG,
                                .memory_limit = r->work.memory_limit,
                                .threads = r->work.threads,
                                .disk_limit = r->work.file_limit,
                                .seconds = fmax(least_seconds, room * r->job.expected) * (1 << r->job.retries),
                                .bytes = most_bytes(r),
                                .user = r->job.owner.user,
                                .watch = &r->watch};
  *r->until = r->work.time_limit > 0 && !r->remote ? r->execution.began + r->work.time_limit : 0;
}

static cm_status submit(cm_running *r, cm_error *error)
{
  const cm_executor *executor = r->remote ? &cm_executor_slurm : cm_executor_for(r->options.executor, r->job.kind, r->folder);
  describe(r, 0);
  r->watch.cancel = cm_event_bus_cancel_flag(r->store->bus, r->job.id);
  r->watch.levels = executor->outside ? NULL : library_levels_cache(r->store->cache);
  return cm_executor_submit(executor, &r->execution, &r->submission, error);
}

/* ---- the end of a job ---- */

/* The mapping that is the job's: one that it is about, or that an identical job has made; NULL: a new one, or none. */
static const char *known_mapping(const cm_running *r)
{
  const char *option = library_job_kind_of(r->job.kind)->mapping;
  if (library_job_kind_of(r->job.kind)->result != LIBRARY_RESULT_NONE)
    return r->reused[0] != '\0' ? r->reused : NULL;
  return option != NULL ? json_string_value(json_object_get(r->work.options, option)) : NULL;
}

static bool cancel_was_asked(cm_running *r)
{
  cm_error ignored;
  cm_job now;
  if (cm_jobs_get(r->store, r->job.id, &now, &ignored) != CM_OK)
    return false;
  cm_job_clear(&now);
  return now.cancel_requested;
}

/* The cores of a job that reserves, as its result names them. */
static cm_status read_region(const cm_running *r, uint32_t **region, uint32_t *count, cm_error *error)
{
  const json_t *list = json_object_get(r->result.json, "region");
  size_t n = json_array_size(list);
  uint32_t *cores;
  CM_TRY(CM_HEAP(cores, n + 1, "the job's region", error));
  for (size_t i = 0; i < n; i++)
    cores[i] = (uint32_t)json_integer_value(json_array_get(list, i));
  *region = cores;
  *count = (uint32_t)n;
  return CM_OK;
}

static char *member_text(const cm_running *r, const char *name, int precision)
{
  const json_t *value = json_object_get(r->result.json, name);
  return value != NULL ? cm_json_dumps(value, JSON_COMPACT | (size_t)JSON_REAL_PRECISION(precision)) : NULL;
}

/* The report of a mapping that an identical job has made. The caller frees; NULL: it cannot be read now. */
static char *report_of_twin(const cm_running *r)
{
  cm_error ignored;
  char path[40];
  int file;
  if (cm_mappings_open(r->store, r->reused, "summary.json", &file, &ignored) != CM_OK)
    return NULL;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  char *report = cm_running_report(path);
  (void)close(file);
  return report;
}

/* Commits a result. CM_CONFLICT with *taken: the region is no longer free. */
static cm_status commit(cm_running *r, cm_job_state state, const cm_error *why, bool *taken, cm_error *error)
{
  uint32_t *region = NULL, count = 0;
  CM_TRY_IF(state == CM_JOB_DONE && r->job.reserve, read_region(r, &region, &count, error));
  json_t *problem = why != NULL ? cm_problem_json(why) : NULL;
  char *problem_text = problem != NULL ? cm_json_dumps(problem, JSON_COMPACT) : NULL,
       *report = r->reused[0] != '\0' ? report_of_twin(r) : member_text(r, "report", 15), *phases = member_text(r, "phases", 6),
       *log = cm_event_bus_log_text(r->store->bus, r->job.id), *history = cm_event_bus_history(r->store->bus, r->job.id);
  cm_job_outcome outcome = {.state = state, .problem = problem_text, .code = why != NULL ? cm_status_code(why->status) : NULL, .report = report,
                            .phases = phases != NULL ? phases : r->phases, .log = log, .history = history, .region = region,
                            .region_count = count};
  if (state == CM_JOB_DONE)
    outcome.reused_mapping = known_mapping(r);
  if (state == CM_JOB_DONE && outcome.reused_mapping == NULL && r->row.id[0] != '\0')
    outcome.mapping = &r->row;
  outcome.points = r->points;
  outcome.point_count = outcome.mapping != NULL ? r->point_count : 0;
  outcome.pack = outcome.mapping != NULL && r->pack.bytes != NULL ? &r->pack : NULL;
  cm_status status = cm_jobs_finish(r->store, &r->job, &outcome, taken, error);
  json_decref(problem);
  free(problem_text);
  free(report);
  free(phases);
  free(log);
  free(history);
  free(region);
  return status;
}

static void remove_folder(const cm_running *r, const char *id)
{
  cm_error ignored;
  char folder[CM_PATH_MAX];
  if (id[0] != '\0' && cm_mappings_folder(r->store, id, folder, &ignored) == CM_OK)
    (void)cm_folder_remove(folder, &ignored);
}

static void remove_views(const cm_running *r)
{
  remove_folder(r, r->row.id);
  for (size_t i = 0; i < r->point_count; i++)
    remove_folder(r, r->points[i].mapping.id);
}

/* Puts a job that a passing fault has ended back in the queue; *again is false when it has been tried often enough. */
static cm_status try_later(cm_running *r, const cm_error *why, bool *again, cm_error *error)
{
  json_t *problem = cm_problem_json(why);
  char *text = problem != NULL ? cm_json_dumps(problem, JSON_COMPACT) : NULL;
  json_decref(problem);
  int retry = r->job.retries + 1;
  cm_status status = cm_jobs_retry(r->store, &r->job, text, again, error);
  free(text);
  if (status == CM_OK && *again)
    cm_event_bus_log(r->store->bus, r->job.id, "%s: %s; this may pass: retry %d of %d in %.0f s", cm_status_code(why->status),
                 why->detail, retry, CM_JOB_RETRIES_MAX, cm_job_retry_delay(retry));
  return status;
}

enum { ENDING_TRIES_MAX = 30 };

/* Ends the job one way or another. When not even that can be written (a full disk), it is tried again every second for as
 * long as it takes, so that the job does not stay running for ever; a stop of the server leaves it to the next start: false. */
static bool end_job(cm_running *r, cm_status status, const cm_error *why)
{
  cm_error error;
  bool taken = false;
  cm_event_bus *bus = r->store->bus;
  cm_status ended = CM_OK;
  if (status == CM_OK) {
    cm_event_bus_log(bus, r->job.id, "done");
    ended = commit(r, CM_JOB_DONE, NULL, &taken, &error);
    if (ended != CM_OK)
      remove_views(r);
    if (taken && r->job.moved < CM_JOB_MOVES_MAX) {
      cm_event_bus_log(bus, r->job.id, "the cores were taken meanwhile (%s): mapping again", error.detail);
      ended = cm_jobs_requeue(r->store, &r->job, true, &error);
    }
    if (ended == CM_OK)
      return true;
    status = ended;
  } else
    error = *why;
  bool given_up = false;
  const atomic_bool *stop = cm_event_bus_cancel_flag(bus, r->job.id);
  for (int tries = 0; tries < ENDING_TRIES_MAX; tries += stop == NULL || atomic_load(stop)) {
    cm_error reason = error, ignored;
    if (status == CM_CANCELLED && !cancel_was_asked(r)) {
      cm_event_bus_log(bus, r->job.id, "requeued: the server is shutting down");
      ended = cm_jobs_requeue(r->store, &r->job, false, &ignored);
    } else if (cm_error_passes(&reason) && !given_up) {
      bool again = false;
      ended = try_later(r, &reason, &again, &ignored);
      given_up = ended == CM_OK && !again;
      if (given_up)
        continue;
    } else {
      /* A job that is not wanted any more is not tried again, and has not failed either. */
      bool cancelled = status == CM_CANCELLED || (given_up && cancel_was_asked(r));
      cm_event_bus_log(bus, r->job.id, "%s: %s", cm_status_code(status), reason.detail);
      ended = commit(r, cancelled ? CM_JOB_CANCELLED : CM_JOB_FAILED, &reason, &taken, &ignored);
    }
    if (ended == CM_OK || ended == CM_CONFLICT || ended == CM_NOT_FOUND)
      return true;
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  }
  return false;
}

/* `over`: nothing of the job is needed any more; else its folder stays, and the next server is told how it ended. */
static void free_running(cm_running *r, bool over)
{
  cm_error ignored;
  const cm_executor *executor = r->submission != NULL ? r->submission->executor : NULL;
  if (executor != NULL)
    (over || executor->leave == NULL ? executor->release : executor->leave)(r->submission);
  if (over && r->folder[0] != '\0')
    (void)cm_folder_remove(r->folder, &ignored);
  cm_pack_clear(&r->pack);
  for (size_t i = 0; i < r->point_count; i++) {
    cm_pack_clear(&r->point_packs[i]);
    free(r->point_reports[i]);
  }
  cm_work_result_clear(&r->result);
  cm_work_job_clear(&r->work);
  free(r->phases);
  cm_job_clear(&r->job);
  free(r);
}

void cm_running_leave(cm_running *r)
{
  free_running(r, false);
}

cm_running *cm_running_new(const cm_workers_options *options, cm_job *job, _Atomic double *until)
{
  cm_running *r = calloc(1, sizeof *r);
  cm_error ignored;
  if (r == NULL) {
    (void)cm_jobs_requeue(options->store, job, false, &ignored);
    cm_job_clear(job);
    return NULL;
  }
  r->options = *options;
  r->store = options->store;
  r->job = *job;
  r->until = until;
  (void)cm_jobs_known(r->store, job, &r->known, &r->bytes, &ignored);
  return r;
}

bool cm_running_begin(cm_running *r)
{
  cm_error error = {0};
  const cm_job *job = &r->job;
  cm_event_bus_log(r->store->bus, job->id, "attempt %d: %s%s%.12s%s%s, about %.3g s and %.3g MB", job->attempt, job->kind,
                   job->network[0] != '\0' ? " network " : "", job->network, job->chip[0] != '\0' ? " on chip " : "", job->chip,
                   job->expected, r->bytes / 1e6);
  const bool lasting = cm_files_last(false); /* the job's folder goes with it */
  cm_status status = cm_running_prepare(r, &error);
  (void)cm_files_last(lasting);
  if (status == CM_OK && !r->deferred && r->reused[0] == '\0' && (status = submit(r, &error)) == CM_OK)
    return true;
  if (status != CM_OK || !r->deferred)
    (void)end_job(r, status, &error);
  free_running(r, true);
  return false;
}

void cm_running_end(cm_running *r)
{
  cm_error error = {0};
  *r->until = 0;
  const cm_status status = cm_running_take(r, &error);
  free_running(r, end_job(r, status, &error));
}

cm_running *cm_running_adopt(const cm_workers_options *options, const cm_job *job, _Atomic double *until)
{
  cm_error error;
  cm_running *r = job->folder[0] != '\0' ? calloc(1, sizeof *r) : NULL;
  if (r == NULL)
    return NULL;
  r->options = *options;
  r->store = options->store;
  r->until = until;
  memcpy(r->fingerprint, job->fingerprint, sizeof r->fingerprint);
  r->job = *job;
  (void)cm_jobs_known(r->store, job, &r->known, &r->bytes, &error);
  bool there = cm_running_place(r, &error) == CM_OK && cm_work_read(r->folder, &r->work, &error) == CM_OK;
  if (there) {
    describe(r, cm_store_time() - job->started);
    there = cm_executor_adopt(&r->execution, &r->submission, &error) == CM_OK;
  }
  if (!there) {
    cm_job_log(job, "lost", error.detail);
    memset(&r->job, 0, sizeof r->job);
    free_running(r, true);
    return NULL;
  }
  cm_event_bus_start(r->store->bus, job->id);
  r->watch.cancel = cm_event_bus_cancel_flag(r->store->bus, job->id);
  if (job->cancel_requested)
    cm_event_bus_cancel(r->store->bus, job->id);
  cm_event_bus_log(r->store->bus, job->id, "attempt %d goes on: the server was started anew", job->attempt);
  cm_job_log(job, "running", "the server was started anew");
  return r;
}
