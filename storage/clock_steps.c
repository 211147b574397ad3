/* The stored clock: what the wall clock was moved by is taken over where ends are stored. */
#include "storage/clock.h"

#include <math.h>

#include "storage/log.h"

static cm_status start(sqlite3 *handle, void *context, cm_error *error)
{
  (void)context;
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM clock", ""));
  return cm_sql_run(handle, NULL, error, "INSERT INTO clock(offset) VALUES(?)", "d", cm_store_time() - cm_clock_steady());
}

cm_status cm_clock_start(cm_store *store, cm_error *error)
{
  return cm_database_write(store->database, start, NULL, error);
}

/* By how much the wall clock is ahead of the time that stored ends are compared with. */
static cm_status read_step(sqlite3 *handle, void *context, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT ?1 - " CM_NOW("?2"), "dd", cm_store_time(),
                                    cm_clock_steady());
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK)
    *(double *)context = sqlite3_column_double(statement, 0);
  return cm_sql_end(statement, status, error);
}

static cm_status move(sqlite3 *handle, void *context, cm_error *error)
{
  double step;
  CM_TRY(read_step(handle, &step, error));
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE clock SET offset = offset + ?", "d", step));
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE leases SET expires = expires + ?", "d", step));
  CM_TRY(cm_sql_run(handle, NULL, error,
                    "UPDATE lease_use SET began = began + ?1, ends = ends + ?1 WHERE lease IN (SELECT id FROM leases)", "d",
                    step));
  CM_TRY(cm_sql_run(handle, NULL, error,
                    "UPDATE jobs INDEXED BY jobs_retry SET retry_at = retry_at + ? WHERE retry_at IS NOT NULL", "d", step));
  *(double *)context = step;
  return CM_OK;
}

cm_status cm_clock_follow(cm_store *store, cm_error *error)
{
  double step;
  CM_TRY(cm_database_read(store->database, read_step, &step, error));
  if (fabs(step) <= 1)
    return CM_OK;
  CM_TRY(cm_database_write(store->database, move, &step, error));
  cm_log("the wall clock was set by %+.0f s: leases and retries keep the time that they have left", step);
  return CM_OK;
}
