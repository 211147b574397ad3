/* Happy path: a caller queues its closure and sleeps; the writer takes all that wait, runs each under a savepoint
 * in one transaction, commits once (one fsync), and wakes them all.
 *
 * What can fail: a closure (rolled back alone, the others go on); the engine while a closure runs, when SQLite
 * rolls the whole transaction back (full disk, no memory: the closures that ran before it are run again in
 * a transaction of their own, so one caller's misfortune is not another's); the commit itself (all of the group
 * fail with its error, nothing of them is stored). */
#include "storage/database.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "storage/schema.h"

enum { READERS_KEPT = 8, GROUP_MAX = 256 };

typedef struct task {
  cm_database_work work;
  void *context;
  cm_error *error;
  cm_status status;
  bool done;
  struct task *next;
} task;

struct cm_database {
  char path[CM_PATH_MAX];
  sqlite3 *writer;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t arrived, finished;
  task *first, **last;
  bool stopping;
  uint64_t transactions, writes;

  pthread_mutex_t reader_lock;
  sqlite3 *readers[READERS_KEPT];
  int reader_count;
};

static cm_status fail_sql(sqlite3 *handle, int code, const char *what, cm_error *error)
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

static cm_status execute(sqlite3 *handle, const char *sql, cm_error *error)
{
  int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? CM_OK : fail_sql(handle, code, sql[0] == 'C' ? "schema" : sql, error);
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
      return fail_sql(handle, code, "bind", error);
  }
  return CM_OK;
}

static cm_status prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql,
                         const char *types, va_list arguments)
{
  *statement = NULL;
  int code = sqlite3_prepare_v2(handle, sql, -1, statement, NULL);
  if (code != SQLITE_OK)
    return fail_sql(handle, code, sql, error);
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
    return fail_sql(sqlite3_db_handle(statement), code, sqlite3_sql(statement), error);
  *row = code == SQLITE_ROW;
  return CM_OK;
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
  sqlite3_finalize(statement);
  return status;
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
  sqlite3_finalize(statement);
  return status;
}

cm_status cm_sql_text(sqlite3_stmt *statement, int column, char **text, cm_error *error)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  char *copy = strdup(held != NULL ? held : "");
  if (copy == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while reading the database");
  *text = copy;
  return CM_OK;
}

void cm_sql_copy(sqlite3_stmt *statement, int column, char *text, size_t size)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  (void)snprintf(text, size, "%s", held != NULL ? held : "");
}

/* ---- the writer ---- */

/* Runs the tasks of a group in one transaction. Returns `count`, or the index of a task in which SQLite dropped the
 * whole transaction: that task has its status, the others must run again. */
