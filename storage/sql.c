/* Statements: what closures on the database use. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "storage/database.h"
#include "storage/internal.h"

cm_status cm_sql_fail(sqlite3 *handle, int code, const char *what, cm_error *error)
{
  int kind = code & 0xff;
  cm_status status = kind == SQLITE_FULL         ? CM_DISK_FULL
                     : kind == SQLITE_NOMEM      ? CM_NO_MEMORY
                     : kind == SQLITE_CONSTRAINT ? CM_CONFLICT
                     : kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ? CM_DAMAGED
                     : kind == SQLITE_ERROR || kind == SQLITE_MISUSE   ? CM_INTERNAL
                                                                       : CM_IO;
  return cm_fail(error, status, "the database failed (%s): %s", what,
                 handle != NULL ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
}

cm_status cm_sql_execute(sqlite3 *handle, const char *sql, cm_error *error)
{
  int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? CM_OK : cm_sql_fail(handle, code, sql[0] == 'C' ? "schema" : sql, error);
}

static cm_status bind(sqlite3 *handle, sqlite3_stmt *statement, const char *types, va_list arguments,
                      cm_error *error)
{
  for (int i = 0; types[i] != '\0'; i++) {
    int code;
    if (types[i] == 't')
      code = sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1, SQLITE_TRANSIENT);
    else if (types[i] == 'i')
      code = sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
    else
      code = sqlite3_bind_double(statement, i + 1, va_arg(arguments, double));
    if (code != SQLITE_OK)
      return cm_sql_fail(handle, code, "bind", error);
  }
  return CM_OK;
}

static cm_status prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql,
                         const char *types, va_list arguments)
{
  *statement = NULL;
  int code = sqlite3_prepare_v2(handle, sql, -1, statement, NULL);
  if (code != SQLITE_OK)
    return cm_sql_fail(handle, code, sql, error);
  return bind(handle, *statement, types, arguments, error);
}

cm_status cm_sql_prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql,
                         const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = prepare(handle, statement, error, sql, types, arguments);
  va_end(arguments);
  return status;
}

cm_status cm_sql_step(sqlite3_stmt *statement, bool *row, cm_error *error)
{
  int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return cm_sql_fail(sqlite3_db_handle(statement), code, sqlite3_sql(statement), error);
  *row = code == SQLITE_ROW;
  return CM_OK;
}

static cm_status short_of_memory(cm_error *error)
{
  return cm_fail(error, CM_NO_MEMORY, "out of memory while reading the database");
}

cm_status cm_sql_end(sqlite3_stmt *statement, cm_status status, cm_error *error)
{
  int code = sqlite3_finalize(statement);
  return status == CM_OK && (code & 0xff) == SQLITE_NOMEM ? short_of_memory(error) : status;
}

cm_status cm_sql_whole(sqlite3_stmt *row, cm_error *error)
{
  return sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM ? short_of_memory(error) : CM_OK;
}

cm_status cm_sql_run(sqlite3 *handle, int *changes, cm_error *error, const char *sql, const char *types, ...)
{
  sqlite3_stmt *statement;
  va_list arguments;
  va_start(arguments, types);
  cm_status status = prepare(handle, &statement, error, sql, types, arguments);
  va_end(arguments);
  bool row = true;
  while (status == CM_OK && row)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && changes != NULL)
    *changes = sqlite3_changes(handle);
  return cm_sql_end(statement, status, error);
}

cm_status cm_sql_number(sqlite3 *handle, int64_t fallback, int64_t *number, cm_error *error, const char *sql,
                        const char *types, ...)
{
  sqlite3_stmt *statement;
  va_list arguments;
  va_start(arguments, types);
  cm_status status = prepare(handle, &statement, error, sql, types, arguments);
  va_end(arguments);
  bool row = false;
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK)
    *number = row && sqlite3_column_type(statement, 0) != SQLITE_NULL ? sqlite3_column_int64(statement, 0)
                                                                      : fallback;
  return cm_sql_end(statement, status, error);
}

cm_status cm_sql_text(sqlite3_stmt *statement, int column, char **text, cm_error *error)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  char *copy = held != NULL || cm_sql_whole(statement, error) == CM_OK ? strdup(held != NULL ? held : "") : NULL;
  if (copy == NULL)
    return short_of_memory(error);
  *text = copy;
  return CM_OK;
}

void cm_sql_copy(sqlite3_stmt *statement, int column, char *text, size_t size)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  (void)snprintf(text, size, "%s", held != NULL ? held : "");
}
