#include "storage/monitor.h"

#include <math.h>

#include "base/hold.h"
#include "storage/internal.h"

enum { SERIES_MAX = 64 };

const double cm_request_bounds[CM_DURATION_BOUNDS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                       0.25,  0.5,    1,     2.5,  5,     10,   30};
const double cm_job_bounds[CM_DURATION_BOUNDS] = {0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200};

void cm_durations_add(cm_durations *histogram, const double bounds[CM_DURATION_BOUNDS], double seconds)
{
  size_t i = 0;
  while (i < CM_DURATION_BOUNDS && seconds > bounds[i])
    i++;
  atomic_fetch_add(&histogram->bucket[i], 1);
  atomic_fetch_add(&histogram->microseconds, (uint64_t)(fmax(seconds, 0) * 1e6));
}

/* ---- jobs ---- */

struct cm_monitor {
  pthread_mutex_t lock; /* while a series is added */
  cm_job_series *series[SERIES_MAX];
  size_t count;
};

cm_status cm_monitor_start(cm_monitor **monitor, cm_error *error)
{
  cm_monitor *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  pthread_mutex_init(&made->lock, NULL);
  *monitor = made;
  return CM_OK;
}

void cm_monitor_free(cm_monitor *monitor)
{
  if (monitor == NULL)
    return;
  for (size_t i = 0; i < monitor->count; i++)
    free(monitor->series[i]);
  pthread_mutex_destroy(&monitor->lock);
  free(monitor);
}

/* NULL: no memory, or too many. */
static cm_job_series *series_of(cm_monitor *monitor, const cm_job *job)
{
  char preset[24] = "";
  const char *second = strchr(job->likeness, ' ');
  if (second != NULL)
    (void)snprintf(preset, sizeof preset, "%.*s", (int)strcspn(second + 1, " "), second + 1);
  cm_job_series *found = NULL;
  CM_HOLD(&monitor->lock);
  for (size_t i = 0; i < monitor->count && found == NULL; i++)
    if (strcmp(monitor->series[i]->kind, job->kind) == 0 && strcmp(monitor->series[i]->preset, preset) == 0)
      found = monitor->series[i];
  if (found == NULL && monitor->count < SERIES_MAX && (found = calloc(1, sizeof *found)) != NULL) {
    memcpy(found->kind, job->kind, sizeof found->kind);
    memcpy(found->preset, preset, sizeof found->preset);
    monitor->series[monitor->count++] = found;
  }
  return found;
}

void cm_monitor_job_ended(cm_monitor *monitor, const cm_job *job, cm_job_state state, bool own, double seconds)
{
  cm_job_series *series = series_of(monitor, job);
  if (series == NULL)
    return;
  atomic_fetch_add(&series->ended[state], 1);
  atomic_fetch_add(&series->cpu_microseconds, (uint64_t)(fmax(job->cpu_seconds, 0) * 1e6));
  if (state == CM_JOB_DONE && own)
    cm_durations_add(&series->seconds, cm_job_bounds, seconds);
}

const cm_job_series *cm_monitor_jobs(cm_monitor *monitor, size_t number)
{
  CM_HOLD(&monitor->lock);
  return number < monitor->count ? monitor->series[number] : NULL;
}

/* ---- what the database knows ---- */

static cm_status read_lanes(sqlite3 *handle, cm_figures *f, cm_error *error)
{
  /* Of lane ?1: when its oldest job came, jobs that wait, jobs that run. */
  static const char query[] =
      "SELECT (SELECT created FROM jobs INDEXED BY jobs_queued_lane WHERE state = 'queued' AND lane = ?1 ORDER BY sequence LIMIT 1),"
      " (SELECT total(queued) FROM queue_totals WHERE lane = ?1),"
      " (SELECT count(*) FROM jobs INDEXED BY jobs_state WHERE state = 'running' AND lane = ?1 AND kind <> 'sweep')";
  const double now = cm_store_time();
  for (int lane = 0; lane < CM_LANES; lane++) {
    cm_lane_figures *l = &f->lanes[lane];
    double oldest = 0;
    CM_TRY(cm_sql_find(handle, NULL, error, query, "i>ddd", (int64_t)lane, &oldest, &l->queued, &l->running));
    l->age = oldest > 0 ? fmax(now - oldest, 0) : 0;
  }
  return CM_OK;
}

static cm_user_figures *figures_of(cm_figures *f, const char *user)
{
  for (size_t i = f->user_count; i > 0; i--) /* rows come by user: mostly the last one */
    if (strcmp(f->users[i - 1].user, user) == 0)
      return &f->users[i - 1];
  if ((f->user_count & (f->user_count - 1)) == 0) {
    size_t room = f->user_count > 0 ? 2 * f->user_count : 1;
    cm_user_figures *larger = realloc(f->users, room * sizeof *larger);
    if (larger == NULL)
      return NULL;
    f->users = larger;
  }
  cm_user_figures *made = &f->users[f->user_count++];
  memset(made, 0, sizeof *made);
  (void)snprintf(made->user, sizeof made->user, "%s", user);
  return made;
}

static cm_status read_users(sqlite3 *handle, cm_figures *f, cm_error *error)
{
  /* Which figure, of whom, how much; ?1 is now. */
  static const char query[] =
      "SELECT CASE kind WHEN 'networks' THEN 0 WHEN 'mappings' THEN 1 ELSE 2 END, user, bytes FROM stored_totals WHERE kind <> 'bin' UNION ALL"
      " SELECT 3, user, count(*) FROM leases WHERE expires > ?1 GROUP BY user UNION ALL"
      " SELECT 4, u.user, total(u.cores) FROM lease_use u JOIN leases l ON l.id = u.lease WHERE l.expires > ?1 GROUP BY u.user UNION ALL"
      " SELECT 5, user, total(seconds) FROM cpu_use WHERE hour * 3600.0 > ?1 - 86400 GROUP BY user UNION ALL"
      " SELECT 6, user, total(queued) FROM queue_totals GROUP BY user UNION ALL"
      " SELECT 7, user, count(*) FROM jobs INDEXED BY jobs_state WHERE state = 'running' AND kind <> 'sweep' GROUP BY user ORDER BY 2";
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "d", cm_store_time());
  while (cm_sql_next(statement, &status, error)) {
    char user[CM_USER_MAX];
    cm_sql_copy(statement, 1, user, sizeof user);
    cm_user_figures *u = figures_of(f, user);
    status = cm_whole(u != NULL, "what is counted", error);
    if (u == NULL)
      break;
    double *const figures[] = {&u->network_bytes, &u->mapping_bytes, &u->upload_bytes, &u->leases, &u->leased_cores,
                               &u->cpu_seconds, &u->queued, &u->running};
    *figures[sqlite3_column_int(statement, 0)] = sqlite3_column_double(statement, 2);
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_figures_read(cm_store *store, cm_figures *figures, cm_error *error)
{
  cm_reading r;
  cm_figures made = {0};
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, read_lanes(r.handle, &made, error));
  CM_THEN(status, read_users(r.handle, &made, error));
  status = cm_reading_end(&r, status);
  CM_END(status, *figures = made, free(made.users));
}