static size_t run_group(cm_database *database, task **group, size_t count)
{
  cm_error error;
  sqlite3 *handle = database->writer;
  if (execute(handle, "BEGIN IMMEDIATE", &error) != CM_OK) {
    for (size_t i = 0; i < count; i++) {
      *group[i]->error = error;
      group[i]->status = error.status;
    }
    return count;
  }
  for (size_t i = 0; i < count; i++) {
    task *t = group[i];
    t->status = execute(handle, "SAVEPOINT one", t->error);
    if (t->status == CM_OK)
      t->status = t->work(handle, t->context, t->error);
    if (sqlite3_get_autocommit(handle) != 0) {
      if (t->status == CM_OK)
        t->status = cm_fail(t->error, CM_INTERNAL, "a write ended its transaction by itself");
      return i;
    }
    if (t->status != CM_OK)
      (void)execute(handle, "ROLLBACK TO one", &error);
    (void)execute(handle, "RELEASE one", &error);
  }
  if (execute(handle, "COMMIT", &error) != CM_OK) {
    (void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
    for (size_t i = 0; i < count; i++)
      if (group[i]->status == CM_OK) {
        *group[i]->error = error;
        group[i]->status = error.status;
      }
  }
  return count;
}

static void *write_loop(void *argument)
{
  cm_database *database = argument;
  pthread_mutex_lock(&database->lock);
  for (;;) {
    while (database->first == NULL && !database->stopping)
      pthread_cond_wait(&database->arrived, &database->lock);
    if (database->first == NULL)
      break;
    task *group[GROUP_MAX];
    size_t count = 0;
    while (database->first != NULL && count < GROUP_MAX) {
      group[count++] = database->first;
      database->first = database->first->next;
    }
    if (database->first == NULL)
      database->last = &database->first;
    database->writes += count;
    while (count > 0) {
      database->transactions++;
      pthread_mutex_unlock(&database->lock);
      size_t fault = run_group(database, group, count);
      pthread_mutex_lock(&database->lock);
      /* A task belongs to its caller again from the moment it is done. */
      if (fault < count) {
        group[fault]->done = true;
        group[fault] = group[--count];
      } else {
        for (size_t i = 0; i < count; i++)
          group[i]->done = true;
        count = 0;
      }
      pthread_cond_broadcast(&database->finished);
    }
  }
  pthread_mutex_unlock(&database->lock);
  return NULL;
}

cm_status cm_database_write(cm_database *database, cm_database_work work, void *context, cm_error *error)
{
  task mine = {.work = work, .context = context, .error = error};
  pthread_mutex_lock(&database->lock);
  /* This frame outlives its place in the queue: the call waits until the task is done. */
  *database->last = &mine;
  // cppcheck-suppress autoVariables
  database->last = &mine.next;
  pthread_cond_signal(&database->arrived);
  while (!mine.done)
    pthread_cond_wait(&database->finished, &database->lock);
  pthread_mutex_unlock(&database->lock);
  return mine.status;
}

/* ---- readers ---- */

static cm_status check_pages(sqlite3 *handle, const char *path, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status = cm_sql_prepare(handle, &statement, error, "PRAGMA quick_check(1)", "");
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  const char *text = status == CM_OK && row ? (const char *)sqlite3_column_text(statement, 0) : "ok";
  if (text == NULL || strcmp(text, "ok") != 0)
    status = cm_fail(error, CM_DAMAGED, "the database %s is damaged (%.300s); restore it from a backup", path,
                     text != NULL ? text : "");
  sqlite3_finalize(statement);
  return status;
}

/* Looks at a database before anything in it changes: it must be ours, of a version that is known, and not empty when it
 * must exist. */
static cm_status examine(sqlite3 *handle, const char *path, bool must_exist, cm_error *error)
{
  int64_t version, tables, ours;
  if (cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", "") != CM_OK ||
      cm_sql_number(handle, 0, &tables, error, "SELECT count(*) FROM sqlite_master", "") != CM_OK ||
      cm_sql_number(handle, 0, &ours, error, "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                    " AND name IN ('networks', 'jobs', 'mappings', 'meta')", "") != CM_OK)
    return error->status;
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

/* `check`: the first connection, which examines. */
static cm_status open_handle(const char *path, bool check, bool must_exist, sqlite3 **handle, cm_error *error)
{
  sqlite3 *made = NULL;
  int code = sqlite3_open_v2(path, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                             NULL);
  cm_status status = code == SQLITE_OK ? CM_OK : fail_sql(made, code, "open", error);
  if (status == CM_OK) {
    sqlite3_extended_result_codes(made, 1);
    sqlite3_busy_timeout(made, 10000);
    status = check ? examine(made, path, must_exist, error) : CM_OK;
  }
  if (status == CM_OK)
    status = execute(made, "PRAGMA journal_mode=WAL", error);
  if (status == CM_OK)
    status = execute(made, "PRAGMA synchronous=FULL", error);
  if (status == CM_OK)
    status = execute(made, "PRAGMA foreign_keys=ON", error);
  /* What undoes a statement stays in memory: a write then needs no descriptor. */
  if (status == CM_OK)
    status = execute(made, "PRAGMA temp_store=MEMORY", error);
  if (status != CM_OK) {
    sqlite3_close_v2(made);
    return status;
  }
  *handle = made;
  return CM_OK;
}

cm_status cm_database_read(cm_database *database, cm_database_work work, void *context, cm_error *error)
{
  sqlite3 *handle = NULL;
  pthread_mutex_lock(&database->reader_lock);
  if (database->reader_count > 0)
    handle = database->readers[--database->reader_count];
  pthread_mutex_unlock(&database->reader_lock);
  if (handle == NULL && open_handle(database->path, false, true, &handle, error) != CM_OK)
    return error->status;
  cm_status status = execute(handle, "BEGIN", error);
  if (status == CM_OK)
    status = work(handle, context, error);
  if (sqlite3_get_autocommit(handle) == 0)
    (void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
  pthread_mutex_lock(&database->reader_lock);
  if (database->reader_count < READERS_KEPT) {
    database->readers[database->reader_count++] = handle;
    handle = NULL;
  }
  pthread_mutex_unlock(&database->reader_lock);
  sqlite3_close_v2(handle);
  return status;
}

/* ---- opening and closing ---- */

static cm_status upgrade(sqlite3 *handle, cm_error *error)
{
  int64_t version;
  if (cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", "") != CM_OK)
    return error->status;
  for (; version < cm_schema_version; version++) {
    char stamp[64];
    (void)snprintf(stamp, sizeof stamp, "PRAGMA user_version = %lld", (long long)version + 1);
    if (execute(handle, "BEGIN IMMEDIATE", error) != CM_OK ||
        execute(handle, cm_schema_steps[version], error) != CM_OK || execute(handle, stamp, error) != CM_OK ||
        execute(handle, "COMMIT", error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_database_open(const char *path, bool must_exist, cm_database **database, cm_error *error)
{
  cm_database *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while opening the database");
  made->last = &made->first;
  if (cm_path(made->path, error, "%s", path) != CM_OK ||
      open_handle(path, true, must_exist, &made->writer, error) != CM_OK || upgrade(made->writer, error) != CM_OK) {
    sqlite3_close_v2(made->writer);
    free(made);
    return error->status;
  }
  pthread_mutex_init(&made->lock, NULL);
  pthread_mutex_init(&made->reader_lock, NULL);
  pthread_cond_init(&made->arrived, NULL);
  pthread_cond_init(&made->finished, NULL);
  if (pthread_create(&made->thread, NULL, write_loop, made) != 0) {
    sqlite3_close_v2(made->writer);
    free(made);
    return cm_fail(error, CM_NO_MEMORY, "the database's writer thread cannot be started");
  }
  *database = made;
  return CM_OK;
}

void cm_database_close(cm_database *database)
{
  if (database == NULL)
    return;
  pthread_mutex_lock(&database->lock);
  database->stopping = true;
  pthread_cond_signal(&database->arrived);
  pthread_mutex_unlock(&database->lock);
  pthread_join(database->thread, NULL);
  for (int i = 0; i < database->reader_count; i++)
    sqlite3_close_v2(database->readers[i]);
  sqlite3_close_v2(database->writer);
  pthread_mutex_destroy(&database->lock);
  pthread_mutex_destroy(&database->reader_lock);
  pthread_cond_destroy(&database->arrived);
  pthread_cond_destroy(&database->finished);
  free(database);
}

void cm_database_counts(cm_database *database, uint64_t *transactions, uint64_t *writes)
{
  pthread_mutex_lock(&database->lock);
  *transactions = database->transactions;
  *writes = database->writes;
  pthread_mutex_unlock(&database->lock);
}

static cm_status limit_pages(void *handle, uint32_t pages, cm_error *error)
{
  char sql[64];
  (void)snprintf(sql, sizeof sql, "PRAGMA max_page_count = %u", pages != 0 ? pages : 1073741823u);
  return execute(handle, sql, error);
}

cm_status cm_database_limit_pages(cm_database *database, uint32_t pages, cm_error *error)
{
  /* The pragma belongs to the writer's connection, which is idle: nothing is queued while tests call this. */
  pthread_mutex_lock(&database->lock);
  cm_status status = limit_pages(database->writer, pages, error);
  pthread_mutex_unlock(&database->lock);
  return status;
}
