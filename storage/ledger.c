#include "storage/ledger.h"

#include "storage/internal.h"

/* Table `part`: each month's part of the leases, as of ?1, for which a condition holds; one that a clock set back has not begun yet has
 * none. */
#define NEXT(month) "unixepoch(" month ", 'unixepoch', '+1 month')"
#define PARTS(condition) \
  "WITH RECURSIVE part(user, cores, began, ends, start) AS (" \
  " SELECT user, cores, began, min(ends, ?1), unixepoch(began, 'unixepoch', 'start of month') FROM lease_use" \
  " WHERE began < min(ends, ?1) AND " condition \
  " UNION ALL SELECT user, cores, began, ends, " NEXT("start") " FROM part WHERE " NEXT("start") " < ends)"
#define MONTH_OF(time) "strftime('%Y-%m', " time ", 'unixepoch')"
#define PART_MONTH MONTH_OF("start")
#define PART_SECONDS "cores * (min(ends, " NEXT("start") ") - max(began, start))"
#define CLOSE(condition) \
  "INSERT INTO ledger(user, month, core_seconds) " PARTS(condition) " SELECT user, " PART_MONTH ", sum(" PART_SECONDS ") FROM part" \
  " WHERE true GROUP BY 1, 2 ON CONFLICT(user, month) DO UPDATE SET core_seconds = core_seconds + excluded.core_seconds"

bool cm_ledger_is_month(const char *text)
{
  if (strlen(text) != 7 || strspn(text, "0123456789") != 4 || text[4] != '-' || strspn(text + 5, "0123456789") != 2)
    return false;
  const int month = 10 * (text[5] - '0') + text[6] - '0';
  return month >= 1 && month <= 12;
}

cm_status cm_ledger_note_cpu_in(sqlite3 *handle, const char *user, double seconds, cm_error *error)
{
  return cm_sql_run(handle, NULL, error, "INSERT INTO ledger(user, month, cpu_seconds) VALUES(?1, " MONTH_OF("?2") ", ?3)"
                    " ON CONFLICT(user, month) DO UPDATE SET cpu_seconds = cpu_seconds + excluded.cpu_seconds", "tdd", user,
                    cm_store_time(), seconds);
}

cm_status cm_ledger_close_leases_in(sqlite3 *handle, double before, cm_error *error)
{
  CM_TRY(cm_sql_run(handle, NULL, error, CLOSE("ends < ?2"), "dd", cm_store_time(), before));
  return cm_sql_run(handle, NULL, error, "DELETE FROM lease_use WHERE ends < ?", "d", before);
}

cm_status cm_ledger_remove_user_in(sqlite3 *handle, const char *user, cm_error *error)
{
  const double now = cm_store_time();
  CM_TRY(cm_sql_run(handle, NULL, error, CLOSE("user = ?2"), "dt", now, user));
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE lease_use SET user = '', began = ?1 WHERE user = ?2 AND began < ?1 AND ends > ?1", "dt", now, user));
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM lease_use WHERE user = ?", "t", user));
  CM_TRY(cm_sql_run(handle, NULL, error, "INSERT INTO ledger SELECT user || ' (removed)', month, core_seconds, cpu_seconds, bytes FROM ledger"
                    " WHERE user = ? ON CONFLICT(user, month) DO UPDATE SET core_seconds = core_seconds + excluded.core_seconds,"
                    " cpu_seconds = cpu_seconds + excluded.cpu_seconds, bytes = coalesce(excluded.bytes, bytes)", "t", user));
  return cm_sql_run(handle, NULL, error, "DELETE FROM ledger WHERE user = ?", "t", user);
}

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_ledger_row *r = element;
  CM_TRY(cm_sql_columns(row, error, "ttddu", CM_INTO(r->month), CM_INTO(r->user), &r->core_hours, &r->cpu_seconds, &r->bytes));
  r->core_hours /= 3600;
  return CM_OK;
}

/* Of months in which nothing of what one stores has changed, the bytes are those of the last one before. */
static const cm_row_kind rows_of = {
    "dtt", PARTS("(?3 IS NULL OR user = ?3)")
    ", used(user, month, core_seconds, cpu_seconds) AS ("
    " SELECT user, month, core_seconds, cpu_seconds FROM ledger WHERE ?3 IS NULL OR user = ?3"
    " UNION ALL SELECT user, " PART_MONTH ", " PART_SECONDS ", 0 FROM part),"
    " span(first, last) AS (SELECT max(coalesce(?2, ''), min(month)), max(" MONTH_OF("?1") ", max(month)) FROM used),"
    " months(month) AS (SELECT first FROM span WHERE first <= last UNION ALL"
    " SELECT strftime('%Y-%m', month || '-01', '+1 month') FROM months, span WHERE month < last)"
    " SELECT m.month, u.user, total(used.core_seconds) AS cores, total(used.cpu_seconds) AS cpu, coalesce((SELECT bytes FROM ledger l"
    " WHERE l.user = u.user AND l.month <= m.month AND l.bytes IS NOT NULL ORDER BY l.month DESC LIMIT 1), 0) AS stored"
    " FROM months m CROSS JOIN (SELECT DISTINCT user FROM used) u LEFT JOIN used ON used.user = u.user AND used.month = m.month"
    " GROUP BY 1, 2 HAVING cores > 0 OR cpu > 0 OR stored > 0 ORDER BY 1, 2",
    "the list of the ledger", sizeof(cm_ledger_row), from_row, NULL};

cm_status cm_ledger_list(cm_database *database, const char *since, const char *user, cm_ledger_row **rows, size_t *count, cm_error *error)
{
  return cm_database_list(database, &rows_of, rows, count, error, cm_store_time(), since, user);
}
