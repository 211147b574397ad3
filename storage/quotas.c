#include "storage/quotas.h"

#include <math.h>
#include <time.h>

#include "storage/internal.h"
#include "storage/ledger.h"

static const char *const names[CM_QUOTAS] = {"bytes", "networks", "queued", "running", "core_hours", "cpu_seconds"};
const cm_limit_kind cm_quota_kind = {.table = "quotas", .column = "quota", .names = names, .count = CM_QUOTAS, .groups = true, .zero = true};

static const double day_s = 86400, week_s = 7 * 86400, hour_s = 3600;

/* What each quota counts, over the rows whose user is in WHO; ?2 is the time from which use counts. Then the time at which the
 * first of it stops counting, where time frees it. */
/* Things that they own beside others, in whose totals they stand. */
#define SHARED(table) table " WHERE id IN (SELECT thing FROM owners WHERE " WHO ") AND NOT " WHO
#define WHO "user IN (SELECT ?1 WHERE ?3 = 0 UNION ALL SELECT name FROM users WHERE ?3 = 1 AND team = ?1)"
static const struct {
  const char *use, *oldest, *frees;
  double window;
} counted[CM_QUOTAS] = {
  [CM_QUOTA_BYTES] = {"SELECT (SELECT total(bytes) FROM stored_totals WHERE " WHO ") + (SELECT total(bytes) FROM " SHARED("networks")
                      ") + (SELECT total(bytes) FROM " SHARED("mappings") ") + 0 * ?2", NULL,
                      "it frees when networks, mappings or programs are deleted and the bin is emptied", 0},
  [CM_QUOTA_NETWORKS] = {"SELECT (SELECT total(things) FROM stored_totals WHERE kind = 'networks' AND " WHO ") + (SELECT count(*) FROM "
                         SHARED("networks") ") + 0 * ?2", NULL, "it frees when networks are deleted", 0},
  [CM_QUOTA_QUEUED] = {"SELECT total(queued) + 0 * ?2 FROM queue_totals WHERE " WHO, NULL, "it frees when a job starts", 0},
  [CM_QUOTA_RUNNING] = {"SELECT count(*) + 0 * ?2 FROM jobs INDEXED BY jobs_state WHERE state = 'running' AND kind <> 'sweep' AND " WHO, NULL,
                        "it frees when a job ends", 0},
  [CM_QUOTA_CORE_HOURS] = {"SELECT total(cores * (ends - max(began, ?2))) / 3600 FROM lease_use WHERE ends > ?2 AND " WHO,
                           "SELECT min(began) FROM lease_use WHERE ends > ?2 AND " WHO, NULL, 7 * 86400},
  [CM_QUOTA_CPU_SECONDS] = {"SELECT total(seconds) FROM cpu_use WHERE hour * 3600.0 > ?2 AND " WHO,
                            "SELECT min(hour) * 3600.0 FROM cpu_use WHERE hour * 3600.0 > ?2 AND " WHO, NULL, 86400},
};

/* A user or a group. */
typedef struct holder {
  const char *name;
  bool group;
} holder;

/* A number; *value stays where it is NULL. */
static cm_status read_real(sqlite3 *handle, const char *sql, holder who, double since, double *value, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, sql, "tdi", who.name, since, (int64_t)who.group);
  if (cm_sql_next(statement, &status, error) && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    *value = sqlite3_column_double(statement, 0);
  return cm_sql_end(statement, status, error);
}

static cm_status limit_of(sqlite3 *handle, holder who, cm_quota quota, double *most, cm_error *error)
{
  *most = -1;
  return cm_sql_find(handle, NULL, error, "SELECT most FROM quotas WHERE is_group = ? AND name IN (?, '*') AND quota = ? ORDER BY name = '*' LIMIT 1",
                     "itt>d", (int64_t)who.group, who.name, names[quota], most);
}

static double since(cm_quota quota)
{
  return counted[quota].window > 0 ? cm_store_time() - counted[quota].window : 0;
}

static cm_status use_of(sqlite3 *handle, holder who, cm_quota quota, double *use, cm_error *error)
{
  *use = 0;
  return read_real(handle, counted[quota].use, who, since(quota), use, error);
}

static cm_status group_of(sqlite3 *handle, const char *user, char group[CM_USER_MAX], cm_error *error)
{
  group[0] = '\0';
  return cm_sql_find(handle, NULL, error, "SELECT team FROM users WHERE name = ?", "t>t", user, group, (size_t)CM_USER_MAX);
}

/* What is used of a quota, what is asked for, and how much there may be. */
typedef struct balance {
  double use, more, most;
} balance;

static cm_status refuse(sqlite3 *handle, holder who, cm_quota quota, balance b, cm_error *error)
{
  char frees[80];
  double oldest = cm_store_time();
  if (counted[quota].oldest != NULL) {
    CM_TRY(read_real(handle, counted[quota].oldest, who, since(quota), &oldest, error));
    time_t when = (time_t)ceil(fmax(oldest, since(quota)) + counted[quota].window);
    struct tm parts;
    if (gmtime_r(&when, &parts) == NULL || strftime(frees, sizeof frees, "it frees bit by bit from %Y-%m-%dT%H:%M:%SZ on", &parts) == 0)
      (void)snprintf(frees, sizeof frees, "it frees with time");
  }
  cm_fail(error, CM_QUOTA_USED, "%s \"%s\" has used %.10g of the quota %s = %.10g%s%.0f%s; %s", who.group ? "group" : "user",
          who.name, b.use, names[quota], b.most, b.more > 0 ? ", and this takes " : " (",
          b.more > 0 ? ceil(b.more) : 100 * b.use / fmax(b.most, 1), b.more > 0 ? "" : " %)",
          counted[quota].frees != NULL ? counted[quota].frees : frees);
  cm_error_figure(error, "use", (uint64_t)b.use);
  cm_error_figure(error, "quota", (uint64_t)b.most);
  return CM_QUOTA_USED;
}

