/* The stored clock: what the wall clock was moved by is taken over where ends are stored. */
#include "storage/clock.h"

#include <math.h>

#include "storage/log.h"

static cm_status start(sqlite3 *handle, CM_UNUSED void *context, cm_error *error)
{
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM clock", ""));
  return cm_sql_run(handle, NULL, error, "INSERT INTO clock(offset) VALUES(?)", "d", cm_store_time() - cm_clock_steady());
}

cm_status cm_clock_start(cm_store *store, cm_error *error)
{
  return cm_database_write(store->database, start, NULL, error);
}

/* By how much the wall clock is ahead of the time that stored ends are compared with. */
static cm_status read_step(sqlite3 *handle, double *step, cm_error *error)
{
  return cm_sql_find(handle, NULL, error, "SELECT ?1 - " CM_NOW("?2"), "dd>d", cm_store_time(), cm_clock_steady(), step);
}

static cm_status move(sqlite3 *handle, void *context, cm_error *error)
{
  static const char *const moved[] = {
    "UPDATE clock SET offset = offset + ?", "UPDATE leases SET expires = expires + ?",
    "UPDATE lease_use SET began = began + ?1, ends = ends + ?1 WHERE lease IN (SELECT id FROM leases)",
    "UPDATE jobs INDEXED BY jobs_retry SET retry_at = retry_at + ? WHERE retry_at IS NOT NULL"};
  double step = 0;
  CM_TRY(read_step(handle, &step, error));
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
    CM_TRY(cm_sql_run(handle, NULL, error, moved[i], "d", step));
  *(double *)context = step;
  return CM_OK;
}

cm_status cm_clock_follow(cm_store *store, cm_error *error)
{
  double step = 0;
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, read_step(r.handle, &step, error));
  CM_TRY(cm_reading_end(&r, status));
  if (fabs(step) <= 1)
    return CM_OK;
  CM_TRY(cm_database_write(store->database, move, &step, error));
  cm_log("the wall clock was set by %+.0f s: leases and retries keep the time that they have left", step);
  return CM_OK;
}
