#include "storage/usage.h"

#include <math.h>

static const double half_life_default = 86400, lead_ms = 3600e3;

cm_status cm_usage_set_half_life(cm_store *store, double seconds, cm_error *error)
{
  return cm_database_run(store->database, NULL, error, "INSERT INTO meta(name, value) VALUES('half_life', ?) ON CONFLICT(name) DO UPDATE"
                         " SET value = excluded.value", "i", (int64_t)seconds);
}

cm_status cm_usage_half_life_in(sqlite3 *handle, double *seconds, cm_error *error)
{
  int64_t value;
  CM_TRY(cm_sql_number(handle, (int64_t)half_life_default, &value, error, "SELECT value FROM meta WHERE name = 'half_life'", ""));
  *seconds = (double)value;
  return CM_OK;
}

double cm_usage_faded(double amount_ms, double age, double half_life)
{
  return age > 0 ? amount_ms * exp2(-age / half_life) : amount_ms;
}

/* The use of a user as of now. */
static cm_status read(sqlite3 *handle, const char *user, double now, double *ms, cm_error *error)
{
  double half_life = half_life_default, amount = 0, at = now;
  CM_TRY(cm_usage_half_life_in(handle, &half_life, error));
  CM_TRY(cm_sql_find(handle, NULL, error, "SELECT amount_ms, at FROM usage WHERE user = ?", "t>dd", user, &amount, &at));
  *ms = cm_usage_faded(amount, now - at, half_life);
  return CM_OK;
}

static cm_status write(sqlite3 *handle, const char *user, double now, double ms, cm_error *error)
{
  return cm_sql_run(handle, NULL, error, "INSERT INTO usage(user, amount_ms, at) VALUES(?, ?, ?) ON CONFLICT(user) DO UPDATE"
                    " SET amount_ms = excluded.amount_ms, at = excluded.at", "tdd", user, ms, now);
}

cm_status cm_usage_charge_in(sqlite3 *handle, const char *user, double ms, cm_error *error)
{
  double now = cm_store_time(), had;
  CM_TRY(read(handle, user, now, &had, error));
  return write(handle, user, now, fmax(had + ms, 0), error);
}

/* The least use for a share among the users who have queued jobs, in milliseconds; *any: there are some. */
static cm_status least_use(sqlite3 *handle, bool *any, double *least_ms, cm_error *error)
{
  sqlite3_stmt *statement;
  double half_life = half_life_default, now = cm_store_time(), least = INFINITY;
  CM_TRY(cm_usage_half_life_in(handle, &half_life, error));
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT (SELECT amount_ms FROM usage u WHERE u.user = t.user),"
                                    " (SELECT at FROM usage u WHERE u.user = t.user), coalesce((SELECT share FROM users p WHERE p.name = t.user), 1)"
                                    " FROM (SELECT DISTINCT user FROM queue_totals) t", "");
  while (cm_sql_next(statement, &status, error)) {
    double ms = cm_usage_faded(sqlite3_column_double(statement, 0), now - sqlite3_column_double(statement, 1), half_life);
    least = fmin(least, ms / (double)sqlite3_column_int64(statement, 2));
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK) {
    *any = isfinite(least);
    *least_ms = least;
  }
  return status;
}

cm_status cm_usage_enter_in(sqlite3 *handle, const char *user, cm_error *error)
{
  double now = cm_store_time(), had, least;
  int64_t busy, share;
  bool others;
  if (cm_sql_number(handle, 0, &busy, error, "SELECT EXISTS (SELECT 1 FROM queue_totals WHERE user = ?1) OR EXISTS"
                    " (SELECT 1 FROM jobs INDEXED BY jobs_state WHERE state = 'running' AND user = ?1)", "t", user) != CM_OK)
    return error->status;
  if (busy != 0)
    return CM_OK;
  CM_TRY(least_use(handle, &others, &least, error));
  if (!others)
    return CM_OK;
  CM_TRY(cm_sql_number(handle, 1, &share, error, "SELECT share FROM users WHERE name = ?", "t", user));
  CM_TRY(read(handle, user, now, &had, error));
  double from = (least - lead_ms) * (double)share;
  return from > had ? write(handle, user, now, from, error) : CM_OK;
}
