/* Happy path: claim, load the network, take the chip's occupancy, map, write the views, commit. One job is one
 * function below (run_job), its steps in this order.
 *
 * What can fail: anything in the job (it is failed with the problem; the server goes on); the stop of the server (it
 * goes back to the queue); its cores being taken while it ran (it is mapped again); an identical job already running
 * (it waits for that one) or done (it gets that one's mapping). */
#include "daemon/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <time.h>

#include "api/problem.h"
#include "core/mapping/check/beside.h"
#include "core/mapping/export.h"
#include "core/mapping/map.h"
#include "core/mapping/metrics.h"
#include "core/network/topology_file.h"
#include "core/machine/compile.h"
#include "storage/jobs.h"
#include "storage/leases.h"
#include "storage/networks.h"

enum { WORKERS_MAX = 64 };

typedef struct worker {
  cm_workers *all;
  pthread_t thread;
  char job[CM_ID_MAX]; /* "" when idle; under the lock */
} worker;

struct cm_workers {
  cm_workers_options options;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* something to do, or somebody idle */
  uint64_t wakes;
  bool stopping;
  unsigned count;
  worker worker[WORKERS_MAX];
};

/* What one job holds while it runs. */
typedef struct running {
  cm_workers *all;
  cm_store *store;
  cm_job job;
  cm_memory memory;
  cm_run run;
  cm_map_options *options;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_topology *topology;
  cm_mapping *mapping;
  json_t *compiled;             /* the report of a compile job */
  char fingerprint[CM_SHA_MAX]; /* "" for a job that reserves: it never shares */
  char scratch[CM_PATH_MAX];    /* folder under incoming/, "" when there is none */
  cm_mapping_row row;
  char reused[CM_ID_MAX];       /* the mapping of an identical job, "" when there is none */
  bool deferred;
  const char *phase;            /* last one logged */
} running;

char *cm_workers_killed_problem(void)
{
  json_t *problem = cm_problem_plain(500, "killed-server", "The job kept ending the server",
                                     "the server died three times while this job ran; it is not tried again");
  char *text = problem != NULL ? json_dumps(problem, JSON_COMPACT) : NULL;
  json_decref(problem);
  return text;
}

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
  running *r = user;
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

/* ---- the steps of a job ---- */

static cm_status read_options(running *r, cm_error *error)
{
  json_t *json = json_loads(r->job.options, 0, NULL);
  cm_status status = cm_map_options_parse(json, &r->options, error);
  json_decref(json);
  if (status != CM_OK)
    return status;
  cm_map_options_apply(r->options, &r->run);
  if (r->run.threads > r->all->options.threads)
    r->run.threads = r->all->options.threads;
  uint64_t server_limit = r->all->options.memory_limit;
  if (server_limit != 0 && (r->memory.limit_bytes == 0 || r->memory.limit_bytes > server_limit))
    r->memory.limit_bytes = server_limit;
  return CM_OK;
}