static cm_status check_one(sqlite3 *handle, holder who, cm_quota quota, double more, cm_error *error)
{
  balance b = {.more = more};
  CM_TRY(limit_of(handle, who, quota, &b.most, error));
  if (b.most < 0)
    return CM_OK;
  CM_TRY(use_of(handle, who, quota, &b.use, error));
  return b.use + more > b.most || (more <= 0 && b.use >= b.most) ? refuse(handle, who, quota, b, error) : CM_OK;
}

cm_status cm_quota_check_in(sqlite3 *handle, const char *user, cm_quota quota, double more, cm_error *error)
{
  char group[CM_USER_MAX];
  int64_t some;
  if (user[0] == '\0')
    return CM_OK;
  CM_TRY(cm_sql_number(handle, 0, &some, error, "SELECT EXISTS (SELECT 1 FROM quotas WHERE quota = ?)", "t", names[quota]));
  if (some == 0)
    return CM_OK;
  CM_TRY(check_one(handle, (holder){user, false}, quota, more, error));
  CM_TRY(group_of(handle, user, group, error));
  return group[0] != '\0' ? check_one(handle, (holder){group, true}, quota, more, error) : CM_OK;
}

cm_status cm_quota_holds_in(sqlite3 *handle, const char *user, bool *holds, cm_error *error)
{
  int64_t disabled;
  CM_TRY(cm_sql_number(handle, 0, &disabled, error, "SELECT count(*) FROM users WHERE name = ? AND disabled", "t", user));
  cm_status status = disabled != 0 ? CM_QUOTA_USED : cm_quota_check_in(handle, user, CM_QUOTA_RUNNING, 1, error);
  if (status != CM_OK && status != CM_QUOTA_USED)
    return status;
  *holds = status == CM_QUOTA_USED;
  return CM_OK;
}

/* ---- what is used in a time ---- */

cm_status cm_quota_note_cpu_in(sqlite3 *handle, const char *user, double seconds, cm_error *error)
{
  int64_t hour = (int64_t)(cm_store_time() / hour_s);
  if (!(seconds > 0))
    return CM_OK;
  if (cm_sql_run(handle, NULL, error, "INSERT INTO cpu_use(user, hour, seconds) VALUES(?, ?, ?) ON CONFLICT(user, hour) DO"
                 " UPDATE SET seconds = seconds + excluded.seconds", "tid", user, hour, seconds) != CM_OK ||
      cm_ledger_note_cpu_in(handle, user, seconds, error) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error, "DELETE FROM cpu_use WHERE user = ? AND hour < ?", "ti", user,
                    hour - (int64_t)(2 * day_s / hour_s));
}

typedef struct cpu_work {
  const char *user;
  double seconds;
} cpu_work;

static cm_status note_cpu(sqlite3 *handle, void *context, cm_error *error)
{
  const cpu_work *work = context;
  return cm_quota_note_cpu_in(handle, work->user, work->seconds, error);
}

cm_status cm_quota_check_cpu(cm_database *database, const char *user, cm_error *error)
{
  cm_reading r;
  if (user[0] == '\0')
    return CM_OK;
  cm_status status = cm_reading_begin(database, false, &r, error);
  CM_THEN(status, cm_quota_check_in(r.handle, user, CM_QUOTA_CPU_SECONDS, 0, error));
  return cm_reading_end(&r, status);
}

cm_status cm_quota_note_cpu(cm_database *database, const char *user, double seconds, cm_error *error)
{
  return user[0] != '\0' ? cm_database_write(database, note_cpu, &(cpu_work){user, seconds}, error) : CM_OK;
}

cm_status cm_quota_note_lease_in(sqlite3 *handle, const char *lease, const char *user, uint64_t cores, double ends,
                                 cm_error *error)
{
  double now = cm_store_time();
  if (cm_sql_run(handle, NULL, error, "INSERT INTO lease_use(lease, user, cores, began, ends) VALUES(?, ?, ?, ?, ?)"
                 " ON CONFLICT(lease) DO UPDATE SET ends = excluded.ends", "ttidd", lease, user, (int64_t)cores, now, ends) != CM_OK)
    return error->status;
  return cm_ledger_close_leases_in(handle, now - week_s, error);
}

/* ---- showing ---- */

static cm_status read_use(sqlite3 *handle, const char *user, cm_quota_use *use, cm_error *error)
{
  char group[CM_USER_MAX];
  CM_TRY(group_of(handle, user, group, error));
  for (cm_quota i = 0; i < CM_QUOTAS; i++) {
    use->group_use[i] = 0;
    use->group_max[i] = -1;
    CM_TRY(use_of(handle, (holder){user, false}, i, &use->use[i], error));
    CM_TRY(limit_of(handle, (holder){user, false}, i, &use->most[i], error));
    if (group[0] == '\0')
      continue;
    CM_TRY(use_of(handle, (holder){group, true}, i, &use->group_use[i], error));
    CM_TRY(limit_of(handle, (holder){group, true}, i, &use->group_max[i], error));
  }
  return CM_OK;
}

cm_status cm_quotas_use(cm_database *database, const char *user, cm_quota_use *use, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(database, false, &r, error);
  CM_THEN(status, read_use(r.handle, user, use, error));
  return cm_reading_end(&r, status);
}
