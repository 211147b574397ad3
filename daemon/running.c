/* One job from claim to commit.
 *
 * What can fail: anything in the job (it is failed with the problem; the server goes on); the stop of the server (it
 * goes back to the queue); its cores being taken while it ran (it is mapped again). */
#include "daemon/running.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "api/problem.h"
#include "core/mapping/metrics.h"

/* ---- progress ---- */

static char *phases_text(const cm_run *run)
{
  json_t *list = json_array();
  for (size_t i = 0; i < run->phase_count; i++) {
    const cm_phase *p = &run->phases[i];
    double seconds = p->seconds + ((int)i == run->phase_open ? cm_now() - run->phase_started : 0);
    (void)json_array_append_new(list, json_pack("{s:s, s:f, s:I}", "name", p->name, "seconds", seconds, "peak_bytes",
                                                (json_int_t)p->peak_bytes));
  }
  char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(6));
  json_decref(list);
  return text;
}

static void on_progress(void *user, const cm_progress *progress)
{
  cm_running *r = user;
  json_t *body = json_pack("{s:s, s:f}", "phase", progress->phase, "fraction", progress->fraction);
  if (progress->level >= 0)
    (void)json_object_set_new(body, "level", json_integer(progress->level));
  if (progress->vertices > 0)
    (void)json_object_set_new(body, "vertices", json_integer((json_int_t)progress->vertices));
  if (isfinite(progress->metric))
    (void)json_object_set_new(body, "metric", json_real(progress->metric));
  char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(6)), *phases = phases_text(&r->run);
  json_decref(body);
  if (r->phase != progress->phase) {
    r->phase = progress->phase;
    cm_board_log(r->store->board, r->job.id, "phase %s", progress->phase);
  }
  if (text != NULL) {
    cm_board_progress(r->store->board, r->job.id, text, phases);
    cm_board_publish(r->store->board, r->job.id, "progress", text);
  }
  free(text);
  free(phases);
}

/* ---- what the steps share ---- */

void cm_running_bound(const cm_running *r, unsigned *threads, uint64_t *memory_limit)
{
  uint64_t most = r->options->memory_limit;
  if (*threads > r->options->threads)
    *threads = r->options->threads;
  if (most != 0 && (*memory_limit == 0 || *memory_limit > most))
    *memory_limit = most;
}

cm_status cm_running_scratch(cm_running *r, cm_error *error)
{
  char id[CM_ID_MAX];
  cm_store_id(id);
  if (cm_path(r->scratch, error, "%s/incoming/%s.job", r->store->folder, id) != CM_OK)
    return error->status;
  r->memory.scratch_folder = r->scratch;
  return cm_folder_make(r->scratch, error);
}

static uint64_t folder_bytes(const char *folder)
{
  uint64_t bytes = 0;
  DIR *listing = opendir(folder);
  struct dirent *item;
  while (listing != NULL && (item = readdir(listing)) != NULL) {
    struct stat about;
    if (fstatat(dirfd(listing), item->d_name, &about, 0) == 0 && S_ISREG(about.st_mode))
      bytes += (uint64_t)about.st_size;
  }
  if (listing != NULL)
    closedir(listing);
  return bytes;
}

/* What any job makes is noted alike. */
static void note(cm_running *r, const char *folder)
{
  memcpy(r->row.kind, r->job.kind, sizeof r->row.kind);
  memcpy(r->row.user, r->job.user, sizeof r->row.user);
  memcpy(r->row.network, r->job.network, sizeof r->row.network);
  memcpy(r->row.chip, r->job.chip, sizeof r->row.chip);
  memcpy(r->row.job, r->job.id, sizeof r->row.job);
  memcpy(r->row.fingerprint, r->fingerprint, sizeof r->row.fingerprint);
  r->row.bytes = folder_bytes(folder);
  r->row.created = cm_store_time();
}

cm_status cm_running_place(cm_running *r, const char *folder, cm_error *error)
{
  cm_store_id(r->row.id);
  note(r, folder);
  return cm_mappings_place(r->store, folder, r->row.id, error);
}

/* ---- the end of a job ---- */

/* A compile report without its lists: they are in the program's own file. */
static char *short_report(const json_t *compiled)
{
  json_t *report = json_copy((json_t *)(uintptr_t)compiled);
  json_t *moves = json_object_get(report, "moves");
  size_t count = json_array_size(moves);
  (void)json_object_set_new(report, "moves", json_integer((json_int_t)count));
  (void)json_object_del(report, "permutations");
  char *text = report != NULL ? json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(report);
  return text;
}

