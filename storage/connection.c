/* Happy path: the first connection examines the database before anything in it changes, and brings its schema up to date; later ones only
 * set what each needs. What can fail: a database that is not ours, of a newer version, empty where it must not be, or damaged (left as it
 * was). */
#include "storage/connection.h"

#include "storage/schema.h"

static cm_status check_pages(sqlite3 *handle, const char *path, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "PRAGMA quick_check(1)", "");
  const char *damage = NULL;
  if (cm_sql_next(statement, &status, error))
    status = cm_sql_verdict(statement, &damage, error);
  if (damage != NULL)
    status = cm_fail(error, CM_DAMAGED, "the database %s is damaged (%.300s); restore it from a backup", path, damage);
  sqlite3_finalize(statement);
  return status;
}

/* Looks at a database before anything in it changes: it must be ours, of a version that is known, and not empty when it
 * must exist. */
static cm_status examine(sqlite3 *handle, const char *path, bool must_exist, cm_error *error)
{
  int64_t version, tables, ours;
  CM_TRY(cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", ""));
  CM_TRY(cm_sql_number(handle, 0, &tables, error, "SELECT count(*) FROM sqlite_master", ""));
  CM_TRY(cm_sql_number(handle, 0, &ours, error, "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                       " AND name IN ('networks', 'jobs', 'mappings', 'meta')", ""));
  if (tables > 0 && (version < 1 || ours != 4))
    return cm_fail(error, CM_CONFLICT, "%s is not coremapd's database; name another folder with --data", path);
  if (tables == 0 && must_exist)
    return cm_fail(error, CM_CONFLICT,
                   "%s is empty, and files beside it belong to a database; restore it from a backup, or name another "
                   "folder with --data", path);
  if (tables > 0 && check_pages(handle, path, error) != CM_OK)
    return error->status;
  if (version > cm_schema_version)
    return cm_fail(error, CM_CONFLICT,
                   "%s was written by a newer version (schema %lld, this program knows %d); start that version, or name "
                   "another folder with --data", path, (long long)version, cm_schema_version);
  return CM_OK;
}

void cm_connection_close(cm_connection *c)
{
  cm_statements_free(c->statements);
  sqlite3_close_v2(c->handle);
  *c = (cm_connection){0};
}

cm_status cm_connection_open(const char *path, bool check, bool must_exist, cm_connection *connection, cm_error *error)
{
  sqlite3 *made = NULL;
  int code = sqlite3_open_v2(path, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                             NULL);
  cm_status status = code == SQLITE_OK ? CM_OK : cm_sql_fail(made, code, "open", error);
  if (status == CM_OK) {
    sqlite3_extended_result_codes(made, 1);
    sqlite3_busy_timeout(made, 10000);
    status = check ? examine(made, path, must_exist, error) : CM_OK;
  }
  CM_THEN(status, cm_sql_execute(made, "PRAGMA journal_mode=WAL", error));
  CM_THEN(status, cm_sql_execute(made, "PRAGMA synchronous=FULL", error));
  CM_THEN(status, cm_sql_execute(made, "PRAGMA foreign_keys=ON", error));
  /* What undoes a statement stays in memory: a write then needs no descriptor. */
  CM_THEN(status, cm_sql_execute(made, "PRAGMA temp_store=MEMORY", error));
  CM_END(status, (*connection = (cm_connection){made, cm_statements_make(made)}), sqlite3_close_v2(made));
}

cm_status cm_connection_upgrade(sqlite3 *handle, cm_error *error)
{
  int64_t version;
  CM_TRY(cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", ""));
  for (; version < cm_schema_version; version++) {
    char stamp[64];
    (void)snprintf(stamp, sizeof stamp, "PRAGMA user_version = %lld", (long long)version + 1);
    CM_TRY(cm_sql_execute(handle, "BEGIN IMMEDIATE", error));
    CM_TRY(cm_sql_execute(handle, cm_schema_steps[version], error));
    CM_TRY(cm_sql_execute(handle, stamp, error));
    CM_TRY(cm_sql_execute(handle, "COMMIT", error));
  }
  return CM_OK;
}

cm_status cm_connection_check_version(sqlite3 *handle, const char *path, cm_error *error)
{
  int64_t version;
  CM_TRY(cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", ""));
  return version == cm_schema_version
             ? CM_OK
             : cm_fail(error, CM_CONFLICT, "%s is of an earlier release (schema %lld, this program's is %d), and a server of"
                       " that release works on it; stop it, or use its own coremapd", path, (long long)version,
                       cm_schema_version);
}