/* A digest of all that shapes the result: network, chip, occupancy and the options that matter. */
static cm_status make_fingerprint(running *r, cm_error *error)
{
  char *chip = NULL, *occupancy = NULL, *options = NULL, *all = NULL;
  json_t *shaping = cm_map_options_shaping_json(r->options);
  cm_status status = cm_chip_print(r->chip, &chip, error);
  if (status == CM_OK)
    status = cm_occupancy_print(r->occupancy, r->chip, &occupancy, error);
  options = shaping != NULL ? json_dumps(shaping, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
  json_decref(shaping);
  if (status == CM_OK &&
      (options == NULL || asprintf(&all, "%s\n%s\n%s\n%s", r->job.network, chip, occupancy, options) < 0)) {
    all = NULL;
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while starting the job");
  }
  if (status == CM_OK)
    cm_store_sha256(all, strlen(all), r->fingerprint);
  free(chip);
  free(occupancy);
  free(options);
  free(all);
  return status;
}

/* Looks for an identical job that is running (r->deferred) or done (r->reused). */
static cm_status look_for_twin(running *r, cm_error *error)
{
  cm_mapping_row found;
  if (r->job.reserve)
    return CM_OK;
  if (make_fingerprint(r, error) != CM_OK ||
      cm_jobs_identify(r->store, &r->job, r->fingerprint, &r->deferred, error) != CM_OK)
    return error->status;
  if (r->deferred)
    return CM_OK;
  cm_status status = cm_mappings_find(r->store, r->fingerprint, &found, error);
  if (status == CM_OK) {
    memcpy(r->reused, found.id, sizeof r->reused);
    cm_board_log(r->store->board, r->job.id, "an identical job has been done: its mapping %s is this job's too",
                 found.id);
  }
  return status == CM_NOT_FOUND ? CM_OK : status;
}

static cm_status load_network(running *r, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_run_phase(&r->run, "load");
  cm_status status = cm_networks_path(r->store, r->job.network, path, error);
  if (status == CM_OK)
    status = cm_topology_load(path, &r->run, &r->topology, error);
  /* We wrote that file: what is wrong with it now happened on our disk. */
  if (status == CM_BAD_NETWORK)
    status = error->status = CM_DAMAGED;
  return status;
}

/* Cores that the lease of a job's mapping holds are free to a job that starts from it and takes none itself. */
static cm_status free_own_cores(running *r, const char *job, cm_error *error)
{
  cm_lease *leases;
  size_t count;
  if (r->job.reserve)
    return CM_OK;
  cm_status status = cm_leases_list(r->store, r->job.chip, &leases, &count, error);
  if (status != CM_OK)
    return status;
  for (size_t i = 0; i < count; i++) {
    char owner[CM_ID_MAX + 8];
    (void)snprintf(owner, sizeof owner, "lease:%s", leases[i].id);
    for (uint32_t c = 0; strcmp(leases[i].job, job) == 0 && c < r->occupancy->width * r->occupancy->height; c++)
      if (r->occupancy->state[c] == CM_CORE_TAKEN && strcmp(r->occupancy->owners[r->occupancy->owner[c]], owner) == 0)
        r->occupancy->state[c] = CM_CORE_FREE;
    cm_lease_clear(&leases[i]);
  }
  free(leases);
  return CM_OK;
}

static cm_map_input map_input(const running *r)
{
  return (cm_map_input){.topology = r->topology, .network_id = r->job.network, .chip = r->chip,
                        .occupancy = r->occupancy, .options = r->options, .scratch_folder = r->scratch};
}

static cm_status map(running *r, cm_error *error)
{
  cm_level_cache cache = cm_cache_levels(r->store->cache);
  cm_map_input input = map_input(r);
  const char *from = cm_map_options_from(r->options);
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_mapping_row old;
  if (from != NULL) {
    if (cm_mappings_get(r->store, from, &old, error) != CM_OK || free_own_cores(r, old.job, error) != CM_OK ||
        cm_mappings_folder(r->store, from, folder, error) != CM_OK ||
        cm_path(path, error, "%s/%s", folder, cm_mapping_view_name(CM_VIEW_FULL_JSON)) != CM_OK)
      return error->status;
    input.from = path;
  }
  input.cache = &cache;
  return cm_map(&input, &r->run, &r->mapping, error);
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
static void fill_row(running *r, const char *folder)
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

static cm_status write_views(running *r, cm_error *error)
{
  char folder[CM_PATH_MAX];
  cm_map_input input = map_input(r);
  cm_run_phase(&r->run, "write");
  if (cm_path(folder, error, "%s/mapping", r->scratch) != CM_OK ||
      cm_mapping_write_folder(r->mapping, r->topology, r->chip, r->job.network, folder, error) != CM_OK ||
      cm_mapping_write_beside(r->mapping, &input, &r->run, folder, error) != CM_OK)
    return error->status;
  cm_store_id(r->row.id);
  fill_row(r, folder);
  return cm_mappings_place(r->store, folder, r->row.id, error);
}

static cm_status make_scratch(running *r, cm_error *error)
{
  char id[CM_ID_MAX];
  cm_store_id(id);
  if (cm_path(r->scratch, error, "%s/incoming/%s.job", r->store->folder, id) != CM_OK)
    return error->status;
  r->memory.scratch_folder = r->scratch;
  return cm_folder_make(r->scratch, error);
}

/* ---- compile jobs: a model in, a program out ---- */

static cm_status read_compile_options(running *r, cm_compile_options *options, cm_error *error)
{
  json_t *json = json_loads(r->job.options, 0, NULL);
  cm_status status = cm_compile_options_read(json, options, error);
  uint64_t server_limit = r->all->options.memory_limit;
  json_decref(json);
  if (status != CM_OK)
    return status;
  if (options->threads > r->all->options.threads)
    options->threads = r->all->options.threads;
  if (server_limit != 0 && (options->memory_limit == 0 || options->memory_limit > server_limit))
    options->memory_limit = server_limit;
  return CM_OK;
}

static cm_status write_program(running *r, const char *folder, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  if (cm_path(path, error, "%s/report.json", folder) != CM_OK || cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (json_dumpf(r->compiled, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
    cm_file_discard(&file);
    return cm_fail(error, CM_DISK_FULL, "cannot write %s", path);
  }
  if (cm_file_commit(&file, error) != CM_OK)
    return error->status;
  cm_store_id(r->row.id);
  fill_row(r, folder);
  return cm_mappings_place(r->store, folder, r->row.id, error);
}

/* The file of a program's folder that a compilation ends in. */
static const char *compiled_name(cm_compile_stage last)
{
  switch (last) {
  case CM_STAGE_SPLIT:
  case CM_STAGE_ORDER: return "pieces.json";
  case CM_STAGE_TILE: return "tiles.zip";
  case CM_STAGE_PROGRAM: return "program.bin";
  case CM_STAGE_MAPPING: return "mapping.json";
  default: return "model.onnx";
  }
}

static cm_status compile(running *r, cm_error *error)
{
  cm_compile_options options;
  char model[CM_PATH_MAX], folder[CM_PATH_MAX], out[CM_PATH_MAX], timeline[CM_PATH_MAX], tiles[CM_PATH_MAX],
      mapping[CM_PATH_MAX];
  if (read_compile_options(r, &options, error) != CM_OK || make_scratch(r, error) != CM_OK ||
      (r->job.chip[0] != '\0' &&
       cm_occupancy_open(r->store, r->job.chip, &r->chip, &r->occupancy, error) != CM_OK) ||
      cm_networks_path(r->store, r->job.network, model, error) != CM_OK ||
      cm_path(folder, error, "%s/program", r->scratch) != CM_OK || cm_folder_make(folder, error) != CM_OK ||
      cm_path(out, error, "%s/%s", folder,
              compiled_name(cm_compile_last_stage(&options, r->chip))) != CM_OK ||
      cm_path(timeline, error, "%s/schedule.json", folder) != CM_OK ||
      cm_path(tiles, error, "%s/tiles.zip", folder) != CM_OK ||
      cm_path(mapping, error, "%s/mapping.json", folder) != CM_OK)
    return error->status;
  options.tiles = tiles;
  options.mapping = mapping;
  options.scratch_folder = r->scratch;
  if (cm_compile(model, &options, r->chip, &r->run, out, timeline, &r->compiled, error) != CM_OK)
    return error->status;
  return write_program(r, folder, error);
}

static cm_status work(running *r, cm_error *error)
{
  if (strcmp(r->job.kind, "compile") == 0)
    return compile(r, error);
  if (read_options(r, error) != CM_OK ||
      cm_occupancy_open(r->store, r->job.chip, &r->chip, &r->occupancy, error) != CM_OK ||
      look_for_twin(r, error) != CM_OK || r->deferred || r->reused[0] != '\0')
    return r->deferred || r->reused[0] != '\0' ? CM_OK : error->status;
  if (make_scratch(r, error) != CM_OK || load_network(r, error) != CM_OK || map(r, error) != CM_OK)
    return error->status;
  return write_views(r, error);
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

static char *report_text(const running *r)
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

static bool cancel_was_asked(running *r)
{
  cm_error ignored;
  cm_job now;
  if (cm_jobs_get(r->store, r->job.id, &now, &ignored) != CM_OK)
    return false;
  cm_job_clear(&now);
  return now.cancel_requested;
}

/* Commits a result. CM_CONFLICT with *taken: the region is no longer free. */
static cm_status commit(running *r, cm_job_state state, const cm_error *why, bool *taken, cm_error *error)
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

static void remove_views(running *r)
{
  cm_error ignored;
  char folder[CM_PATH_MAX];
  if (r->row.id[0] != '\0' && cm_mappings_folder(r->store, r->row.id, folder, &ignored) == CM_OK)
    (void)cm_folder_remove(folder, &ignored);
}

/* Ends the job one way or another. When not even that can be written (a full disk), it is tried again, so that the
 * job does not stay running for ever; a stop of the server leaves it to the next start. */
static void end_job(running *r, cm_status status, const cm_error *why)
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

static void run_job(cm_workers *all, cm_job *job)
{
  running *r = calloc(1, sizeof *r);
  cm_error error = {0}, ignored;
  if (r == NULL) {
    (void)cm_jobs_requeue(all->options.store, job, false, &ignored);
    cm_job_clear(job);
    return;
  }
  r->all = all;
  r->store = all->options.store;
  r->job = *job;
  cm_memory_init(&r->memory, 0);
  cm_run_init(&r->run);
  r->run.memory = &r->memory;
  r->run.on_progress = on_progress;
  r->run.user = r;
  r->run.cancel = cm_board_cancel_flag(r->store->board, job->id);
  cm_board_log(r->store->board, job->id, "attempt %d: %s network %.12s%s%s", job->attempt, job->kind,
               job->network, job->chip[0] != '\0' ? " on chip " : "", job->chip);
  cm_status status = work(r, &error);
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
  cm_map_options_free(r->options);
  cm_job_clear(&r->job);
  free(r);
}

/* ---- the threads ---- */

static void *loop(void *argument)
{
  worker *me = argument;
  cm_workers *all = me->all;
  cm_error error;
  pthread_mutex_lock(&all->lock);
  while (!all->stopping) {
    uint64_t seen = all->wakes;
    cm_job job;
    bool found = false;
    pthread_mutex_unlock(&all->lock);
    (void)cm_jobs_claim(all->options.store, &job, &found, &error);
    pthread_mutex_lock(&all->lock);
    if (!found) {
      /* Usually woken; the time-out covers a claim that failed for want of disk or memory. */
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_sec += 2;
      if (seen == all->wakes && !all->stopping)
        (void)pthread_cond_timedwait(&all->changed, &all->lock, &until);
      continue;
    }
    memcpy(me->job, job.id, sizeof me->job);
    if (all->stopping) /* the stop may have looked before this job was noted */
      cm_board_cancel(all->options.store->board, job.id);
    pthread_mutex_unlock(&all->lock);
    run_job(all, &job);
    pthread_mutex_lock(&all->lock);
    me->job[0] = '\0';
    all->wakes++; /* identical jobs may wait for this one */
    pthread_cond_broadcast(&all->changed);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

cm_status cm_workers_start(const cm_workers_options *options, cm_workers **workers, cm_error *error)
{
  cm_workers *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while starting the workers");
  made->options = *options;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  for (; made->count < options->workers && made->count < WORKERS_MAX; made->count++) {
    worker *w = &made->worker[made->count];
    w->all = made;
    if (pthread_create(&w->thread, NULL, loop, w) != 0) {
      cm_workers_free(made);
      return cm_fail(error, CM_NO_MEMORY, "a worker thread cannot be started");
    }
  }
  *workers = made;
  return CM_OK;
}

void cm_workers_wake(cm_workers *workers)
{
  pthread_mutex_lock(&workers->lock);
  workers->wakes++;
  pthread_cond_broadcast(&workers->changed);
  pthread_mutex_unlock(&workers->lock);
}

static bool any_busy(const cm_workers *workers)
{
  for (unsigned i = 0; i < workers->count; i++)
    if (workers->worker[i].job[0] != '\0')
      return true;
  return false;
}

void cm_workers_stop(cm_workers *workers, double grace)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += (time_t)grace;
  pthread_mutex_lock(&workers->lock);
  workers->stopping = true;
  pthread_cond_broadcast(&workers->changed);
  while (any_busy(workers) && pthread_cond_timedwait(&workers->changed, &workers->lock, &until) == 0)
    ;
  for (unsigned i = 0; i < workers->count; i++)
    if (workers->worker[i].job[0] != '\0')
      cm_board_cancel(workers->options.store->board, workers->worker[i].job);
  pthread_mutex_unlock(&workers->lock);
  for (unsigned i = 0; i < workers->count; i++)
    pthread_join(workers->worker[i].thread, NULL);
  workers->count = 0;
}

void cm_workers_free(cm_workers *workers)
{
  if (workers == NULL)
    return;
  cm_workers_stop(workers, 0);
  pthread_mutex_destroy(&workers->lock);
  pthread_cond_destroy(&workers->changed);
  free(workers);
}