static char *report_text(const cm_running *r)
{
  const cm_mapping *m = r->mapping;
  if (r->compiled != NULL)
    return short_report(r->compiled);
  if (m == NULL)
    return NULL;
  bool cached = m->attempt_count > 0;
  for (uint32_t i = 0; i < m->attempt_count; i++)
    cached = cached && m->attempts[i].coarsening_cached;
  json_t *report = json_pack("{s:I, s:o, s:b, s:o, s:o*, s:O*}", "parts", (json_int_t)m->part_count, "bound",
                             cm_bound_json(&m->bound), "coarsening_cached", cached, "attempts",
                             cm_attempts_json(m->attempts, m->attempt_count, true), "metrics",
                             cm_metrics_json(&m->metrics), "mapper", m->report);
  char *text = report != NULL ? json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(report);
  return text;
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

/* Commits a result. CM_CONFLICT with *taken: the region is no longer free. */
static cm_status commit(cm_running *r, cm_job_state state, const cm_error *why, bool *taken, cm_error *error)
{
  json_t *problem = why != NULL ? cm_problem_json(why) : NULL;
  char *problem_text = problem != NULL ? json_dumps(problem, JSON_COMPACT) : NULL, *report = report_text(r),
       *phases = phases_text(&r->run), *log = cm_board_log_text(r->store->board, r->job.id);
  cm_job_outcome outcome = {.state = state, .problem = problem_text, .report = report, .phases = phases, .log = log};
  if (state == CM_JOB_DONE && r->reused[0] != '\0')
    outcome.reused_mapping = r->reused;
  else if (state == CM_JOB_DONE) {
    outcome.mapping = &r->row;
    if (r->job.reserve) {
      outcome.region = r->mapping->region->cores;
      outcome.region_count = r->mapping->region->core_count;
    }
  }
  cm_status status = cm_jobs_finish(r->store, &r->job, &outcome, taken, error);
  json_decref(problem);
  free(problem_text);
  free(report);
  free(phases);
  free(log);
  return status;
}

static void remove_views(cm_running *r)
{
  cm_error ignored;
  char folder[CM_PATH_MAX];
  if (r->row.id[0] != '\0' && cm_mappings_folder(r->store, r->row.id, folder, &ignored) == CM_OK)
    (void)cm_folder_remove(folder, &ignored);
}

/* Ends the job one way or another. When not even that can be written (a full disk), it is tried again, so that the
 * job does not stay running for ever; a stop of the server leaves it to the next start. */
static void end_job(cm_running *r, cm_status status, const cm_error *why)
{
  cm_error error;
  bool taken = false;
  cm_board *board = r->store->board;
  cm_run_finish(&r->run);
  cm_status ended = CM_OK;
  if (status == CM_OK) {
    cm_board_log(board, r->job.id, "done");
    ended = commit(r, CM_JOB_DONE, NULL, &taken, &error);
    if (ended != CM_OK)
      remove_views(r);
    if (taken && r->job.moved < CM_JOB_MOVES_MAX) {
      cm_board_log(board, r->job.id, "the cores were taken meanwhile (%s): mapping again", error.detail);
      ended = cm_jobs_requeue(r->store, &r->job, true, &error);
    }
    if (ended == CM_OK)
      return;
    status = ended;
  } else
    error = *why;
  for (int tries = 0; tries < 30; tries++) {
    cm_error reason = error, ignored;
    if (status == CM_CANCELLED && !cancel_was_asked(r)) {
      cm_board_log(board, r->job.id, "the server stops: back to the queue");
      ended = cm_jobs_requeue(r->store, &r->job, false, &ignored);
    } else {
      cm_board_log(board, r->job.id, "%s: %s", cm_status_code(status), reason.detail);
      ended = commit(r, status == CM_CANCELLED ? CM_JOB_CANCELLED : CM_JOB_FAILED, &reason, &taken, &ignored);
    }
    if (ended == CM_OK || ended == CM_CONFLICT || ended == CM_NOT_FOUND)
      return;
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  }
}

void cm_running_job(const cm_workers_options *options, cm_job *job)
{
  cm_running *r = calloc(1, sizeof *r);
  cm_error error = {0}, ignored;
  if (r == NULL) {
    (void)cm_jobs_requeue(options->store, job, false, &ignored);
    cm_job_clear(job);
    return;
  }
  r->options = options;
  r->store = options->store;
  r->job = *job;
  cm_memory_init(&r->memory, 0);
  cm_run_init(&r->run);
  r->run.memory = &r->memory;
  r->run.on_progress = on_progress;
  r->run.user = r;
  r->run.cancel = cm_board_cancel_flag(r->store->board, job->id);
  cm_board_log(r->store->board, job->id, "attempt %d: %s network %.12s%s%s", job->attempt, job->kind,
               job->network, job->chip[0] != '\0' ? " on chip " : "", job->chip);
  cm_status status = strcmp(job->kind, "compile") == 0 ? cm_running_compile(r, &error) : cm_running_map(r, &error);
  if (status == CM_OK && r->deferred)
    cm_run_finish(&r->run);
  else
    end_job(r, status, &error);
  if (r->scratch[0] != '\0')
    (void)cm_folder_remove(r->scratch, &ignored);
  json_decref(r->compiled);
  cm_mapping_free(r->mapping);
  cm_topology_free(r->topology);
  cm_occupancy_free(r->occupancy);
  cm_chip_free(r->chip);
  cm_map_options_free(r->map_options);
  cm_job_clear(&r->job);
  free(r);
}
