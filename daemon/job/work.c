/* One job, folder in, folder out. Happy path: read job.json, run the kind, write result.json.
 * What can fail: the job (its result says how); the folder itself, or the room to write the result (no result). */
#include <errno.h>
#include <math.h>
#include <sys/resource.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

typedef struct kind {
  const char *name;
  cm_status (*run)(cm_work *work, cm_error *error);
} kind;

static const kind kinds[] = {
#define JOB_KIND(kind, ...) {#kind, cm_work_##kind},
#include "library/private/job_kinds.def"
#undef JOB_KIND
  {"import", cm_work_import}, /* of an upload, and no job */
};

/* ---- progress ---- */

static json_t *phases_json(const cm_run *run)
{
  json_t *list = json_array();
  for (size_t i = 0; i < run->phase_count; i++) {
    const cm_phase *p = &run->phases[i];
    double seconds = p->seconds + ((int)i == run->phase_open ? cm_now() - run->phase_started : 0);
    (void)json_array_append_new(list, json_pack("{s:s, s:f, s:I}", "name", p->name, "seconds", seconds, "peak_bytes",
                                                (json_int_t)p->peak_bytes));
  }
  return list;
}

static void on_progress(void *user, const cm_progress *progress)
{
  cm_work *w = user;
  json_t *body = json_pack("{s:s, s:f, s:f}", "phase", progress->phase, "fraction", progress->fraction, "whole", progress->whole),
         *phases = phases_json(&w->run);
  if (progress->level >= 0)
    (void)json_object_set_new(body, "level", json_integer(progress->level));
  if (progress->vertices > 0)
    (void)json_object_set_new(body, "vertices", json_integer((json_int_t)progress->vertices));
  if (isfinite(progress->metric))
    (void)json_object_set_new(body, "metric", json_real(progress->metric));
  if (progress->bound > 0)
    (void)json_object_set_new(body, "bound", json_real(progress->bound));
  char *text = cm_json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(6)),
       *list = cm_json_dumps(phases, JSON_COMPACT | JSON_REAL_PRECISION(6));
  json_decref(body);
  json_decref(phases);
  if (text != NULL && list != NULL)
    w->watch->progress(w->watch->user, progress->phase, text, list);
  free(text);
  free(list);
}

/* ---- the result ---- */

static json_t *problem_json(const cm_error *why)
{
  json_t *figures = json_object(), *detail = json_string(why->detail);
  for (size_t i = 0; i < why->figure_count; i++)
    (void)json_object_set_new(figures, why->figures[i].name, json_integer((json_int_t)why->figures[i].value));
  if (detail == NULL) { /* it quotes bytes that are no UTF-8 */
    char plain[sizeof why->detail];
    (void)snprintf(plain, sizeof plain, "%s", why->detail);
    for (char *p = plain; *p != '\0'; p++)
      if ((unsigned char)*p >= 0x80)
        *p = '?';
    detail = json_string(plain);
  }
  return json_pack("{s:o, s:s, s:s*, s:i, s:o}", "detail", detail, "where", why->where, "limit_name", why->limit_name,
                   "cause", why->cause, "figures", figures);
}

static cm_status write_result(cm_work *w, cm_status status, const cm_error *why, cm_error *error)
{
  char path[CM_PATH_MAX] = "", written[CM_PATH_MAX] = "";
  uint64_t refusals = cm_json_refusals();
  json_t *result = json_pack("{s:s, s:s, s:o}", "format", "coremapd result 1", "status",
                             status == CM_OK ? "ok" : cm_status_code(status), "phases", phases_json(&w->run));
  if (status != CM_OK)
    (void)json_object_set_new(result, "problem", problem_json(why));
  else
    (void)json_object_update(result, w->result);
  cm_status done = cm_json_whole(refusals, "the job's result", error);
  CM_THEN(done, cm_path(path, error, "%s/" CM_WORK_RESULT, w->out));
  CM_THEN(done, cm_path(written, error, "%s.new", path));
  CM_THEN(done, cm_work_write(result, written, JSON_COMPACT | JSON_REAL_PRECISION(15), error));
  if (done == CM_OK && rename(written, path) != 0)
    done = cm_fail_errno(error, errno, "cannot name the job's result", path);
  json_decref(result);
  return done;
}

static cm_status run_kind(cm_work *w, cm_error *error)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, w->job.kind) == 0)
      return kinds[i].run(w, error);
  return cm_fail(error, CM_BAD_OPTION, "there is no kind of job \"%.15s\"", w->job.kind);
}

/* Whether this process came near what it may have. A machine that refuses far below that has no memory just now, which
 * passes. */
static bool wanted_much(const cm_work *w)
{
  struct rlimit data;
  struct rusage used;
  if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur == RLIM_INFINITY || getrusage(RUSAGE_SELF, &used) != 0)
    return false;
  uint64_t resident = (uint64_t)used.ru_maxrss << 10, accounted = atomic_load(&w->memory.peak_bytes);
  return (resident > accounted ? resident : accounted) >= data.rlim_cur / 4;
}

/* In a process of its own, it is the job that wanted too much. */
static cm_status explain(const cm_work *w, cm_status ended, cm_error *why)
{
  uint64_t most = w->watch->process_bytes;
  if (ended != CM_NO_MEMORY || most == 0 || !wanted_much(w))
    return ended;
  cm_fail(why, CM_MEMORY_LIMIT, "the job asked for more memory than its process may have: %llu MiB, libraries included; %s",
          (unsigned long long)(most >> 20),
          w->job.memory_limit != 0 ? "raise memory_limit" : "this is most of what the machine has");
  cm_error_figure(why, "memory_limit", w->job.memory_limit);
  return CM_MEMORY_LIMIT;
}

cm_status cm_work_run(const char *folder, const char *out, const cm_work_watch *watch, cm_error *error)
{
  cm_error why = {0};
  cm_work *w = calloc(1, sizeof *w);
  if (w == NULL || (w->result = json_object()) == NULL) {
    free(w);
    return cm_whole(false, "the job", error);
  }
  w->folder = folder;
  w->out = out;
  w->watch = watch;
  cm_memory_init(&w->memory, 0);
  cm_run_init(&w->run);
  w->run.memory = &w->memory;
  w->run.on_progress = on_progress;
  w->run.user = w;
  w->run.cancel = watch->cancel;
  /* The folder goes when the job is over; what is kept of it is synced then. */
  const bool lasting = cm_files_last(false);
  cm_status status = cm_work_read(folder, &w->job, error);
  CM_THEN(status, cm_path(w->made, error, "%s/" CM_WORK_MADE, out));
  CM_THEN(status, cm_path(w->points, error, "%s/" CM_WORK_POINTS, out));
  CM_THEN(status, cm_path(w->scratch, error, "%s/" CM_WORK_SCRATCH, out));
  CM_THEN(status, cm_folder_make(w->scratch, error));
  if (status == CM_OK) {
    w->memory.scratch_folder = w->scratch;
    cm_status ended = explain(w, run_kind(w, &why), &why);
    cm_run_finish(&w->run);
    status = write_result(w, ended, &why, error);
  }
  (void)cm_files_last(lasting);
  cm_work_job_clear(&w->job);
  json_decref(w->result);
  free(w);
  return status;
}
